"""Who calls whom: what the text tells and what experiments saw, together."""

from pathlib import Path

from annotate.claims.relations import Direction, experiments_running, lines_run, relations
from annotate.location import SymbolReference
from annotate.recordings import Call, Confirmation, Edge, Recording
from annotate.upstream.calls import CallGraph, Evidence
from annotate.upstream.calls import Edge as StaticEdge
from annotate.upstream.syntax import text_fingerprint
from tests.projects import open_project

CODE = b"""\
def outer(flag):
    def inner():
        return 1
    if flag:
        return inner()
    return 2
"""


def recording(**changes: object) -> Recording:
    fields: dict[str, object] = {
        "script": "docs/experiments/demo.py",
        "sha256": "0" * 64,
        "exit_status": 0,
        "stdout": (),
        "stderr": (),
        "executed": {"m.py::outer": "x", "m.py::outer.inner": "x"},
        "edges": (
            Edge("m.py::outer", "m.py::outer.inner", "", 2),
            Edge("docs/experiments/demo.py", "m.py::outer", "", 1),
        ),
        "calls": (Call(0, "m.py::outer", path="1 3 ( 4"), Call(1, "m.py::outer.inner", path="2")),
        "depth_limit": None,
        "texts": {},
        "marks": (),
        "confirmed": (Confirmation({"upstream": "kettle", "source": "git", "commit": "c"}, {}),),
    }
    return Recording(**{**fields, **changes})  # type: ignore[arg-type]


def test_what_both_tell_is_one_relation_and_what_was_seen_comes_first() -> None:
    graph = CallGraph(
        (
            StaticEdge("m.py::outer", "m.py::other", Evidence.CERTAIN, "direct call", "m.py", 9),
            StaticEdge("m.py::outer", "m.py::outer.inner", Evidence.MAY, "value", "m.py", 5),
        )
    )
    found = relations("m.py::outer", Direction.CALLEES, graph, {"demo": recording()})
    assert [(each.symbol, each.evidence, each.experiments) for each in found] == [
        ("m.py::outer.inner", ("may", "observed"), ("demo",)),
        ("m.py::other", ("certain",), ()),
    ]


def test_a_script_is_no_caller_of_the_upstream() -> None:
    assert relations("m.py::outer", Direction.CALLERS, CallGraph(()), {"demo": recording()}) == []


def test_which_experiments_run_it() -> None:
    assert experiments_running("m.py::outer", {"b": recording(), "a": recording()}) == ["a", "b"]
    assert experiments_running("m.py::other", {"a": recording()}) == []


def test_lines_of_a_symbol_and_of_those_inside_it(tmp_path: Path) -> None:
    project = open_project(tmp_path, {"kettle": {"m.py": CODE}}, tmp_path / "store")
    index = project.index()
    outer = index.find(SymbolReference("m.py", "outer"))
    inner = index.find(SymbolReference("m.py", "outer.inner"))
    assert outer is not None
    assert inner is not None
    texts = {place.id: text_fingerprint(place.text)[:16] for place in (outer, inner)}
    made = {"demo": recording(texts=texts)}
    assert lines_run(index, inner, made) == {2}
    # The second line of the inner one is the third of the outer one.
    assert lines_run(index, outer, made) == {1, 3, 4}


def test_lines_of_another_text_count_for_nothing(tmp_path: Path) -> None:
    project = open_project(tmp_path, {"kettle": {"m.py": CODE}}, tmp_path / "store")
    index = project.index()
    outer = index.find(SymbolReference("m.py", "outer"))
    assert outer is not None
    made = {"demo": recording(texts={"m.py::outer": "0" * 16})}
    assert lines_run(index, outer, made) == frozenset()
