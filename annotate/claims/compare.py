"""Comparing what was expected of a piece of upstream source with what the tree holds."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from annotate.records import Record
from annotate.upstream import syntax
from annotate.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Expected:
    """What a text should be: the text itself, or only its fingerprints.

    Attributes:
        literal: the canonical text, where the page quotes it.
        text: sha256 of the canonical text, where only a record is at hand.
        tokens: sha256 of the tokens, where only a record is at hand.
    """

    literal: str | None = None
    text: str = ""
    tokens: str = ""

    @staticmethod
    def of_text(text: str) -> "Expected":
        """Expect a quoted text."""
        return Expected(syntax.canonical(text))

    @staticmethod
    def of_record(record: Record) -> "Expected":
        """Expect what was recorded."""
        return Expected(None, record.text, record.tokens)

    @property
    def text_fingerprint(self) -> str:
        """The sha256 of the canonical text."""
        return self.text if self.literal is None else syntax.text_fingerprint(self.literal)

    def matches(self, text: str) -> bool:
        """Whether a canonical text is the expected one, byte for byte."""
        if self.literal is not None:
            return self.literal == text
        return self.text == syntax.text_fingerprint(text)

    def same_tokens(self, text: str, *, python: bool = True) -> bool:
        """Whether a canonical text differs from the expected one in layout and comments only.

        Of text that is no Python the tokens are the words of each line and its indentation, which
        may have a meaning. A text of comments alone has no tokens to be the same.
        """
        if not python:
            return self.literal is not None and _words(self.literal) == _words(text)
        tokens = self.tokens
        if self.literal is not None:
            tokens = syntax.token_fingerprint(self.literal)
        return tokens == syntax.token_fingerprint(text) != _NO_TOKENS


def _words(text: str) -> list[tuple[str, list[str]]]:
    return [(margin([line]), line.split()) for line in text.split("\n") if line.strip()]


_NO_TOKENS = syntax.token_fingerprint("")


def compare(expected: Expected, text: str, *, python: bool = True) -> Verdict:
    """`Verdict.EXACT`, `Verdict.REFORMATTED` or `Verdict.EDITED`.

    Raises:
        AnnotateError: one of the two cannot be parsed safely.
    """
    if expected.matches(text):
        return Verdict.EXACT
    if expected.same_tokens(text, python=python):
        return Verdict.REFORMATTED
    return Verdict.EDITED


def compare_lines(literal: str, whole: str, lines: tuple[int, int]) -> Verdict:
    """The same as `compare` for a literal quote of some lines of a larger piece of Python.

    Such lines may begin or end inside a string, where what looks like a comment is none. So the
    quote is judged in its place among the other lines.

    Args:
        literal: the quoted text.
        whole: the larger text, which need not be canonical.
        lines: which lines of it are quoted, from 1, both included.

    Raises:
        AnnotateError: one of the two texts cannot be parsed safely.
    """
    first, last = lines
    part = "\n".join(whole.split("\n")[first - 1 : last])
    if syntax.canonical(literal) == syntax.canonical(part):
        return Verdict.EXACT
    if syntax.token_fingerprint(literal) == _NO_TOKENS:
        return Verdict.EDITED
    replaced = with_lines(whole, lines, literal)
    if syntax.token_fingerprint(replaced) == syntax.token_fingerprint(whole):
        return Verdict.REFORMATTED
    return Verdict.EDITED


def with_lines(whole: str, lines: tuple[int, int], literal: str) -> str:
    """A text with some of its lines replaced by a quote, indented as they are.

    Blank lines at both ends of them stay, since a canonical quote has none.
    """
    all_lines = whole.split("\n")
    filled = [number for number in range(lines[0] - 1, lines[1]) if all_lines[number].strip()]
    if not filled:
        filled = [lines[0] - 1, lines[1] - 1]
    first, last = filled[0], filled[-1]
    shared = margin(all_lines[first : last + 1])
    quoted = syntax.canonical(literal).split("\n")
    indented = [shared + line if line else line for line in quoted]
    return "\n".join([*all_lines[:first], *indented, *all_lines[last + 1 :]])


def margin(lines: Sequence[str], blanks: str = " \t") -> str:
    """The characters out of ``blanks`` that all lines with content begin with."""
    starts = [line[: len(line) - len(line.lstrip(blanks))] for line in lines if line.strip()]
    shared = min(starts, key=len, default="")
    while not all(start.startswith(shared) for start in starts):
        shared = shared[:-1]
    return shared


def lines_within(part: str, whole: str) -> list[tuple[int, int]]:
    """Where a canonical text stands in a larger one: (first, last) lines, counting from 1."""
    height = part.count("\n") + 1
    lines = whole.split("\n")
    start_of_part = part.partition("\n")[0].strip()
    return [
        (start + 1, start + height)
        for start in range(len(lines) - height + 1)
        if lines[start].strip() == start_of_part
        and syntax.canonical("\n".join(lines[start : start + height])) == part
    ]


def shown_lines(lines: tuple[int, int]) -> str:
    """Lines as an author writes them: ``2-5``, or ``2`` for one."""
    first, last = lines
    return str(first) if first == last else f"{first}-{last}"


def in_words(lines: tuple[int, int]) -> str:
    """The same in a sentence: ``lines 2-5``, or ``line 2``."""
    return f"line{'' if lines[0] == lines[1] else 's'} {shown_lines(lines)}"


def unified_diff(old: str, new: str, old_name: str, new_name: str) -> str:
    """A unified diff of two texts, without a final newline; "" when they are equal."""
    return "\n".join(
        difflib.unified_diff(old.split("\n"), new.split("\n"), old_name, new_name, lineterm="", n=3)
    )
