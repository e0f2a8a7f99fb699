"""The static call graph of a package beside the calls that its own tests make.

    python -m benchmarks.witness FOLDER [--package autograd] [--tests tests]

Runs the tests below FOLDER under a profiler, in a process of its own with FOLDER ahead of the
installed packages, and counts the calls between two symbols of the package by code position: how
many of the static calls from functions that ran were seen (precision), and how many of the calls
seen the static graph has (recall). Nameless functions count as the symbol they stand in.

    python -m benchmarks.witness --cases FOLDER

Scores folders that hold Python files and a ``callgraph.json`` (dotted caller → dotted callees), as
call graph suites do: a case is exact if the edges are the very same.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from annotate.pin import Pin
from annotate.upstream import folder
from annotate.upstream.calls import Edge, Evidence, call_graph, dotted_graph
from annotate.upstream.index import Index
from annotate.upstream.store import Store

Position = tuple[str, int, str]
"""A code object: path, first line, qualified name."""

PROFILER = """\
import json, os, sys, threading
root = os.path.realpath(sys.argv[1]) + os.sep
edges, known = set(), {}
def place(code):
    if code not in known:
        name = os.path.realpath(code.co_filename)
        inside = name.startswith(root)
        known[code] = (name[len(root):], code.co_firstlineno, code.co_qualname) if inside else None
    return known[code]
def watch(frame, event, _):
    if event == "call" and frame.f_back is not None:
        callee, caller = place(frame.f_code), place(frame.f_back.f_code)
        if callee and caller:
            edges.add((caller, callee))
sys.path.insert(0, root)
sys.setprofile(watch)
threading.setprofile(watch)
import pytest
options = ["-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", root]
pytest.main([*options, *sys.argv[3:]])
sys.setprofile(None)
json.dump(sorted(edges), open(sys.argv[2], "w"))
"""


def witnessed(root: Path, tests: str) -> set[tuple[Position, Position]]:
    """The calls between code of a folder that its tests make."""
    with tempfile.TemporaryDirectory() as kept:
        result = Path(kept) / "edges.json"
        command = [sys.executable, "-B", "-c", PROFILER, str(root), str(result), str(root / tests)]
        subprocess.run(command, check=True)
        pairs = json.loads(result.read_text())
    return {(tuple(caller), tuple(callee)) for caller, callee in pairs}


class Symbols:
    """Code positions → symbol ids."""

    def __init__(self, index: Index) -> None:
        self._index = index

    def of(self, position: Position) -> str | None:
        """The symbol, or the path of a module's body; None for what cannot be told."""
        path, line, qualname = position
        if path not in self._index.tree.files:
            return None
        if qualname == "<module>":
            return path
        definitions = self._index.module(path).definitions.values()
        around = [each for each in definitions if each.first_line <= line <= each.last_line]
        functions = [each for each in around if each.kind != "class"]
        if not functions:
            # The body of a class runs where its module does.
            return path
        return (
            f"{path}::{min(functions, key=lambda each: each.last_line - each.first_line).qualname}"
        )


def compare(root: Path, package: str, tests: str) -> str:
    """Measure, as a Markdown table."""
    with tempfile.TemporaryDirectory() as store:
        tree = folder.read(Pin("folder", root.resolve().as_uri(), ""), root)
        index = Index(tree, Store(Path(store)))
        symbols = Symbols(index)
        seen = {
            (caller, callee)
            for pair in witnessed(root, tests)
            for caller, callee in [(symbols.of(pair[0]), symbols.of(pair[1]))]
            if caller and callee and caller.startswith(package) and callee.startswith(package)
            if "::" in callee and caller != callee
        }
        ran = {symbol for pair in seen for symbol in pair}
        static = call_graph(index).edges
    rows = [_row("all", static, seen, ran, package)]
    for evidence in Evidence:
        chosen = [edge for edge in static if edge.evidence is evidence]
        rows.append(_row(evidence.value, chosen, seen, ran, package))
    head = "| evidence | static calls from functions that ran | seen | precision | recall |"
    return "\n".join([head, "| --- | --- | --- | --- | --- |", *rows])


def _row(
    name: str,
    edges: Iterable[Edge],
    seen: set[tuple[str, str]],
    ran: set[str],
    package: str,
) -> str:
    pairs = {(_folded(edge.caller), _folded(edge.callee)) for edge in edges}
    told = {
        (caller, callee)
        for caller, callee in pairs
        if caller in ran and callee.startswith(package) and caller != callee
    }
    hit = told & seen
    precision = len(hit) / len(told) if told else 0
    recall = len(hit) / len(seen) if seen else 0
    recalled = f"{recall:.3f} of {len(seen):,}"
    return f"| {name} | {len(told):,} | {len(hit):,} | {precision:.3f} | {recalled} |"


def _folded(symbol: str) -> str:
    return symbol.partition(".<")[0]


def score(cases: Path) -> str:
    """How many cases are exact, and precision and recall over all their edges."""
    exact = total = found = right = expected = 0
    for truth in sorted(cases.rglob("callgraph.json")):
        wanted = _pairs(json.loads(truth.read_text()))
        tree = folder.read(Pin("case", truth.parent.resolve().as_uri(), ""), truth.parent)
        told = _pairs(dotted_graph(tree, builtins=True))
        total += 1
        exact += told == wanted
        found += len(told)
        right += len(told & wanted)
        expected += len(wanted)
    return (
        f"{exact} of {total} cases exact; precision {right / max(found, 1):.3f}, "
        f"recall {right / max(expected, 1):.3f} over {expected:,} calls"
    )


def _pairs(graph: dict[str, list[str]]) -> set[tuple[str, str]]:
    return {(caller, callee) for caller, callees in graph.items() for callee in callees}


def main() -> None:
    """Measure what is asked for and print it."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folder", type=Path, nargs="?")
    arguments.add_argument("--package", default="")
    arguments.add_argument("--tests", default="tests")
    arguments.add_argument("--cases", type=Path)
    options = arguments.parse_args()
    if options.cases:
        print(score(options.cases))
    if options.folder:
        print(compare(options.folder, options.package, options.tests))


if __name__ == "__main__":
    main()
