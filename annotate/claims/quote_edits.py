"""Edits to a quote in its page: another text, another name, other lines."""

import re
from collections.abc import Sequence

from annotate.attributes import with_attribute
from annotate.claims.compare import margin
from annotate.edit import Edit
from annotate.pages import Block


def put_text(block: Block, page: str, page_lines: Sequence[str], text: str) -> Edit:
    """Replace the quoted lines, keeping how far they are indented in the page."""
    quoted = block.text.split("\n")
    filled = [number for number, line in enumerate(quoted) if line.strip()]
    first, last = block.text_line + filled[0], block.text_line + filled[-1]
    if block.form == "fence":
        # The blank that belongs to a block quote's mark, lest one of the code be taken for it.
        lead = re.sub(r">\Z", "> ", block.prefix) + margin(quoted)
    else:
        # A hand-written quote and a fence below its header need not stand in one column.
        lead = margin(page_lines[first - 1 : last], " \t>")
    new = "\n".join(lead + line if line else lead.rstrip() for line in text.split("\n"))
    return Edit(page, first, last, new)


def rename(
    block: Block, page: str, page_lines: Sequence[str], now: str, *, keep_lines: bool = True
) -> tuple[Edit, ...]:
    """Name another symbol, or other lines of a file; ``now`` is its id."""
    if block.form == "fence":
        line = with_attribute(page_lines[block.first_line - 1], "source", now)
        if not keep_lines:
            line = with_attribute(line, "lines", None)
        return (Edit(page, block.first_line, block.first_line, line),)
    path, _, qualname = now.partition("::")
    edits = []
    for number in range(block.first_line, block.text_line):
        line = page_lines[number - 1]
        name, colon, value = line.partition(":")
        wanted = {"file": path, "symbol": qualname}.get(name.strip(" \t>").lower())
        if wanted is not None and value.strip(" \t`") != wanted:
            blanks = value[: len(value) - len(value.lstrip())] or " "
            edits.append(Edit(page, number, number, f"{name}{colon}{blanks}{wanted}"))
    return tuple(edits)


def set_lines(block: Block, page: str, page_lines: Sequence[str], lines: str) -> Edit:
    """Choose other lines of the symbol; ``lines`` is the attribute's value."""
    line = with_attribute(page_lines[block.first_line - 1], "lines", lines)
    return Edit(page, block.first_line, block.first_line, line)
