"""Records: read with their places, written without touching what an author wrote.

What makes a record unreadable is tried in ``claims/cases/records-…``.
"""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate import records
from annotate.errors import AnnotateError
from annotate.location import Location
from tests.projects import COMMIT

PRINTS = ("a" * 64, "b" * 64)
OTHER = ("c" * 64, "d" * 64)
BY_HAND = f'''\
# Kept by hand.
path = "m.py"

["C.f"]  # the important one
text = "{PRINTS[0]}"
tokens = "{PRINTS[1]}"
recorded = "{COMMIT}"
role = {{ en = "does it", zh = "做事" }}

[["C.f".notes]]
at = 'x["y"]'
en = "A dictionary."

[["C.f".notes]]
at = "x"
en = "First."

[["C.f".notes]]
at = "x"
en = "Again."
'''


def load(root: Path) -> records.Records:
    return records.load(root, root / "snippets", ["up"])


def write(root: Path, text: str | bytes, name: str = "up/m.py.toml") -> Path:
    file = root / "snippets" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def test_no_folder_holds_no_records(tmp_path: Path) -> None:
    assert len(load(tmp_path)) == 0


def test_reading(tmp_path: Path) -> None:
    write(tmp_path, BY_HAND.replace("  # the important one", ""))
    record = load(tmp_path).get("up", "m.py", "C.f")
    assert record is not None
    assert (record.text, record.tokens, record.recorded) == (*PRINTS, COMMIT)
    assert record.symbol == "m.py::C.f"
    assert record.role == {"en": "does it", "zh": "做事"}
    assert record.location == Location("snippets/up/m.py.toml", 4)
    assert [(note.at, note.location.line) for note in record.notes] == [
        ('x["y"]', 11),
        ("x", 15),
        ("x", 19),
    ]
    assert load(tmp_path).get("up", "m.py", "f") is None
    assert load(tmp_path).get("down", "m.py", "C.f") is None


def test_files_may_lie_anywhere_below_their_upstream(tmp_path: Path) -> None:
    write(tmp_path, BY_HAND, "up/chapter one/any.toml")
    write(tmp_path, BY_HAND.replace("C.f", "C.g"), "up/m.py.toml")
    assert [record.symbol for _, record in load(tmp_path)] == ["m.py::C.f", "m.py::C.g"]


def test_accepting_changes_fingerprints_and_nothing_else(tmp_path: Path) -> None:
    file = write(tmp_path, BY_HAND)
    records.write(file, "m.py", {"C.f": OTHER}, "1" * 40)
    expected = BY_HAND.replace(PRINTS[0], OTHER[0]).replace(PRINTS[1], OTHER[1])
    assert file.read_text("utf-8") == expected.replace(COMMIT, "1" * 40)


def test_line_ends_stay(tmp_path: Path) -> None:
    file = write(tmp_path, b"\xef\xbb\xbf" + BY_HAND.replace("\n", "\r\n").encode())
    records.write(file, "m.py", {"C.f": OTHER, "g": PRINTS}, COMMIT)
    data = file.read_bytes()
    assert data.count(b"\n") == data.count(b"\r\n")
    assert len(load(tmp_path)) == 2


def test_another_symbol_is_added_after_the_last(tmp_path: Path) -> None:
    file = write(tmp_path, BY_HAND)
    records.write(file, "m.py", {"D.g": OTHER}, COMMIT)
    assert file.read_text("utf-8").startswith(BY_HAND)
    record = load(tmp_path).get("up", "m.py", "D.g")
    assert record is not None
    assert (record.text, record.tokens) == OTHER
    assert load(tmp_path).get("up", "m.py", "C.f") is not None


@pytest.mark.parametrize(
    "qualname",
    [
        "f",
        "path",
        "C.path",
        "f#2",
        "defvjp(anp.exp)",
        'reg("a")',
        "reg('a')",
        r"reg('\n')",
        "é",
        "a b",
    ],
)
def test_any_name_reads_back(tmp_path: Path, qualname: str) -> None:
    file = records.record_file(tmp_path / "snippets", "up", "pkg/m.py")
    records.write(file, "pkg/m.py", {qualname: PRINTS, "other": OTHER}, COMMIT)
    assert file == tmp_path / "snippets" / "up" / "pkg" / "m.py.toml"
    record = load(tmp_path).get("up", "pkg/m.py", qualname)
    assert record is not None
    assert (record.text, record.tokens, record.qualname) == (*PRINTS, qualname)
    line = file.read_text("utf-8").split("\n")[record.location.line - 1]
    assert line.startswith("["), line
    records.write(file, "pkg/m.py", {qualname: OTHER}, COMMIT)
    assert len(load(tmp_path)) == 2


@given(st.lists(st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1), unique=True))
def test_names_read_back(tmp_path_factory: pytest.TempPathFactory, names: list[str]) -> None:
    names = [name for name in names if name != "path#1"]
    root = tmp_path_factory.mktemp("records")
    file = records.record_file(root / "snippets", "up", "m.py")
    records.write(file, "m.py", dict.fromkeys(names, PRINTS), COMMIT)
    assert {record.qualname for _, record in load(root)} == set(names)


def test_a_file_of_another_module_is_not_written_into(tmp_path: Path) -> None:
    file = write(tmp_path, BY_HAND)
    before = file.read_bytes()
    with pytest.raises(AnnotateError, match=r"records the module m\.py, not n\.py") as caught:
        records.write(file, "n.py", {"f": PRINTS}, COMMIT)
    assert "n.py" in caught.value.hint
    assert file.read_bytes() == before
