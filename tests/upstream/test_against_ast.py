"""All of the standard library and of the environment, against Python's own parser."""

import ast
import io
import sysconfig
import tokenize
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

from annotate.errors import AnnotateError
from annotate.upstream.symbols import DEFINITIONS, Module, cross_check, extract, source_text
from annotate.upstream.syntax import decode, tokens

pytestmark = pytest.mark.slow

Found = tuple[str, int, int]
"""Qualified name without numbers, first line, last line."""

FOLDERS = {name: Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib")}
every_folder = pytest.mark.parametrize("folder", FOLDERS)


def sources(folder: str) -> Iterator[tuple[Path, bytes]]:
    """The Python files of a folder, none of them in both."""
    for path in sorted(FOLDERS[folder].rglob("*.py")):
        if folder == "purelib" or "site-packages" not in path.parts:
            yield path, path.read_bytes()


def python_finds(data: bytes) -> Counter[Found] | None:
    """Every class and function of a file; None where Python cannot parse it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    found: Counter[Found] = Counter()
    lines = data.split(b"\n")

    def visit(node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                assert child.end_lineno is not None
                name = prefix + child.name
                found[name, first_line(child, lines, data), child.end_lineno] += 1
                visit(child, f"{name}.")
            elif isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
                visit(child, prefix)

    visit(tree, "")
    return found


def first_line(
    node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef, lines: list[bytes], data: bytes
) -> int:
    if not node.decorator_list:
        return node.lineno
    line = node.decorator_list[0].lineno
    if lines[line - 1].strip().startswith(b"@"):
        return line
    return max(at for at in decorator_lines(data) if at < line)


@cache
def decorator_lines(data: bytes) -> list[int]:
    """The lines on which a logical line begins with ``@``."""
    marks = []
    begins = True
    for token in tokenize.tokenize(io.BytesIO(data).readline):
        if token.type == tokenize.OP and token.string == "@" and begins:
            marks.append(token.start[0])
        if token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.NL):
            begins = True
        elif token.type not in (tokenize.COMMENT, tokenize.ENCODING):
            begins = False
    return marks


def we_find(module: Module) -> Counter[Found]:
    return Counter(
        (unnumbered(symbol.qualname), symbol.first_line, symbol.last_line)
        for symbol in module.symbols
        if symbol.kind in DEFINITIONS
    )


def unnumbered(qualname: str) -> str:
    return ".".join(part.partition("#")[0] for part in qualname.split("."))


@dataclass
class Comparison:
    """What both parsers made of a folder, and of which files they made different things."""

    files: int = 0
    definitions: int = 0
    refused: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    differing: dict[str, list[str]] = field(default_factory=dict)
    reported: dict[str, list[str]] = field(default_factory=dict)


def compare(folder: str) -> Comparison:
    comparison = Comparison()
    for path, data in sources(folder):
        name = str(path.relative_to(FOLDERS[folder]))
        try:
            module = extract(decode(data))
        except AnnotateError as error:
            comparison.refused.append(f"{name}: {error.message}")
            continue
        theirs = python_finds(data)
        reasons = cross_check(data, module)
        if theirs is None:
            comparison.unreadable.append(name)
            assert reasons == {}, name
            continue
        comparison.files += 1
        comparison.definitions += theirs.total()
        ours = we_find(module)
        if ours != theirs:
            comparison.differing[name] = [*map(str, (ours - theirs) + (theirs - ours))]
        if reasons:
            comparison.reported[name] = [*reasons]
    return comparison


@every_folder
def test_names_and_lines_are_those_of_python(folder: str) -> None:
    """Or else the cross-check says so."""
    comparison = compare(folder)
    print(
        f"\n{folder}: {comparison.files:,} files, {comparison.definitions:,} definitions, "
        f"{len(comparison.differing)} files differ, {len(comparison.refused)} are refused, "
        f"{len(comparison.unreadable)} Python cannot read",
        *comparison.refused,
        *(f"{name}: {len(all_)} such as {all_[0]}" for name, all_ in comparison.differing.items()),
        sep="\n  ",
    )
    assert comparison.files > 500
    assert comparison.definitions > 10_000
    assert comparison.reported.keys() == comparison.differing.keys()
    assert len(comparison.differing) <= comparison.files / 200
    assert len(comparison.refused) <= comparison.files / 100


@every_folder
def test_a_definition_cut_out_is_still_that_definition(folder: str) -> None:
    """Its text alone, shifted, gives the same name, kind and number of lines."""
    checked = 0
    for path, data in list(sources(folder))[::10]:
        try:
            text = decode(data)
            module = extract(text)
        except AnnotateError:
            continue
        if module.has_error:
            continue
        for symbol in module.symbols:
            if symbol.kind not in DEFINITIONS:
                continue
            alone, *_ = extract(source_text(text, symbol)).symbols
            assert alone.qualname == unnumbered(symbol.qualname).rpartition(".")[2], path
            assert alone.kind == symbol.kind.replace("method", "function"), path
            assert alone.last_line == symbol.last_line - symbol.first_line + 1, path
            checked += 1
    assert checked > 1000


@every_folder
def test_tokens_leave_nothing_out(folder: str) -> None:
    for path, data in list(sources(folder))[::20]:
        try:
            text = decode(data)
        except AnnotateError:
            continue
        end = 0
        for token in tokens(text):
            assert text[end : token.start].replace("\\\n", "").strip(" \t\f\n") == "", path
            assert token.text in ("", text[token.start : token.end]), path
            end = token.end
        assert text[end:].strip(" \t\f\n") == "", path
