import pytest

from annotate.pin import Pin
from annotate.runnable.needed import imported, needed, without_root
from annotate.upstream.tree import MAX_FILE_BYTES, Tree
from tests.projects import COMMIT, tree_of

PIN = Pin("kettle", "https://git.example.org/kettle", COMMIT)
FILES = {
    "LICENSE": b"free",
    "examples/__init__.py": b"",
    "examples/brew.py": b"import kettle",
    "examples/huge.gif": b"\0" * 10,
    "examples/steep.py": b"import cups",
    "kettle/__init__.py": b"from kettle import core",
    "kettle/core.py": b"import numpy\nfrom . import spout\n",
    "kettle/spout.py": b"",
    "kettle/steam.toml": b"",
    "cups.py": b"",
    "src/tray/__init__.py": b"import spoons",
    "src/tray/handle.py": b"",
    "src/spoons.py": b"",
    "lib/kettle/__init__.py": b"",
    "docs/notes.md": b"",
}


def tree() -> Tree:
    return tree_of(PIN, FILES)


def test_a_package_comes_whole_and_alone() -> None:
    assert needed(tree(), [b"from kettle.core import f"], []) == [
        "kettle/__init__.py",
        "kettle/core.py",
        "kettle/spout.py",
        "kettle/steam.toml",
    ]


def test_what_a_package_imports_comes_too_from_any_root() -> None:
    paths = needed(tree(), [b"import tray.handle"], [])
    assert paths == ["src/spoons.py", "src/tray/__init__.py", "src/tray/handle.py"]


def test_a_file_that_only_ran_comes_without_its_folder() -> None:
    assert needed(tree(), [], ["examples/steep.py::steep", "examples/steep.py::pour"]) == [
        "cups.py",
        "examples/steep.py",
    ]


def test_what_is_elsewhere_is_not_needed() -> None:
    sources = [b"import numpy, os", b"from . import core", b"from docs import notes"]
    assert needed(tree(), sources, ["gone.py::f"]) == []


def test_files_too_large_to_read_are_left_out() -> None:
    large = FILES | {"kettle/sea.bin": b"\0" * (MAX_FILE_BYTES + 1)}
    assert "kettle/sea.bin" not in needed(tree_of(PIN, large), [b"import kettle"], [])


@pytest.mark.parametrize(
    ("source", "names"),
    [
        (b"import a.b, c as d", {"a", "c"}),
        (b"def f():\n    from e.g import h", {"e"}),
        (b"from . import a\nfrom .b import c", set()),
        (b"import (", set()),
        (b"\0", set()),
    ],
)
def test_imported(source: bytes, names: set[str]) -> None:
    assert imported(source) == names


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("src/tray/handle.py", "tray/handle.py"),
        ("lib/a.py", "a.py"),
        ("kettle/src/a.py", "kettle/src/a.py"),
    ],
)
def test_without_root(path: str, shown: str) -> None:
    assert without_root(path) == shown
