"""The named regions of an experiment's script: what a page quotes of it.

A region starts after a line ``# region: NAME`` and ends before the next line ``# endregion``; both
marks stand alone on their line, however far indented. Regions do not nest. Names are unique in a
script and made of letters, digits, ``_`` and ``-``.
"""

import re
import textwrap
from dataclasses import dataclass

from annotate.errors import AnnotateError

_START = re.compile(r"[ \t]*# region: (?P<name>[\w-]+)[ \t]*")
_END = re.compile(r"[ \t]*# endregion[ \t]*")
_LIKE_A_MARK = re.compile(r"[ \t]*#[ \t]*(?:end)?region\b.*")


@dataclass(frozen=True, slots=True)
class Region:
    """A named part of a script.

    Attributes:
        name: what the mark calls it.
        first_line: its first line that is not blank, counting from 1.
        last_line: its last line that is not blank, included.
        text: those lines, dedented, without a newline at the end.
    """

    name: str
    first_line: int
    last_line: int
    text: str


def regions(script: str) -> dict[str, Region]:
    """The regions of a script's text, by name in the order of the script.

    Raises:
        AnnotateError: a mark is misspelt, a region is nested, never ended, empty, or its name is
            taken; the message names the line.
    """
    lines = script.split("\n")
    found: dict[str, Region] = {}
    name, opened = "", 0
    for number, line in enumerate(lines, start=1):
        if start := _START.fullmatch(line):
            if name:
                raise _bad_mark(number, f"region “{name}” has not ended yet")
            name, opened = start["name"], number
            if name in found:
                raise _bad_mark(number, f"there is a region “{name}” already")
        elif _END.fullmatch(line):
            if not name:
                raise _bad_mark(number, "no region is open here")
            found[name] = _region(name, lines, opened, number - 1)
            name = ""
        elif _LIKE_A_MARK.fullmatch(line):
            raise _bad_mark(number, f"“{line.strip()}” is not a region mark")
    if name:
        raise _bad_mark(opened, f"region “{name}” is never ended")
    return found


def _region(name: str, lines: list[str], first: int, last: int) -> Region:
    """The region on the lines after ``first`` up to ``last``, without blank lines around it."""
    while first < last and not lines[first].strip():
        first += 1
    while last > first and not lines[last - 1].strip():
        last -= 1
    if first == last:
        raise _bad_mark(first, f"region “{name}” is empty")
    text = textwrap.dedent("\n".join(lines[first:last]))
    return Region(name, first + 1, last, text)


def _bad_mark(line: int, what: str) -> AnnotateError:
    return AnnotateError(
        f"line {line}: {what}",
        "Write “# region: NAME” before a region and “# endregion” after it, each on its own line.",
    )
