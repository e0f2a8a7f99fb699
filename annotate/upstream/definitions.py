"""What Python's own parser says a module defines, to check the symbols against."""

import ast
import warnings
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Definition:
    """A class or function as Python's ``ast`` has it; ``name`` is dotted and not numbered."""

    name: str
    first_line: int
    last_line: int


def definitions(data: bytes) -> list[Definition] | None:
    """Every class and function of a file in source order, None where Python cannot read it.

    That may be newer or older syntax than the running Python's, or too deeply nested.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(data)
        return list(_definitions(tree, data))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _definitions(tree: ast.Module, data: bytes) -> Iterator[Definition]:
    """Every class and function of a tree, in source order."""
    lines = data.split(b"\n")
    pending: list[tuple[ast.AST, str]] = [(tree, "")]
    while pending:
        node, prefix = pending.pop()
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            name = prefix + node.name
            last_line = node.end_lineno or node.lineno
            yield Definition(name, _first_line(node, lines), last_line)
            prefix = f"{name}."
        for block in ("finalbody", "orelse", "handlers", "cases", "body"):
            below = getattr(node, block, ())
            if isinstance(below, list):
                pending.extend((child, prefix) for child in reversed(below))


def _first_line(
    node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef, lines: list[bytes]
) -> int:
    """The line of the first decorator's ``@``.

    ``ast`` has the line of the expression, which parentheses, comments and continuation lines
    can separate from the ``@``; nothing else can stand there, so the next line up that begins
    with one is it.
    """
    if not node.decorator_list:
        return node.lineno
    line = node.decorator_list[0].lineno
    while line > 1 and not lines[line - 1].lstrip(b" \t\f").startswith(b"@"):
        line -= 1
    return line
