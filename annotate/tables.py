"""Hand-written tables of symbols: rows whose first cell reads ``file-or-module :: symbol``.

In Markdown (pipes, GitHub Flavored Markdown 0.29, "Tables") or as tab-separated text. Only such
rows are of interest here; what the other cells claim is for `annotate.claims.written_table`.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from annotate.pages import Block

_SUBJECT = re.compile(r"`?\s*(?P<file>[\w./-]+)\s*::\s*(?P<symbol>[\w.#]+(?:\([^`]*\))?)\s*`?")
_DELIMITER = re.compile(r"\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*")
_PIPE = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True, slots=True)
class Row:
    """One row about one symbol.

    Attributes:
        line: its line in the page, counting from 1.
        file: the file or dotted module of the first cell.
        symbol: the qualified name of the first cell.
        cells: the other cells, without blanks around them.
        headings: what stands above ``cells``; shorter, or empty, where nothing does.
    """

    line: int
    file: str
    symbol: str
    cells: tuple[str, ...]
    headings: tuple[str, ...]


def rows(text: str, fences: Iterable[Block]) -> list[Row]:
    """The rows about symbols on a page, in order; what stands in one of its fences is none."""
    if "::" not in text:
        return []
    lines = text.split("\n")
    fenced = {number for block in fences for number in range(block.first_line, block.last_line + 1)}
    found: list[Row] = []
    headings: tuple[str, ...] = ()
    for number, line in enumerate(lines, 1):
        cells = () if number in fenced else _cells(line)
        if not cells:
            headings = ()
            continue
        if _DELIMITER.fullmatch(line):
            continue
        match = _SUBJECT.fullmatch(cells[0])
        if match is None:
            headings = cells[1:]
        else:
            found.append(Row(number, match["file"], match["symbol"], cells[1:], headings))
    return found


def _cells(line: str) -> tuple[str, ...]:
    """The cells of a table's line; empty for any other line."""
    if "\t" in line.strip():
        return tuple(cell.strip() for cell in line.strip("\n").split("\t"))
    stripped = line.strip()
    if "|" not in stripped:
        return ()
    stripped = stripped.removeprefix("|")
    if stripped.endswith("|") and not stripped.endswith("\\|"):
        stripped = stripped[:-1]
    cells = _PIPE.split(stripped)
    return tuple(cell.replace("\\|", "|").strip() for cell in cells) if len(cells) > 1 else ()
