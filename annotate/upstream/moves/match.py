"""Which definition of one tree is which of another.

Rounds, from what is certain to what is likely, as in tree differencing (Falleri et al., "GumTree",
ASE 2014) and method tracking (Grund et al., "CodeShovel", ICSE 2021), but over whole trees:

1. the same id: the same name in the same file, copies of one name told apart by their text;
2. names that another definition took over, or swapped: the same text under another name;
3. what is left: the same or similar text anywhere, where a container that was found vouches for
   what it contains, and so do neighbours.

A match needs a minimum of similarity and a margin over every rival on either side; where rivals
are closer than that, the answer is "ambiguous".
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from annotate.upstream.moves.files import FileMoves
from annotate.upstream.moves.node import Fit, Node, can_become, nodes
from annotate.upstream.moves.similarity import ShingleIndex, containment, similarity
from annotate.upstream.moves.snapshot import Snapshot

MARGIN = 0.1
"""How much better than its rivals a match must be."""

LEGIBLE = 10
"""Content tokens from which a text is taken to be recognisable by itself."""

_EXPECTED = 0.35
_SAME_NAME = 0.7
_SAME_NAME_NESTED = 0.85
_OTHER_NAME = 0.75
_OTHER_NAME_ELSEWHERE = 0.88
_DIFFERENT = 0.5
"""Below this similarity, one name on two texts is not evidence enough against the same text."""

_SMALLEST = 4
_SURE = 0.9
_STILL_ALIKE = 0.75
_WHOLE = 0.8
_PIECE = 0.7
_ROUNDS = 8
_CANDIDATES = 12


@dataclass(frozen=True, slots=True)
class Match:
    """An old node and what it became.

    ``fit`` is how well they fit; ``copies`` are other nodes that have the old text as well.
    """

    old: Node
    new: Node
    fit: Fit
    copies: tuple[Node, ...] = ()

    @property
    def stayed(self) -> bool:
        """Whether the id is the same, but for numbers."""
        return (self.old.path, self.old.plain_name) == (self.new.path, self.new.plain_name)


class Matcher:
    """Matches the definitions of all files that differ between two trees.

    Attributes:
        matches: old node's key → its match.
        rivals: old node's key → the new nodes it could be, where none is the better one.
        torn: keys of old nodes whose text is spread over several new ones.
        free: new nodes that match no old one.
        old_nodes: the definitions of the old tree's changed and gone files.
        new_nodes: those of the new tree's changed and added ones.
    """

    def __init__(self, old: Snapshot, new: Snapshot, files: FileMoves) -> None:
        self._files = files
        self.old_nodes = nodes(old, [*files.changed, *files.gone])
        self.new_nodes = nodes(new, [*files.changed, *files.added])
        self.matches: dict[int, Match] = {}
        self.rivals: dict[int, list[Node]] = {}
        self.torn: set[int] = set()
        self._taken: set[int] = set()
        self._stayed_search: _Search | None = None
        self._fits: dict[tuple[int, int], float] = {}
        self._identical = self._same_id_and_tokens()
        for depth in range(1 + max((node.depth for node in self.old_nodes), default=0)):
            self._settle(self._same_ids(depth))
        self._find_lost()

    @property
    def free(self) -> list[Node]:
        """New nodes that match no old one."""
        return [node for node in self.new_nodes if node.key not in self._taken]

    def similarity(self, old: Node, new: Node) -> float:
        """Of their content; 1 only for the same masked tokens."""
        pair = (old.key, new.key)
        if pair not in self._fits:
            if old.masked == new.masked:
                self._fits[pair] = 1.0
            else:
                self._fits[pair] = min(0.99, similarity(old.content, new.content))
        return self._fits[pair]

    def fit(self, old: Node, new: Node) -> Fit:
        """How well they fit, as far as their surroundings are known by now."""
        near = any(
            neighbour.key in self.matches
            and any(self.matches[neighbour.key].new is theirs for theirs in new.neighbours())
            for neighbour in old.neighbours()
        )
        return Fit(
            self.similarity(old, new), old.name == new.name, self._same_container(old, new), near
        )

    def _same_container(self, old: Node, new: Node) -> bool:
        if old.container is None or new.container is None:
            if old.container is not new.container:
                return False
            return old.path == new.path or self._files.of(old.path).path == new.path
        match = self.matches.get(old.container.key)
        return match is not None and match.new is new.container

    def _accept(self, old: Node, new: Node, *, copies: tuple[Node, ...] = ()) -> None:
        self.matches[old.key] = Match(old, new, self.fit(old, new), copies)
        self._taken.add(new.key)

    # The same id

    def _same_id_and_tokens(self) -> set[Node]:
        """Nodes of both trees that have a counterpart of the same id and the same tokens."""
        after = {(node.path, node.definition.qualname): node for node in self.new_nodes}
        found: set[Node] = set()
        for old in self.old_nodes:
            new = after.get((old.path, old.definition.qualname))
            if new is not None and old.tokens == new.tokens:
                found.update((old, new))
        return found

    def _same_ids(self, depth: int) -> list[tuple[Node, Node]]:
        """Accept what has the same id and tokens; return pairs of one id and other tokens.

        The same id is the same name in what the file or the container became.
        """
        before: dict[tuple[str | int, str], list[Node]] = defaultdict(list)
        after: dict[tuple[str | int, str], list[Node]] = defaultdict(list)
        for old in self.old_nodes:
            if old.depth == depth and old.container is None:
                before[self._files.of(old.path).path or old.path, old.name].append(old)
            elif old.depth == depth and old.container is not None:
                match = self.matches.get(old.container.key)
                if match is not None:
                    before[match.new.key, old.name].append(old)
        for new in self.new_nodes:
            if new.depth == depth:
                home = new.path if new.container is None else new.container.key
                after[home, new.name].append(new)
        pairs: list[tuple[Node, Node]] = []
        for identity, olds in before.items():
            news = after.get(identity, [])
            if len(olds) == len(news) == 1:
                if olds[0].tokens == news[0].tokens:
                    self._accept(olds[0], news[0])
                else:
                    pairs.append((olds[0], news[0]))
            elif news:
                pairs += self._numbered(olds, news)
        return pairs

    def _numbered(self, olds: list[Node], news: list[Node]) -> Iterator[tuple[Node, Node]]:
        """Pair definitions that share a name (``x``, ``x#2``) by their text, not their number."""
        waiting = defaultdict(list)
        for new in news:
            waiting[new.tokens].append(new)
        left = []
        for old in olds:
            if waiting[old.tokens]:
                self._accept(old, waiting[old.tokens].pop(0))
            else:
                left.append(old)
        rest = [new for new in news if new.key not in self._taken]
        if len(left) == len(rest) == 1:
            yield left[0], rest[0]
            return
        for old in left:
            scores = sorted(((self.similarity(old, new), -new.key) for new in rest), reverse=True)
            if not scores:
                return
            best = next(new for new in rest if new.key == -scores[0][1])
            rivals = [score for score, _ in scores[1:2]]
            rivals += [self.similarity(other, best) for other in left if other is not old]
            if all(scores[0][0] >= rival + MARGIN for rival in rivals):
                yield old, best

    # Names that changed hands

    def _settle(self, stays: list[tuple[Node, Node]]) -> None:
        """Accept the pairs of one id, but where the text tells another story."""
        if not stays:
            return
        texts_before = _by_text(
            node
            for node in self.old_nodes
            if node.key not in self.matches and node not in self._identical
        )
        texts_after = _by_text(
            node
            for node in self.new_nodes
            if node.key not in self._taken and node not in self._identical
        )
        self._contest(stays)
        for old, new in stays:
            if old.key in self.rivals:
                continue
            elsewhere = [each for each in texts_after.get(old.masked, ()) if each is not new]
            claims = [each for each in texts_before.get(new.masked, ()) if each is not old]
            alike = self.similarity(old, new)
            if alike < _EXPECTED and (old.path != new.path or not can_become(old, new)):
                # Another path, or a class where a value was, is less of a warrant.
                continue
            if not elsewhere and not claims:
                self._accept(old, new)
            elif elsewhere and claims and alike >= _DIFFERENT:
                # Swapped names, or swapped texts, of two that are much alike: nobody can tell.
                self.rivals[old.key] = [new, *elsewhere]
            elif alike >= _DIFFERENT:
                self._accept(old, new, copies=tuple(elsewhere))
            elif elsewhere and not claims:
                self.rivals[old.key] = [*elsewhere, new]

    def _contest(self, stays: list[tuple[Node, Node]]) -> None:
        """Doubt a name that now stands for a text unlike the old one, if another story fits better.

        Either the old text lives on under a name that is new, as where a wrapper took the name of
        what it wraps; or the new text is that of a definition whose own name is gone.
        """
        for old, new in stays:
            alike = self.similarity(old, new)
            if alike >= _SURE or len(old.content) < LEGIBLE:
                continue
            if containment(old.content, new.content) >= _PIECE:
                # It only grew.
                continue
            enough = max(_STILL_ALIKE, alike + MARGIN)
            others = [
                other
                for other in self._names_added.candidates(old)
                if self.similarity(old, other) >= enough
                and not any(
                    self.similarity(claim, other) >= self.similarity(old, other)
                    for claim in self._names_gone.candidates(other)
                )
            ]
            claims = [
                claim
                for claim in self._names_gone.candidates(new)
                if self.similarity(claim, new) >= enough
                and not any(
                    self.similarity(claim, other) >= self.similarity(claim, new)
                    for other in self._names_added.candidates(claim)
                )
            ]
            others.sort(key=lambda other: (-self.similarity(old, other), other.key))
            if others or claims:
                self.rivals[old.key] = [*others, new]
            for claim in claims:
                self.rivals.setdefault(claim.key, []).append(new)

    @cached_property
    def _names_gone(self) -> "_Search":
        """Old definitions whose names are gone from their files."""
        names = {(node.path, node.plain_name) for node in self.new_nodes}
        gone = [node for node in self.old_nodes if (node.path, node.plain_name) not in names]
        return _Search(gone)

    @cached_property
    def _names_added(self) -> "_Search":
        """New definitions whose names are new in their files."""
        names = {(node.path, node.plain_name) for node in self.old_nodes}
        added = [node for node in self.new_nodes if (node.path, node.plain_name) not in names]
        return _Search(added)

    # What is left

    def _find_lost(self) -> None:
        for _ in range(_ROUNDS):
            if not self._round():
                break

    def _round(self) -> bool:
        """Accept every pair that is better than its rivals; tell whether there was one."""
        lost = [
            node
            for node in self.old_nodes
            if node.key not in self.matches
            and node.key not in self.rivals
            and node.key not in self.torn
        ]
        free = self.free
        if not lost or not free:
            return False
        search, taken = _Search(free), _Search([each.new for each in self.matches.values()])
        fits: dict[int, list[tuple[Fit, Node]]] = {}
        suitors: dict[int, list[tuple[Fit, Node]]] = defaultdict(list)
        for old in lost:
            expected = self._expected_home(old)
            found = [(self.fit(old, new), new) for new in search.candidates(old, expected)]
            found.sort(key=lambda each: (-each[0].score, each[1].key))
            fits[old.key] = found
            for fit, new in found:
                suitors[new.key].append((fit, old))
        accepted = []
        doubtful: dict[int, list[Node]] = {}
        for old in lost:
            for fit, new in fits[old.key][:1]:
                if not is_enough(old, new, fit):
                    continue
                rivals = [
                    each for each in fits[old.key][1:] if each[0].score > fit.score - MARGIN + 1e-9
                ]
                claims = [
                    each
                    for each in suitors[new.key]
                    if each[1] is not old and each[0].score > fit.score - MARGIN + 1e-9
                ]
                if rivals or claims:
                    doubtful[old.key] = [new, *(each[1] for each in rivals)]
                elif not fit.same_name and _is_torn(old, new, search):
                    self.torn.add(old.key)
                elif not fit.same_name and any(
                    self.similarity(old, other) > fit.similarity for other in taken.candidates(old)
                ):
                    # What it is most like is another definition by now.
                    doubtful[old.key] = [new]
                elif self._is_a_copy(new, fit):
                    doubtful[old.key] = [new]
                else:
                    accepted.append((old, new))
        for old, new in accepted:
            if new.key not in self._taken:
                self._accept(old, new)
        if not accepted:
            self.rivals.update(doubtful)
        return bool(accepted)

    def _expected_home(self, old: Node) -> "int | str | None":
        """What its container became: a node's key, or a path."""
        if old.container is None:
            return self._files.of(old.path).path
        match = self.matches.get(old.container.key)
        return None if match is None else match.new.key

    def _is_a_copy(self, new: Node, fit: Fit) -> bool:
        """Whether the new one may as well have been copied from a definition that stayed."""
        if fit.same_name or (fit.same_container and fit.similarity == 1.0):
            return False
        if self._stayed_search is None:
            stayed = [node for node in self.old_nodes if node.key in self.matches]
            self._stayed_search = _Search(stayed)
        return any(
            self.similarity(other, new) > fit.similarity - MARGIN + 1e-9
            for other in self._stayed_search.candidates(new)
            if self.matches[other.key].new is not new
        )


def is_enough(old: Node, new: Node, fit: Fit) -> bool:
    """Whether a pair with different ids is alike enough to be one definition."""
    if fit.same_name and fit.same_container:
        return fit.similarity >= _EXPECTED
    if old.definition.kind == "registration" and not fit.same_name:
        # One registration is much like the next; what it registers is all that tells them apart.
        return False
    size = min(len(old.content), len(new.content))
    if size < LEGIBLE:
        warrant = fit.same_name or (fit.same_container and size >= _SMALLEST)
        return fit.similarity == 1.0 and fit.near and warrant
    if fit.same_name:
        is_nested = old.container is not None
        return fit.similarity >= (_SAME_NAME_NESTED if is_nested else _SAME_NAME)
    if fit.same_container:
        return fit.similarity >= _OTHER_NAME
    return fit.similarity >= _OTHER_NAME_ELSEWHERE and size >= 2 * LEGIBLE


def _is_torn(old: Node, new: Node, search: "_Search") -> bool:
    """Whether a match would take one piece of a definition for all of it."""
    if len(new.content) >= _WHOLE * len(old.content):
        return False
    return any(
        len(other.content) >= LEGIBLE
        and other is not new
        and not other.is_inside(new)
        and not new.is_inside(other)
        and containment(other.content, old.content) >= _PIECE
        for other in search.candidates(old)
    )


class _Search:
    """Finds the nodes that a given one may have become: of its name, its text, or like it."""

    def __init__(self, among: list[Node]) -> None:
        self._among = {node.key: node for node in among}
        self._by_name: dict[str, list[Node]] = defaultdict(list)
        self._by_text: dict[tuple[int, ...], list[Node]] = defaultdict(list)
        self._by_home: dict[tuple[int | str, str], list[Node]] = defaultdict(list)
        for node in among:
            home = node.path if node.container is None else node.container.key
            self._by_home[home, node.name].append(node)
            self._by_name[node.name].append(node)
            self._by_text[node.masked].append(node)
        self._shingles = ShingleIndex((node.key, node.content) for node in among)

    def candidates(self, wanted: Node, home: "int | str | None" = None) -> list[Node]:
        """In the order of their keys; with all of its name that stand in ``home``."""
        found = {node.key for node in self._by_text.get(wanted.masked, ())[:_CANDIDATES]}
        found.update(node.key for node in self._by_name.get(wanted.name, ())[: 4 * _CANDIDATES])
        if home is not None:
            found.update(node.key for node in self._by_home.get((home, wanted.name), ()))
        found.update(self._shingles.nearest(wanted.content, _CANDIDATES))
        return [self._among[key] for key in sorted(found) if can_become(wanted, self._among[key])]


def _by_text(among: Iterator[Node]) -> dict[tuple[int, ...], list[Node]]:
    """Definitions by masked text, but not those too short to be recognised by it."""
    found = defaultdict(list)
    for node in among:
        if len(node.content) >= LEGIBLE:
            found[node.masked].append(node)
    return found
