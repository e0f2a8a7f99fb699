"""Places and references: what is read back is what was written, and nothing leaves the tree."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.errors import AnnotateError, Exit
from annotate.location import (
    Location,
    RangeReference,
    SymbolReference,
    is_safe_path,
    parse_reference,
    refuse_unsafe_path,
)

PARTS = st.text(
    st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="/\\#: \u00a0"), min_size=1
).filter(lambda part: part not in (".", "..", ".git") and part == part.strip())
PATHS = st.lists(PARTS, min_size=1, max_size=4).map("/".join)
LINES = st.integers(1, 10_000)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a/b.py::C.m", SymbolReference("a/b.py", "C.m")),
        (" a/b.py :: C.m ", SymbolReference("a/b.py", "C.m")),
        ("a.b::C.m#2", SymbolReference("a.b", "C.m#2")),
        ('a.py::reg("x::y")', SymbolReference("a.py", 'reg("x::y")')),
        ("README.md#L10-L20", RangeReference("README.md", 10, 20)),
        ("README.md#L10-20", RangeReference("README.md", 10, 20)),
        ("README.md#L10", RangeReference("README.md", 10, 10)),
        ("docs/a b.md#L1", RangeReference("docs/a b.md", 1, 1)),
        ("README", RangeReference("README", 1, None)),
    ],
)
def test_references(text: str, expected: SymbolReference | RangeReference) -> None:
    assert parse_reference(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "::", "a.py::", "::f", "a.md#", "a.md#top", "a.md#L", "a.md#L1-", "#L1"),
        *("a.md#L0", "a.md#L2-L1", "a.md#L1#L2", "a.md#l1", "a.md#L1-L2-L3", "a.md#L١"),
        *("/a.py::f", "../a.py::f", "a/../b.py::f", "./a.py::f", "a//b.py::f", "a/::f", "..#L1"),
        *("a\\b.py::f", "a\tb.py::f", "a\nb.py::f", ".git/config", "a/.git/x::f", "\x7f.py::f"),
    ],
)
def test_what_is_no_reference(text: str) -> None:
    with pytest.raises(AnnotateError) as caught:
        parse_reference(text)
    assert caught.value.hint
    assert caught.value.exit_code is Exit.USAGE


@given(PATHS, PARTS)
def test_symbols_read_back(path: str, qualname: str) -> None:
    reference = SymbolReference(path, qualname)
    assert parse_reference(str(reference)) == reference


@given(PATHS, LINES, LINES)
def test_ranges_read_back(path: str, one: int, other: int) -> None:
    for reference in (
        RangeReference(path, min(one, other), max(one, other)),
        RangeReference(path, one, one),
        RangeReference(path, 1, None),
    ):
        assert parse_reference(str(reference)) == reference


@given(st.text(st.sampled_from("ab./\\:#L1- \n"), max_size=12))
def test_whatever_is_accepted_stays_in_the_tree(text: str) -> None:
    try:
        reference = parse_reference(text)
    except AnnotateError:
        return
    assert is_safe_path(reference.file)
    assert not {"..", "", "."} & set(reference.file.split("/"))
    assert "\n" not in reference.file


def test_paths_of_a_dotted_module() -> None:
    assert SymbolReference("a.b", "f").paths()[:2] == ("a/b.py", "a/b/__init__.py")
    assert "src/a/b.py" in SymbolReference("a.b", "f").paths()
    for file in ("a/b", "a/b.py", "a.py", "a.pyi"):
        assert SymbolReference(file, "f").paths() == (file,)


def test_unsafe_paths_are_refused_with_a_remedy() -> None:
    refuse_unsafe_path("a/b")
    with pytest.raises(AnnotateError, match="not inside the upstream tree") as caught:
        refuse_unsafe_path("a/../../b")
    assert "relative to the root" in caught.value.hint


def test_locations_sort_by_line_as_a_number() -> None:
    unsorted = [Location("b", 1), Location("a", 10), Location("a", 9)]
    assert [str(location) for location in sorted(unsorted)] == ["a:9", "a:10", "b:1"]


def test_a_line_number_beyond_all_files_is_no_range() -> None:
    with pytest.raises(AnnotateError, match="names no source"):
        parse_reference(f"README.md#L{'9' * 5000}")
