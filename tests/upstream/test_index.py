"""Finding symbols: by id, through imports, by their text, and by what looks like them.

Which import leads where is tried in ``tests/claims/cases/aliases``.
"""

from collections.abc import Mapping

import pytest

from annotate.errors import AnnotateError, Exit
from annotate.location import RangeReference, SymbolReference, parse_reference
from annotate.pin import Pin
from annotate.upstream import syntax
from annotate.upstream.index import Index, Place
from annotate.upstream.store import Store
from annotate.upstream.tree import Tree
from tests.projects import COMMIT, tree_of

PIN = Pin("kettle", "https://git.example.org/kettle", COMMIT)
FILES = {
    "README.md": b"one\ntwo\n\nthree\n",
    "empty.txt": b"",
    "latin.txt": b"\xff\n",
    "m.py": b"import os\n\n\ndef f(a, *, b=1):\n    return a\n\n\nclass C:\n"
    b"    def f(self):\n        pass\n",
    "pkg/__init__.py": b"from m import f as g\nfrom .deep import *\n",
    "pkg/deep.py": b"def h():\n    return 1\n",
    "pkg/same.pyi": b"def h():\n    return 1\n",
    "pkg/bad.py": b"x = '\xff'\n",
}


def index_of(files: Mapping[str, bytes], store: Store) -> Index:
    return Index(tree_of(PIN, files), store)


@pytest.fixture
def index(store: Store) -> Index:
    return index_of(FILES, store)


def find(index: Index, text: str) -> Place | None:
    reference = parse_reference(text)
    if isinstance(reference, RangeReference):
        return index.lines(reference)
    return index.find(reference)


def test_a_symbol(index: Index) -> None:
    place = find(index, "m.py::C.f")
    assert place == Place("m.py", "C.f", 9, 10, "def f(self):\n    pass")
    assert place is not None
    assert (place.id, place.span) == ("m.py::C.f", "m.py:9-10")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("pkg/__init__.py::g", "m.py::f"),
        ("pkg::g", "m.py::f"),
        ("pkg.deep::h", "pkg/deep.py::h"),
        ("pkg/__init__.py::h", "pkg/deep.py::h"),
        ("pkg/same.pyi::h", "pkg/same.pyi::h"),
    ],
)
def test_other_names_of_a_symbol(index: Index, text: str, found: str) -> None:
    place = find(index, text)
    assert place is not None
    assert place.id == found


@pytest.mark.parametrize(
    "text",
    ["m.py::g", "n.py::f", "m.py::C.g", "m.py::f.a", "m.py::os", "README.md::one", "pkg::nothing"],
)
def test_what_is_not_there(index: Index, text: str) -> None:
    assert find(index, text) is None


def test_two_that_fit(store: Store) -> None:
    files = {"m.py": b"def f(): pass\n", "src/m.py": b"def f(): pass\n"}
    index = index_of(files, store)
    with pytest.raises(AnnotateError, match=r"m::f can mean m\.py::f or src/m\.py::f") as caught:
        find(index, "m::f")
    assert caught.value.hint
    place = find(index, "src/m.py::f")
    assert place is not None


@pytest.mark.parametrize(
    ("text", "first", "last", "found"),
    [
        ("README.md#L2", 2, 2, "two"),
        ("README.md#L2-L4", 2, 4, "two\n\nthree"),
        ("README.md", 1, 4, "one\ntwo\n\nthree"),
        ("README.md#L3-L4", 3, 4, "three"),
        ("m.py#L5", 5, 5, "return a"),
        ("empty.txt", 1, 1, ""),
    ],
)
def test_lines(index: Index, text: str, first: int, last: int, found: str) -> None:
    place = find(index, text)
    assert place is not None
    assert (place.first_line, place.last_line, place.text, place.qualname) == (
        first,
        last,
        found,
        "",
    )


@pytest.mark.parametrize("text", ["README.md#L5", "README.md#L4-L5", "READ.md#L1", "empty.txt#L2"])
def test_lines_that_are_not_there(index: Index, text: str) -> None:
    assert find(index, text) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pkg/bad.py::x", "pkg/bad.py: line 1: byte 0xff"),
        ("pkg/bad.py#L1", "pkg/bad.py: line 1: byte 0xff"),
        ("latin.txt#L1", "latin.txt: line 1: byte 0xff"),
    ],
)
def test_bytes_that_cannot_be_judged_are_told_with_their_file(
    index: Index, text: str, message: str
) -> None:
    with pytest.raises(AnnotateError) as caught:
        find(index, text)
    assert caught.value.message.startswith(message)
    assert caught.value.exit_code is Exit.NOTHING_JUDGED


def test_a_file_that_cannot_be_read_hides_no_other(index: Index) -> None:
    assert {place.id for place in index.everything()} == {
        *("m.py::f", "m.py::C", "m.py::C.f", "pkg/deep.py::h", "pkg/same.pyi::h"),
    }


def test_symbols_of_one_text(index: Index) -> None:
    fingerprint = syntax.text_fingerprint("def h():\n    return 1")
    assert [place.id for place in index.with_text(fingerprint)] == [
        *("pkg/deep.py::h", "pkg/same.pyi::h"),
    ]
    assert index.with_text(syntax.text_fingerprint("x")) == []


@pytest.mark.parametrize(
    ("reference", "nearest"),
    [
        (SymbolReference("m.py", "F"), "m.py::f"),
        (SymbolReference("m.py", "C.ff"), "m.py::C.f"),
        # The file is wrong, the name is right.
        (SymbolReference("n.py", "h"), "pkg/deep.py::h"),
        # Neither: at least the file.
        (SymbolReference("pkg/deap.py", "hh"), "pkg/deep.py"),
        (RangeReference("READ.md", 1, 2), "README.md"),
    ],
)
def test_near_misses(
    index: Index, reference: SymbolReference | RangeReference, nearest: str
) -> None:
    found = index.nearest(reference)
    assert found[0] == nearest
    assert len(found) == len(set(found)) <= 3
    assert str(reference) not in found


def test_nothing_is_near(index: Index) -> None:
    assert index.nearest(RangeReference("zzzzzzzzzzzzzzzzzzzz", 1, 1)) == []


def test_signatures(index: Index) -> None:
    place = find(index, "pkg::g")
    assert place is not None
    assert index.signature(place) == "f(a, *, b=1)"


def test_imports_that_go_in_circles_end(store: Store) -> None:
    """Four modules that all import * from each other: a walk without memory would take ages."""
    names = "abcd"
    files = {
        f"p/{name}.py": "".join(f"from .{other} import *\n" for other in names).encode()
        for name in names
    }
    files["p/d.py"] += b"def f(): pass\n"
    index = index_of(files, store)
    place = find(index, "p/a.py::f")
    assert place is not None
    assert place.id == "p/d.py::f"
    assert find(index, "p/a.py::nothing") is None


# What is kept of a file


class Counting:
    """A tree whose reads are counted."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        tree = tree_of(PIN, files)
        self.reads = 0

        def read(blob: str) -> bytes:
            self.reads += 1
            return tree.read_blob(blob)

        self.tree = Tree(PIN, "git", tree.identity, tree.files, read)


def test_a_file_is_read_once(store: Store) -> None:
    counting = Counting(FILES)
    index = Index(counting.tree, store)
    for text in ("m.py::f", "m.py::C", "m.py#L1", "m.py::nothing"):
        find(index, text)
    assert counting.reads == 1


def test_symbols_are_kept_by_blob_and_are_the_same_again(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = index_of(FILES, store).module("m.py")
    # The same bytes, under another name and at another commit, are parsed no more.
    monkeypatch.setattr("annotate.upstream.symbols.extract", None)
    second = index_of({"moved.py": FILES["m.py"]}, store).module("moved.py")
    assert first.symbols == second.symbols
    assert (first.definitions, first.aliases) == (second.definitions, second.aliases)


def test_doubts_are_kept_too(store: Store) -> None:
    files = {"m.py": b"def f():\n    return 1\n\n\ndef g(:\n    return 2\n"}
    doubts = []
    for _ in range(2):
        place = find(index_of(files, store), "m.py::f")
        assert place is not None
        doubts.append(place.doubt)
    assert doubts == ["neither Python nor the grammar can read all of the file"] * 2


def test_what_python_reads_is_not_doubted_for_an_error_of_the_grammar_alone(store: Store) -> None:
    # Python joins lines in brackets wherever they begin; the grammar stumbles over column 0.
    source = b"def f():\n    return (\n1\n)\n\n\ndef g():\n    return 2\n"
    for name in ("f", "g"):
        place = find(index_of({"m.py": source}, store), f"m.py::{name}")
        assert place is not None
        assert place.doubt == ""


def test_a_damaged_store_is_made_good(store: Store) -> None:
    index_of(FILES, store).module("m.py")
    for file in (store.root / "derived").rglob("*"):
        if file.is_file():
            file.write_bytes(b"rubbish")
    assert find(index_of(FILES, store), "m.py::f") is not None


@pytest.mark.parametrize(
    ("source", "exported"),
    [
        (b"def f(): pass\ndef _g(): pass\n", {"f"}),
        (b"__all__ = ['_g']\ndef f(): pass\ndef _g(): pass\n", {"_g"}),
        (b"__all__ = ('f', '_g')\n", {"f", "_g"}),
        (b"__all__: list[str] = []\ndef f(): pass\n", set()),
        # Computed: nobody knows, so what Python exports without it.
        (b"__all__ = [n for n in dir()]\n", {"f"}),
        (b"__all__ = []\n__all__ += ['f']\n", {"f"}),
        (b"__all__ = [['f']]\n", set()),
        (b"__all__ = 1\n", {"f"}),
    ],
)
def test_what_a_star_imports(store: Store, source: bytes, exported: set[str]) -> None:
    table = index_of({"m.py": source}, store).module("m.py")
    assert {name for name in ("f", "_g") if table.exports(name)} == exported
