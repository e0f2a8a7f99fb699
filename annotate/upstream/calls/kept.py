"""A tree's call graph, computed once and then kept in the store."""

import dataclasses
import hashlib
import json
import sys
from functools import cache
from pathlib import Path

from annotate.upstream import syntax
from annotate.upstream.calls.build import call_graph
from annotate.upstream.calls.graph import CallGraph, Edge, Evidence, Unresolved
from annotate.upstream.index import Index


def kept_call_graph(index: Index) -> CallGraph:
    """The call graph of a whole tree, without builtins (`annotate.upstream.calls.call_graph`)."""
    return _from_json(index.derived_from_all(_kind(), lambda: _to_json(call_graph(index))))


@cache
def _kind() -> str:
    """Names what is kept, so that other rules, another grammar or Python compute it again."""
    rules = hashlib.sha256()
    for module in sorted(Path(__file__).parent.glob("*.py")):
        rules.update(module.read_bytes())
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    return f"call-graph-{rules.hexdigest()[:16]}-{syntax.GRAMMAR_VERSION}-py{python}"


def _to_json(graph: CallGraph) -> bytes:
    rows = {
        "edges": [dataclasses.astuple(edge) for edge in graph.edges],
        "unresolved": [dataclasses.astuple(call) for call in graph.unresolved],
        "external": [dataclasses.astuple(edge) for edge in graph.external],
    }
    return json.dumps(rows, ensure_ascii=False, separators=(",", ":")).encode()


def _from_json(data: bytes) -> CallGraph:
    rows = json.loads(data)
    return CallGraph(
        tuple(map(_edge, rows["edges"])),
        tuple(Unresolved(*row) for row in rows["unresolved"]),
        tuple(map(_edge, rows["external"])),
    )


def _edge(row: list[str | int]) -> Edge:
    caller, callee, evidence, why, path, line = row
    return Edge(str(caller), str(callee), Evidence(str(evidence)), str(why), str(path), int(line))
