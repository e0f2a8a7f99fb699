"""Leaf tokens, and the structure that Python's lexical rules give them."""

import re
from dataclasses import dataclass

from annotate.upstream.decoding import CONTINUATION


@dataclass(frozen=True, slots=True)
class Token:
    """A leaf of the syntax, or a mark of structure.

    Attributes:
        kind: tree-sitter's name: ``identifier``, ``integer``, ``string`` (an f-string too),
            ``comment``, the keyword or operator itself (``def``, ``+=``); ``error`` for what the
            parser skipped; ``newline``, ``indent`` and ``dedent`` for structure.
        text: as it stands in the source; empty for structure.
        start: character offset into the text.
        end: character offset behind it. Structure is empty, but ``;`` is a newline 1 long.
    """

    kind: str
    text: str
    start: int
    end: int


_CLAUSES = frozenset(
    {
        *("async", "case", "class", "def", "elif", "else", "except"),
        *("finally", "for", "if", "try", "while", "with"),
    }
)
_BLANKS = re.compile(r"[ \t\f]*")


class Layout:
    """Adds the structure to leaves: logical lines, and the blocks their indents open and close.

    It follows Python's lexical rules (reference, "Line structure") rather than a tree, so that it
    holds for any lines out of a definition.

    Attributes:
        tokens: the leaves added so far, with the structure between them.
    """

    def __init__(self, text: str, leaves: list[Token]) -> None:
        self.tokens: list[Token] = []
        self._text = text
        self._end = 0
        self._brackets = _unopened_brackets(leaves)
        self._columns: list[int] = []
        self._new_line: int | None = None if self._brackets else 0
        self._statement_is_open = False
        self._suite_is_inline = False
        self._awaits_colon = False
        self._after_colon = False
        self._lambdas = 0

    def add(self, leaf: Token) -> None:
        """Append the next leaf, after the structure that comes before it."""
        self._see_newline(leaf.start)
        self._end = leaf.end
        if leaf.kind == "comment":
            self.tokens.append(leaf)
            return
        if self._new_line is not None and not self._brackets:
            self._start_line(leaf)
        elif self._after_colon:
            self._mark("newline", leaf.start)
            self._mark("indent", leaf.start)
            self._suite_is_inline = True
        self._after_colon = False
        if leaf.text == ";" and not self._brackets:
            self.tokens.append(Token("newline", "", leaf.start, leaf.end))
            self._statement_is_open = False
            return
        self.tokens.append(leaf)
        self._statement_is_open = True
        self._follow(leaf.text)

    def finish(self) -> None:
        """Append the structure that comes after the last leaf."""
        self._end_line()
        for _ in self._columns[1:]:
            self._mark("dedent", self._end)

    def _mark(self, kind: str, offset: int) -> None:
        self.tokens.append(Token(kind, "", offset, offset))

    def _see_newline(self, start: int) -> None:
        """End the logical line if the blanks before ``start`` do."""
        if self._brackets or not (gap := self._text[self._end : start]):
            return
        joined = CONTINUATION.sub(lambda match: " " * len(match[0]), gap)
        newline = joined.rfind("\n")
        if newline >= 0:
            self._end_line()
            self._new_line = self._end + newline + 1

    def _end_line(self) -> None:
        if self._statement_is_open:
            self._mark("newline", self._end)
        if self._suite_is_inline:
            self._mark("dedent", self._end)
        self._statement_is_open = self._suite_is_inline = False
        self._awaits_colon = self._after_colon = False
        self._lambdas = 0

    def _start_line(self, leaf: Token) -> None:
        blanks = _BLANKS.match(self._text, self._new_line or 0)
        column = _width(blanks[0] if blanks else "")
        self._new_line = None
        self._awaits_colon = leaf.text in _CLAUSES
        columns = self._columns
        while columns and column < columns[-1]:
            columns.pop()
            self._mark("dedent", leaf.start)
        if columns and column > columns[-1]:
            self._mark("indent", leaf.start)
        if not columns or column > columns[-1]:
            columns.append(column)

    def _follow(self, text: str) -> None:
        """Keep count of the brackets, and find the colon that opens a clause's block."""
        if text in ("(", "[", "{"):
            self._brackets += 1
        elif text in (")", "]", "}"):
            self._brackets = max(0, self._brackets - 1)
        elif self._awaits_colon and not self._brackets:
            if text == "lambda":
                self._lambdas += 1
            elif text == ":" and self._lambdas:
                self._lambdas -= 1
            elif text == ":":
                self._awaits_colon = False
                self._after_colon = True


def _unopened_brackets(leaves: list[Token]) -> int:
    """How many brackets are open before the first leaf, as in the last lines of a call."""
    depth = lowest = 0
    for leaf in leaves:
        if leaf.text in ("(", "[", "{"):
            depth += 1
        elif leaf.text in (")", "]", "}"):
            depth -= 1
            lowest = min(lowest, depth)
    return -lowest


def _width(blanks: str) -> int:
    """The column after these blanks: tabs to multiples of 8, a form feed back to 0, as Python."""
    return len(blanks.rpartition("\f")[2].expandtabs(8))
