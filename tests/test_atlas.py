"""The atlas: which modules have a page, their anchors, and what a page consists of."""

from pathlib import Path

from annotate.atlas import Atlas, dependencies
from annotate.pages import blocks
from annotate.pin import Pin
from annotate.upstream.index import Index
from annotate.upstream.store import Store
from tests.projects import COMMIT, tree_of

FILES = {
    "kettle/__init__.py": b'"""A kettle | and `more`."""\nfrom .heat import boil\n',
    "kettle/heat.py": (
        b"from . import lid\n\ndef boil(): pass\n\n\nclass Heater:\n    def __init__(self): pass\n"
        b'\n\nregister("a \\"b\\"", boil)\n\n\ndef boil(): pass\n'
    ),
    "kettle/lid.py": b"def __init__(): pass\n\n\ndef _init_(): pass\n",
    "kettle/index.py": b"X = 1\n",
    "kettle/broken.py": b"x = '\xff'\n",
    "tests/test_heat.py": b"def test(): pass\n",
    "examples/tea.py": b"def brew(): pass\n",
    "setup.py": b"setup()\n",
}


def make(tmp_path: Path, quoted: tuple[str, ...] = ()) -> Atlas:
    files = tree_of(Pin("kettle", "https://git.example.org/kettle", COMMIT), FILES)
    return Atlas(Index(files, Store(tmp_path)), quoted)


def test_the_modules_of_packages_and_what_is_quoted(tmp_path: Path) -> None:
    assert make(tmp_path, ("examples/tea.py",)).paths == [
        "examples/tea.py",
        "kettle/__init__.py",
        "kettle/heat.py",
        "kettle/index.py",
        "kettle/lid.py",
    ]


def test_no_module_takes_the_place_of_its_folder(tmp_path: Path) -> None:
    atlas = make(tmp_path)
    pages = [atlas.page(path) for path in atlas.paths]
    assert "source/kettle/index-module.md" in pages
    assert atlas.overview == "source/index.md"
    assert len({page.lower() for page in [*pages, atlas.overview]}) == len(pages) + 1


def test_anchors_are_plain_and_unique(tmp_path: Path) -> None:
    atlas = make(tmp_path)
    anchors = {
        symbol: atlas.address(f"kettle/heat.py::{symbol}")
        for symbol in ("boil", "boil#2", "Heater.__init__", 'register("a \\"b\\"")')
    }
    found = [address.anchor for address in anchors.values() if address]
    assert found == ["boil", "boil-2", "Heater.__init__", "register-a-b"]


def test_what_has_no_page_has_no_address(tmp_path: Path) -> None:
    atlas = make(tmp_path)
    assert atlas.address("tests/test_heat.py::test") is None
    assert atlas.address("kettle/heat.py::simmer") is None
    module = atlas.address("kettle/heat.py")
    assert module is not None
    assert module.anchor == ""


def test_a_page_quotes_each_symbol_once_and_tells_of_all(tmp_path: Path) -> None:
    text = make(tmp_path).module_text("kettle/heat.py", "en")
    found = blocks(text)
    assert all(not block.problem for block in found)
    told = [each.attributes["symbol"] for each in found if "symbol" in each.attributes]
    quoted = [each.attributes["symbol"] for each in found if "quoted" in each.classes]
    assert quoted == [
        "kettle/heat.py::boil",
        "kettle/heat.py::Heater",
        'kettle/heat.py::register("a \\"b\\"")',
        "kettle/heat.py::boil#2",
    ]
    assert told == [*quoted[:2], "kettle/heat.py::Heater.__init__", *quoted[2:]]
    assert [each.attributes["id"] for each in found if "symbol" in each.attributes] == [
        "boil",
        "Heater",
        "Heater.__init__",
        "register-a-b",
        "boil-2",
    ]


def test_the_overview_lists_modules_and_what_they_say(tmp_path: Path) -> None:
    text = make(tmp_path).overview_text("zh", lambda path: f"{path}/" if "heat" in path else None)
    assert "[`kettle/heat.py`](kettle/heat.md)" in text
    assert "A kettle \\| and more." in text
    assert '<a href="kettle/heat.py/"><g class="node">' in text


def test_who_imports_whom(tmp_path: Path) -> None:
    found = dependencies(make(tmp_path))
    assert found["kettle/__init__.py"] == {"kettle/heat.py"}
    assert found["kettle/heat.py"] == {"kettle/lid.py"}
    assert found["kettle/lid.py"] == set()
