"""What two trees do not have in common, symbol by symbol.

Call edges that appeared or vanished belong here as well, beside ``changes``, once a call graph is
at hand for both trees.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from annotate.upstream.moves.comparison import Moves
from annotate.upstream.moves.move import Change, Move, Site


@dataclass(frozen=True, slots=True)
class Difference:
    """The definitions that differ between two trees.

    Attributes:
        old: what was read as the old tree, for people.
        new: what was read as the new one.
        changes: what became of each old definition that is not unchanged, file by file; one that
            changed only in the definitions inside it is left out.
        added: the definitions of the new tree that come from no old one.
    """

    old: str
    new: str
    changes: tuple[Move, ...]
    added: tuple[Site, ...]


def difference(moves: Moves) -> Difference:
    """List what differs between the two trees of a comparison."""
    return Difference(
        moves.old.tree.identity,
        moves.new.tree.identity,
        tuple(_changes(moves)),
        tuple(moves.added()),
    )


def _changes(moves: Moves) -> Iterator[Move]:
    for move in moves.changed():
        if move.verdict is Change.UNCHANGED:
            continue
        if not move.has_moved and not moves.own_text_changed(move) and _is_container(moves, move):
            continue
        yield move


def _is_container(moves: Moves, move: Move) -> bool:
    """Whether other definitions stand inside the old one."""
    facts = moves.old.file(move.old.path)
    return facts is not None and bool(facts.children[facts.by_name[move.old.qualname]])
