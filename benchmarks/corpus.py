"""The quotes: real definitions of a real package, the same for every tool that shows them."""

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.packages import Package

MIN_LINES, MAX_LINES = 2, 40
"""How long a quote is: what an article shows, not a whole module."""


@dataclass(frozen=True, slots=True)
class Quote:
    """One definition: where it stands and its text, without the indentation its lines share."""

    path: str
    qualname: str
    first_line: int
    last_line: int
    text: str


def choose(package: Package, count: int) -> list[Quote]:
    """Choose definitions evenly from all over the package, always the same ones.

    Eligible are functions, classes and methods of `MIN_LINES` to `MAX_LINES` lines whose name is
    unique in their file and not inside a function, so that every tool can name them, and that
    have no line left of their own indentation. Where there are fewer than ``count``, they come
    round again.
    """
    eligible = [
        quote
        for file in package.python_files()
        for quote in _definitions(file, file.relative_to(package.source).as_posix())
    ]
    if not eligible:
        raise ValueError(f"{package.name} has no definition to quote")
    if len(eligible) >= count:
        return [eligible[number * len(eligible) // count] for number in range(count)]
    return [eligible[number % len(eligible)] for number in range(count)]


def _definitions(file: Path, path: str) -> Iterator[Quote]:
    data = file.read_bytes()
    try:
        text = data.decode("utf-8")
        module = ast.parse(data)
    except (SyntaxError, ValueError):
        return
    lines = text.split("\n")
    found = list(_nested(module, ""))
    names = Counter(name for name, _ in found)
    for name, node in found:
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        last = node.end_lineno or node.lineno
        own = lines[first - 1 : last]
        indent = " " * node.col_offset
        if (
            names[name] == 1
            and MIN_LINES <= len(own) <= MAX_LINES
            and all(line.startswith(indent) for line in own if line)
        ):
            text = "\n".join(line.removeprefix(indent) for line in own)
            yield Quote(path, name, first, last, text)


def _nested(
    node: ast.Module | ast.ClassDef, prefix: str
) -> Iterator[tuple[str, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]]:
    for child in node.body:
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{prefix}{child.name}", child
        if isinstance(child, ast.ClassDef):
            yield from _nested(child, f"{prefix}{child.name}.")
