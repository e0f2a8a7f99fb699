"""What a script asked to note while it ran: states, and graphs as they were at a moment.

Both happen between calls. Their place is told by how many calls of the recording come before them
and how many they stand inside of; in the path of the call around them they are a `MARK`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

CALL = "("
"""In a path: the next call of the recording was made here."""
MARK = "!"
"""In a path: the next mark was made here."""
CUT = "…"
"""In a path: there was more."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Where a mark stands among the calls: how many it is inside of, and its number."""

    depth: int
    number: int


@dataclass(frozen=True, slots=True)
class Moment:
    """When something was noted.

    Attributes:
        after: how many calls of the recording came before.
        depth: how many calls it stands inside of.
        line: the line of the script that asked.
    """

    after: int
    depth: int
    line: int


@dataclass(frozen=True, slots=True)
class State:
    """Values at a moment; without any, it only names the moment."""

    when: Moment
    title: str
    values: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Node:
    """A node of a graph.

    Attributes:
        identity: its type and number, the same wherever the object is shown.
        label: what is written in it.
        parents: the nodes its edges come from, as numbers among the graph's nodes.
        values: what is written beside it.
    """

    identity: str
    label: str
    parents: tuple[int, ...]
    values: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Graph:
    """A graph at a moment, its root first."""

    when: Moment
    name: str
    nodes: tuple[Node, ...]


def noted(note: Mapping[str, Any], after: int, depth: int) -> State | Graph:
    """A tracer's note of a mark, put in its place among the calls."""
    when = Moment(after, depth, note["line"])
    if "moment" in note:
        return State(when, note["moment"], dict(note["values"]))
    nodes = tuple(
        Node(identity, label, tuple(parents), dict(values))
        for identity, label, parents, values in note["nodes"]
    )
    return Graph(when, note["graph"], nodes)
