"""The kinds of claim a page can make; a new kind is one module and one row here."""

from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from annotate.claims.context import Context
from annotate.pages import Block

if TYPE_CHECKING:
    from annotate.verdict import Judgement


class Kind(Protocol):
    """What a module in this package offers."""

    KIND: str

    def check(self, block: Block, context: Context) -> "list[Judgement]":
        """Judge a block, changing nothing."""

    def render(self, block: Block, context: Context, language: str) -> str:
        """Turn a block into HTML that is safe whatever the source contains."""


# Module → the hand-written label, the attribute and the language that make a block its claim.
# Modules are named, not imported: a check loads those that its pages need.
_ROWS = {
    "quote": ("REAL SOURCE", "source", None),
    "experiment": ("EXPERIMENT", "experiment", "experiment"),
    "call_table": (None, None, "calls"),
    "captures": (None, None, "captures"),
    "facts": (None, None, "facts"),
}


def name_of(block: Block) -> str | None:
    """The module of this package that judges a block, or None if it claims nothing."""
    for module, (label, attribute, language) in _ROWS.items():
        if block.form == "labelled":
            if block.label == label:
                return module
        elif attribute in block.attributes or (language and block.language == language):
            return module
    return None


def kind_of(block: Block) -> Kind | None:
    """The kind of claim a block makes, or None."""
    name = name_of(block)
    return cast(Kind, import_module(f"annotate.claims.{name}")) if name else None
