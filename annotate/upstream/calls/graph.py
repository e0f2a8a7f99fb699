"""The call graph of a tree: who calls whom, and how that is known."""

from dataclasses import dataclass, field
from enum import StrEnum


class Evidence(StrEnum):
    """How a call is known.

    ``certain``: the text says so, by scopes, imports, ``self`` and the MRO, decorators.
    ``may``: values flow there, or only one class defines a method of that name.
    """

    CERTAIN = "certain"
    MAY = "may"


@dataclass(frozen=True, order=True, slots=True)
class Edge:
    """One function of the tree calls another.

    Attributes:
        caller: a symbol id; the path of the file where a module's body calls. A lambda without a
            name is its scope's id with ``.<lambda1>`` behind it, or the id of the registration it
            stands in.
        callee: likewise; of a class that is called, its ``__init__``.
        evidence: how it is known.
        why: one short phrase.
        path: the file of the call.
        line: of the first such call, from 1.
    """

    caller: str
    callee: str
    evidence: Evidence
    why: str
    path: str
    line: int


@dataclass(frozen=True, order=True, slots=True)
class Unresolved:
    """A call of something that could not be told."""

    caller: str
    expression: str
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class CallGraph:
    """All calls of a tree, sorted.

    Attributes:
        edges: between functions of the tree.
        unresolved: calls that nothing is known of, with the expression that is called.
        external: calls of what is not in the tree (``numpy.exp``) or, where they were asked for,
            of builtins (``<builtin>.len``).
    """

    edges: tuple[Edge, ...]
    unresolved: tuple[Unresolved, ...] = ()
    external: tuple[Edge, ...] = ()
    _by_caller: dict[str, list[Edge]] = field(default_factory=dict, compare=False, repr=False)
    _by_callee: dict[str, list[Edge]] = field(default_factory=dict, compare=False, repr=False)
    _unresolved: dict[str, list[Unresolved]] = field(
        default_factory=dict, compare=False, repr=False
    )

    def __post_init__(self) -> None:
        for edge in self.edges:
            self._by_caller.setdefault(edge.caller, []).append(edge)
            self._by_callee.setdefault(edge.callee, []).append(edge)
        for call in self.unresolved:
            self._unresolved.setdefault(call.caller, []).append(call)

    def callees_of(self, symbol: str) -> list[Edge]:
        """The calls a symbol makes; of a module's body, by its path."""
        return list(self._by_caller.get(symbol, ()))

    def callers_of(self, symbol: str) -> list[Edge]:
        """The calls made of a symbol."""
        return list(self._by_callee.get(symbol, ()))

    def unresolved_in(self, symbol: str) -> list[Unresolved]:
        """The calls a symbol makes of what could not be told."""
        return list(self._unresolved.get(symbol, ()))
