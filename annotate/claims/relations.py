"""Who calls whom, and how that is known: from the text, or seen while an experiment ran."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

from annotate.claims.context import Context
from annotate.claims.markup import word
from annotate.location import Location
from annotate.recordings import Recording
from annotate.upstream.calls.graph import CallGraph
from annotate.upstream.index import Index
from annotate.upstream.syntax import text_fingerprint
from annotate.upstream.table import Place

OBSERVED = "observed"


class Direction(Enum):
    """Which end of its calls a symbol is looked at from; the value is a sentence's verb."""

    CALLERS = "is called by"
    CALLEES = "calls"


@dataclass(frozen=True, slots=True)
class Relation:
    """A symbol at the other end of calls.

    Attributes:
        symbol: its id, or a path for a module's body.
        evidence: ``certain`` or ``may`` where the text tells, ``observed`` where it was seen.
        why: of the text's evidence, one short phrase, or "".
        place: where the call is written, if the text tells.
        experiments: those that saw it, sorted.
    """

    symbol: str
    evidence: tuple[str, ...]
    why: str = ""
    place: Location | None = None
    experiments: tuple[str, ...] = ()


def relations(
    symbol: str, direction: Direction, graph: CallGraph, recordings: Mapping[str, Recording]
) -> list[Relation]:
    """The symbols at the other end of a symbol's calls: what was seen, then what is certain."""
    callers = direction is Direction.CALLERS
    edges = graph.callers_of(symbol) if callers else graph.callees_of(symbol)
    seen = _seen(symbol, callers=callers, recordings=recordings)
    found: dict[str, Relation] = {}
    for edge in edges:
        other = edge.caller if callers else edge.callee
        if other not in found:
            names = tuple(sorted(seen.pop(other, ())))
            evidence = (edge.evidence.value, *((OBSERVED,) if names else ()))
            place = Location(edge.path, edge.line)
            found[other] = Relation(other, evidence, edge.why, place, names)
    for other, experiments in seen.items():
        found[other] = Relation(other, (OBSERVED,), "", None, tuple(sorted(experiments)))
    return sorted(
        found.values(),
        key=lambda each: (OBSERVED not in each.evidence, each.evidence, each.symbol),
    )


def experiments_running(symbol: str, recordings: Mapping[str, Recording]) -> list[str]:
    """The experiments that execute a symbol's code, sorted."""
    return sorted(name for name, recording in recordings.items() if symbol in recording.executed)


def lines_run(index: Index, place: Place, recordings: Mapping[str, Recording]) -> frozenset[int]:
    """The lines of a symbol that experiments were seen to run, counting from 1.

    Lines of the symbols inside it are among them. A large recording leaves out deep calls and long
    ways, so that other lines may have run as well.
    """
    table = index.module(place.path)
    found: set[int] = set()
    for symbol in table.definitions.values():
        if place.first_line <= symbol.first_line and symbol.last_line <= place.last_line:
            inner = table.place(symbol)
            text = text_fingerprint(inner.text)
            for recording in recordings.values():
                # A recording keeps the first digits only.
                recorded = recording.texts.get(inner.id)
                if recorded and text.startswith(recorded):
                    offset = symbol.first_line - place.first_line
                    found.update(line + offset for line in _lines_of(recording, inner.id))
    return frozenset(found)


def _lines_of(recording: Recording, symbol: str) -> set[int]:
    return {
        int(token)
        for call in recording.calls
        if call.symbol == symbol
        for token in call.path.split()
        if token.isdigit()
    }


def _seen(
    symbol: str, *, callers: bool, recordings: Mapping[str, Recording]
) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for name, recording in recordings.items():
        for caller, callee in _pairs(recording):
            here, other = (callee, caller) if callers else (caller, callee)
            if here == symbol and "::" in other:
                found.setdefault(other, set()).add(name)
    return found


def _pairs(recording: Recording) -> Iterable[tuple[str, str]]:
    return ((edge.caller, edge.callee) for edge in recording.edges)


def related(
    index: Index, place: Place, context: Context, language: str
) -> list[tuple[str, str | None]]:
    """How often a symbol is called and calls, and which experiments run it, with links.

    Empty where the site does not show the symbol: there would be nothing to follow.
    """
    upstream = index.tree.pin.name
    href = context.links.symbol(upstream, place.id)
    if href is None:
        return []
    graph, recordings = context.calls(upstream), context.recordings()
    callers = len(relations(place.id, Direction.CALLERS, graph, recordings))
    callees = len(relations(place.id, Direction.CALLEES, graph, recordings))
    counts = [
        word("called by N", language).format(callers) if callers else "",
        word("calls N", language).format(callees) if callees else "",
    ]
    experiments = experiments_running(place.id, recordings)
    entries: list[tuple[str, str | None]] = [
        (" · ".join(filter(None, counts)) or word("in the atlas", language), href)
    ]
    if experiments:
        names = ", ".join(f"`{name}`" for name in experiments)
        entries.append((word("exercised by", language).format(names), None))
    return entries
