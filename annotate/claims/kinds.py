"""The kinds of claim a page can make; a new kind is one module and one row here."""

from typing import Protocol

from annotate.claims import call_table, captures, experiment, facts, quote
from annotate.claims.context import Context
from annotate.pages import Block
from annotate.verdict import Judgement


class Kind(Protocol):
    """What a module in this package offers."""

    KIND: str

    def matches(self, block: Block) -> bool:
        """Whether a block is a claim of this kind."""

    def check(self, block: Block, context: Context) -> list[Judgement]:
        """Judge a block, changing nothing."""

    def render(self, block: Block, context: Context, language: str) -> str:
        """Turn a block into HTML that is safe whatever the source contains."""


KINDS: tuple[Kind, ...] = (quote, call_table, captures, experiment, facts)


def kind_of(block: Block) -> Kind | None:
    """The kind of claim a block makes, or None."""
    return next((kind for kind in KINDS if kind.matches(block)), None)
