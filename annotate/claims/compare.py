"""Comparing what was expected of a piece of upstream source with what the tree holds."""

import difflib
from dataclasses import dataclass

from annotate.records import Record
from annotate.upstream import syntax
from annotate.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Expected:
    """What a text should be: the text itself, or only its fingerprints.

    Attributes:
        text_fingerprint: sha256 of the canonical text.
        literal: the canonical text, where the page quotes it.
        tokens: sha256 of the tokens, where only a record is at hand.
    """

    text_fingerprint: str
    literal: str | None = None
    tokens: str = ""

    @staticmethod
    def of_text(text: str) -> "Expected":
        """Expect a quoted text."""
        literal = syntax.canonical(text)
        return Expected(syntax.text_fingerprint(literal), literal)

    @staticmethod
    def of_record(record: Record) -> "Expected":
        """Expect what was recorded."""
        return Expected(record.text, None, record.tokens)

    def matches(self, text: str) -> bool:
        """Whether a canonical text is the expected one, byte for byte."""
        if self.literal is not None:
            return self.literal == text
        return self.text_fingerprint == syntax.text_fingerprint(text)

    def same_tokens(self, text: str, *, python: bool = True) -> bool:
        """Whether a canonical text differs from the expected one in layout and comments only.

        Text that is no Python has words for tokens.
        """
        if not python:
            return self.literal is not None and self.literal.split() == text.split()
        tokens = self.tokens
        if self.literal is not None:
            tokens = syntax.token_fingerprint(self.literal)
        return tokens == syntax.token_fingerprint(text)


def compare(expected: Expected, text: str, *, python: bool = True) -> Verdict:
    """`Verdict.EXACT`, `Verdict.REFORMATTED` or `Verdict.EDITED`."""
    if expected.matches(text):
        return Verdict.EXACT
    if expected.same_tokens(text, python=python):
        return Verdict.REFORMATTED
    return Verdict.EDITED


def lines_within(part: str, whole: str) -> list[tuple[int, int]]:
    """Where a canonical text stands in a larger one: (first, last) lines, counting from 1."""
    height = part.count("\n") + 1
    lines = whole.split("\n")
    return [
        (start + 1, start + height)
        for start in range(len(lines) - height + 1)
        if syntax.canonical("\n".join(lines[start : start + height])) == part
    ]


def unified_diff(old: str, new: str, old_name: str, new_name: str) -> str:
    """A unified diff of two texts, without a final newline; "" when they are equal."""
    return "\n".join(
        difflib.unified_diff(old.split("\n"), new.split("\n"), old_name, new_name, lineterm="", n=3)
    )
