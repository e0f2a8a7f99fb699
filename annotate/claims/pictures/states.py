"""States: what was noted at each moment, as a table with a row for each."""

import re
from collections.abc import Sequence
from dataclasses import replace

from annotate.claims.markup import escaped
from annotate.claims.pictures.part import Part
from annotate.claims.pictures.words import words
from annotate.recordings import State


def columns(part: Part) -> list[str]:
    """The names of the values that are shown, in the order of their first appearance."""
    found = dict.fromkeys(name for state in part.states() for name in state.values)
    return [name for name in found if name in part.only] if part.only else list(found)


def text(part: Part) -> str:
    """The table as text, in Markdown's form; "" where no state has such values."""
    names = columns(part)
    if not names:
        return ""
    rows = [["moment", *names]]
    rows += [
        [state.title, *(state.values.get(name, "") for name in names)] for state in _rows(part)
    ]
    cells = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [_line(row, widths) for row in cells]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def quoted(part: Part, literal: str) -> Part:
    """The part with those columns that a quoted table has, in case it names no others."""
    heading = literal.strip().split("\n")[0]
    names = tuple(cell.strip() for cell in heading.strip().strip("|").split("|"))[1:]
    return part if part.only else replace(part, only=names)


def canonical(table: str) -> str:
    """A table's text without the blanks and dashes that only make its columns even."""
    lines = []
    for line in table.strip().split("\n"):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        lines.append(_line([cell.strip("-:") and cell for cell in cells], [0] * len(cells)))
    return "\n".join(lines)


def draw(part: Part, language: str) -> str:
    """The table as HTML."""
    told = words(language)
    names = columns(part)
    caption = escaped(told["states"].format(part.recording.script))
    moment = told["moment"]
    head = "".join(f'<th scope="col"><code>{escaped(name)}</code></th>' for name in names)
    body = "\n".join(_row(state, names) for state in _rows(part))
    return (
        '<div class="picture-scroll" tabindex="0" role="group" '
        f'aria-label="{caption}"><table class="picture-states"><caption>{caption}</caption>'
        f'<thead><tr><th scope="col">{moment}</th>{head}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody></table></div>"
    )


def _rows(part: Part) -> list[State]:
    names = columns(part)
    return [state for state in part.states() if any(name in state.values for name in names)]


def _row(state: State, names: Sequence[str]) -> str:
    cells = []
    for name in names:
        value = state.values.get(name)
        inside = f"<code>{_breakable(value)}</code>" if value is not None else ""
        cells.append(f'<td data-column="{escaped(name)}">{inside}</td>')
    return f'<tr><th scope="row">{escaped(state.title)}</th>{"".join(cells)}</tr>'


def _breakable(value: str) -> str:
    """A value as HTML that may be broken where its parts meet."""
    return "<wbr>".join(escaped(piece) for piece in _PARTS.split(value))


_PARTS = re.compile(r"(?<=[,=(\[{:])(?=[^\s)\]}])|(?<=\.)(?=[^\W\d])|(?<=[a-z])(?=[\[(])")


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
    return f"| {' | '.join(padded)} |"
