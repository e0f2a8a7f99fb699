"""Definitions that were taken apart, or went into another one: reported, never guessed."""

from dataclasses import dataclass

from annotate.upstream.moves.match import LEGIBLE, Matcher
from annotate.upstream.moves.node import Node
from annotate.upstream.moves.similarity import ShingleIndex, containment, shingles

_CONTAINED = 0.7
_TAKEN_IN = 0.75
_TAKEN_IN_BEFORE = 0.5
_COVERED = 0.5
_LARGER = 1.2
_CANDIDATES = 20


@dataclass(frozen=True, slots=True)
class Parts:
    """What became of a definition that has no single place; ``covered`` is the share found."""

    split: bool
    nodes: tuple[Node, ...]
    covered: float


class Apart:
    """Looks for the pieces of lost definitions among the new ones."""

    def __init__(self, matcher: Matcher) -> None:
        self._free = matcher.free
        self._origins = {match.new.key: match.old for match in matcher.matches.values()}
        settled = {
            match.new.key for match in matcher.matches.values() if match.fit.similarity == 1.0
        }
        self._new = {node.key: node for node in matcher.new_nodes if node.key not in settled}
        self._index = ShingleIndex((node.key, node.content) for node in self._new.values())

    def of(self, old: Node) -> Parts | None:
        """The parts of an old definition, or what took it in; None where there is neither."""
        if len(old.content) < LEGIBLE:
            return None
        near = [self._new[key] for key in self._index.nearest(old.content, _CANDIDATES)]
        return self._split(old, near) or self._merged(old, near)

    def pieces(self, old: Node) -> list[Node]:
        """New definitions that match no old one and consist of this one's text, outermost only."""
        near = [self._new[key] for key in self._index.nearest(old.content, _CANDIDATES)]
        return self._pieces(old, near)

    def _pieces(self, old: Node, near: list[Node]) -> list[Node]:
        free = {node.key for node in self._free}
        found = [
            node
            for node in near
            if node.key in free
            and LEGIBLE <= len(node.content) < len(old.content)
            and containment(node.content, old.content) >= _CONTAINED
        ]
        outermost = [node for node in found if not any(node.is_inside(other) for other in found)]
        return sorted(outermost, key=lambda node: node.key)

    def _split(self, old: Node, near: list[Node]) -> Parts | None:
        pieces = self._pieces(old, near)
        if len(pieces) < 2:
            return None
        wanted = shingles(old.content)
        covered = set().union(*(shingles(node.content) for node in pieces)) & wanted
        share = len(covered) / len(wanted)
        return Parts(True, tuple(pieces), share) if share >= _COVERED else None

    def _merged(self, old: Node, near: list[Node]) -> Parts | None:
        takers = [
            node
            for node in near
            if len(node.content) >= _LARGER * len(old.content)
            and containment(old.body, node.content) >= _TAKEN_IN
            and self._took_in(old, node)
        ]
        innermost = [node for node in takers if not any(other.is_inside(node) for other in takers)]
        if not innermost:
            return None
        share = max(containment(old.body, node.content) for node in innermost)
        return Parts(False, tuple(sorted(innermost, key=lambda node: node.key)), share)

    def _took_in(self, old: Node, taker: Node) -> bool:
        """Whether the taker, or what it comes from, was without that text before."""
        origin = self._origins.get(taker.key)
        if origin is None or old.is_inside(origin):
            return True
        return containment(old.body, origin.content) < _TAKEN_IN_BEFORE
