"""How often a symbol changed: kept once its lineage was followed to its end."""

from pathlib import Path

from annotate.upstream.changes import Changes, keeping, kept
from annotate.upstream.history import Commit
from annotate.upstream.lineage import Step
from annotate.upstream.store import Store

STEPS = [
    Step(Commit("c" * 40, "t", (), 300, "third"), "body change", "m.py::f", "m.py"),
    Step(Commit("b" * 40, "t", (), 200, "second"), "rename", "m.py::f", "m.py"),
    Step(Commit("a" * 40, "t", (), 100, "first"), "introduced", "m.py::g", "m.py"),
]


def test_kept_when_followed_to_the_end(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert list(keeping(store, "d" * 40, "m.py::f", STEPS)) == STEPS
    assert kept(store, "d" * 40, "m.py::f") == Changes(2, "c" * 40, 300)


def test_of_another_commit_or_symbol_nothing_is_known(tmp_path: Path) -> None:
    store = Store(tmp_path)
    list(keeping(store, "d" * 40, "m.py::f", STEPS))
    assert kept(store, "e" * 40, "m.py::f") is None
    assert kept(store, "d" * 40, "m.py::g") is None


def test_not_kept_when_left_in_the_middle(tmp_path: Path) -> None:
    store = Store(tmp_path)
    next(keeping(store, "d" * 40, "m.py::f", STEPS))
    assert kept(store, "d" * 40, "m.py::f") is None
