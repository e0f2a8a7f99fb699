"""A definition while it is being matched, and how well two of them fit."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from annotate.upstream.moves.facts import Definition, FileFacts, content, without_numbers
from annotate.upstream.moves.move import Site
from annotate.upstream.moves.snapshot import Snapshot, site

_CALLABLES = frozenset({"function", "method", "lambda"})


class Node:
    """One definition of a changed file of either tree.

    Attributes:
        key: its position among the nodes of its tree.
        path: its file.
        container: the node around it, or None.
        depth: how many nodes are around it.
        siblings: the nodes of the same container in source order, itself among them.
        position: its own position among them.
    """

    def __init__(
        self, key: int, path: str, facts: FileFacts, number: int, container: "Node | None"
    ) -> None:
        self.key = key
        self.path = path
        self.container = container
        self.depth: int = 0 if container is None else container.depth + 1
        self.definition: Definition = facts.definitions[number]
        self.siblings: list[Node] = []
        self.position = 0
        self._facts = facts
        self._number = number

    @cached_property
    def tokens(self) -> tuple[int, ...]:
        """All its tokens."""
        return tuple(self._facts.tokens(self._number))

    @cached_property
    def masked(self) -> tuple[int, ...]:
        """All its tokens, names that a rename changes masked."""
        return tuple(self._facts.masked(self._number))

    @cached_property
    def content(self) -> list[int]:
        """The masked tokens that say something."""
        return content(self.masked)

    @cached_property
    def body(self) -> list[int]:
        """The content without the head: what is left of a function written out at its call."""
        return content(self.masked[self.definition.body - self.definition.start :])

    @cached_property
    def plain_name(self) -> str:
        """Its qualified name without numbers."""
        return without_numbers(self.definition.qualname)

    @cached_property
    def name(self) -> str:
        """Its own name."""
        return self.definition.name

    @property
    def site(self) -> Site:
        """Where it stands."""
        return site(self.path, self.definition)

    def neighbours(self) -> "Iterable[Node]":
        """The definitions just before and just behind it in the same container."""
        if self.position > 0:
            yield self.siblings[self.position - 1]
        if self.position + 1 < len(self.siblings):
            yield self.siblings[self.position + 1]

    def is_inside(self, other: "Node") -> bool:
        """Whether ``other`` is a container of this one, at any depth."""
        container = self.container
        while container is not None:
            if container is other:
                return True
            container = container.container
        return False


def nodes(snapshot: Snapshot, paths: Iterable[str]) -> list[Node]:
    """The definitions of some files of a tree; unreadable files left out."""
    found: list[Node] = []
    for path in paths:
        facts = snapshot.file(path)
        if facts is None:
            continue
        here: list[Node] = []
        for number, definition in enumerate(facts.definitions):
            container = here[definition.container] if definition.container >= 0 else None
            here.append(Node(len(found) + number, path, facts, number, container))
        groups: dict[int, list[Node]] = {}
        for node in here:
            group = groups.setdefault(node.definition.container, [])
            node.siblings, node.position = group, len(group)
            group.append(node)
        found += here
    return found


def can_become(old: Node, new: Node) -> bool:
    """Whether one kind of definition turns into another without being another thing."""
    kinds = {old.definition.kind, new.definition.kind}
    return len(kinds) == 1 or kinds <= _CALLABLES or kinds == {"assignment", "lambda"}


@dataclass(frozen=True, slots=True)
class Fit:
    """How well an old node fits a new one.

    Attributes:
        similarity: of their content, 0 to 1; 1 only for the same masked tokens.
        same_name: whether their own names are the same.
        same_container: whether what is around the old one became what is around the new one.
        near: whether a neighbour of the old one is a neighbour of the new one.
    """

    similarity: float
    same_name: bool
    same_container: bool
    near: bool

    @property
    def score(self) -> float:
        """Similarity, with what the context adds; above 1 for the best."""
        return self.similarity + 0.1 * self.same_name + 0.1 * self.same_container + 0.06 * self.near
