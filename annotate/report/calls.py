"""Who calls a symbol and what it calls, as a tree on the terminal."""

import json
from collections.abc import Mapping
from pathlib import Path

from annotate.claims.relations import Direction, Relation, relations
from annotate.pin import Pin
from annotate.recordings import Recording
from annotate.upstream import folder as folder_source
from annotate.upstream.calls import CallGraph, dotted_graph

_TITLES = {Direction.CALLERS: "called by", Direction.CALLEES: "calls"}


def render(
    symbol: str, graph: CallGraph, recordings: Mapping[str, Recording], *, depth: int = 1
) -> str:
    """Both directions, ``depth`` calls deep, each with its evidence; then what was not resolved.

    A symbol whose calls were shown already is followed by ``…`` instead of showing them again.
    """
    lines = [symbol]
    for direction, title in _TITLES.items():
        lines.append(f"  {title}")
        below = _tree(symbol, direction, graph, recordings, depth, "    ", {symbol})
        lines += below or ["    (nothing that can be seen)"]
    unresolved = sorted({call.expression for call in graph.unresolved_in(symbol)})
    if unresolved:
        lines += ["  calls not resolved", *(f"    {expression}" for expression in unresolved)]
    return "\n".join(lines) + "\n"


def render_graph(folder: Path, *, builtins: bool = False) -> str:
    """The call graph of a folder of Python files: dotted caller → dotted callees, as JSON.

    Raises:
        AnnotateError: there is no such folder.
    """
    tree = folder_source.read(Pin("folder", folder.resolve().as_uri(), ""), folder)
    return json.dumps(dotted_graph(tree, builtins=builtins), indent=2, ensure_ascii=False) + "\n"


def _tree(
    symbol: str,
    direction: Direction,
    graph: CallGraph,
    recordings: Mapping[str, Recording],
    depth: int,
    indent: str,
    shown: set[str],
) -> list[str]:
    lines = []
    for relation in relations(symbol, direction, graph, recordings):
        again = relation.symbol in shown
        lines.append(f"{indent}{relation.symbol}  [{_evidence(relation)}]{' …' if again else ''}")
        if depth > 1 and not again:
            shown.add(relation.symbol)
            lines += _tree(
                relation.symbol, direction, graph, recordings, depth - 1, f"{indent}  ", shown
            )
    return lines


def _evidence(relation: Relation) -> str:
    details = [relation.why, str(relation.place) if relation.place else ""]
    if relation.experiments:
        details.append(f"seen in {', '.join(relation.experiments)}")
    said = ", ".join(filter(None, details))
    return f"{', '.join(relation.evidence)}: {said}"
