"""Ranges of lines between two trees: in definitions, in any text, and in other files."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.errors import AnnotateError
from annotate.upstream.moves import Facts, Move, Moves, Ranges
from annotate.upstream.store import Store
from tests.upstream.moves.trees import tree

README = """\
# Shapes

Shapes has squares and circles.
Install it with the usual tool.

## Usage

Make a square, then ask for its area.
Make a circle, then ask for its girth.
"""

CODE = """\
def area(width, height):
    size = width * height
    if size < 0:
        raise ValueError(size)
    return size


def girth(width, height):
    return 2 * (width + height)
"""


@pytest.fixture
def facts(store: Store) -> Facts:
    return Facts(store)


def where(old: dict[str, str], new: dict[str, str], source: str, facts: Facts) -> Move:
    path, _, lines = source.partition("#")
    first, _, last = lines.partition("-")
    return Ranges(Moves(tree(old), tree(new), facts)).of(path, int(first), int(last))


def answer(move: Move) -> tuple[str, str]:
    return move.verdict.value, move.new.id if move.new else ""


def test_the_same_file(facts: Facts) -> None:
    move = where({"a.md": README}, {"a.md": README}, "a.md#3-4", facts)
    assert answer(move) == ("unchanged", "a.md#L3-L4")
    assert move.confidence == 1.0


def test_lines_put_before(facts: Facts) -> None:
    move = where({"a.md": README}, {"a.md": f"Notice.\n\n{README}"}, "a.md#3-4", facts)
    assert answer(move) == ("moved", "a.md#L5-L6")


def test_an_edit_elsewhere_in_the_file(facts: Facts) -> None:
    new = README.replace("## Usage", "## How to use it")
    assert answer(where({"a.md": README}, {"a.md": new}, "a.md#3-4", facts)) == (
        "unchanged",
        "a.md#L3-L4",
    )


def test_an_edit_within(facts: Facts) -> None:
    new = README.replace("squares and circles", "squares, circles and stars")
    move = where({"a.md": README}, {"a.md": new}, "a.md#3-4", facts)
    assert answer(move) == ("edited", "a.md#L3-L4")
    assert 0.5 < move.confidence < 1


def test_a_renamed_file(facts: Facts) -> None:
    move = where({"README": README}, {"docs/index.md": README}, "README#8-9", facts)
    assert answer(move) == ("moved-to-file", "docs/index.md#L8-L9")


def test_a_paragraph_that_moved_to_another_file(facts: Facts) -> None:
    head, tail = README.split("## Usage\n")
    old = {"a.md": README, "b.md": "# More\n\nNothing yet.\n"}
    new = {"a.md": head, "b.md": f"# More\n\n{tail}"}
    assert answer(where(old, new, "a.md#8-9", facts)) == ("moved-to-file", "b.md#L4-L5")


def test_a_paragraph_that_moved_within_the_file(facts: Facts) -> None:
    lines = README.splitlines(keepends=True)
    new = "".join([*lines[5:], "\n", *lines[:5]])
    assert answer(where({"a.md": README}, {"a.md": new}, "a.md#3-4", facts)) == (
        "moved",
        "a.md#L8-L9",
    )


def test_a_paragraph_that_is_now_in_two_files_is_ambiguous(facts: Facts) -> None:
    head, tail = README.split("## Usage\n")
    new = {"a.md": head, "b.md": tail, "c.md": tail}
    move = where({"a.md": README}, new, "a.md#8-9", facts)
    assert answer(move) == ("ambiguous", "")
    assert {site.path for site in move.candidates} == {"b.md", "c.md"}


def test_a_paragraph_that_is_gone(facts: Facts) -> None:
    new = README.partition("## Usage")[0]
    assert answer(where({"a.md": README}, {"a.md": new}, "a.md#8-9", facts)) == ("deleted", "")


def test_short_lines_are_not_looked_for_elsewhere(facts: Facts) -> None:
    old = {"a.txt": "one\n}\ntwo\n"}
    new = {"a.txt": "one\ntwo\n", "b.txt": "}\n"}
    assert answer(where(old, new, "a.txt#2-2", facts)) == ("deleted", "")


def test_lines_follow_their_definition_to_another_file(facts: Facts) -> None:
    head, tail = CODE.split("\n\n\n")
    new = {"a.py": tail, "b.py": f"import os\n\n\n{head}\n"}
    move = where({"a.py": CODE}, new, "a.py#3-4", facts)
    assert answer(move) == ("moved-to-file", "b.py#L6-L7")
    assert "b.py::area" in move.reason


def test_a_whole_definition(facts: Facts) -> None:
    new = CODE.replace("girth", "perimeter")
    assert answer(where({"a.py": CODE}, {"a.py": f"X = 1\n{new}"}, "a.py#8-9", facts)) == (
        "edited",
        "a.py#L9-L10",
    )


def test_lines_that_left_their_definition(facts: Facts) -> None:
    new = CODE.replace(
        "    if size < 0:\n        raise ValueError(size)\n", "    refuse(size)\n"
    ).replace(
        "\n\n\ndef girth",
        "\n\n\ndef refuse(size):\n    if size < 0:\n        raise ValueError(size)\n\n\ndef girth",
    )
    assert answer(where({"a.py": CODE}, {"a.py": new}, "a.py#3-4", facts)) == (
        "moved",
        "a.py#L8-L9",
    )


def test_backwards(facts: Facts) -> None:
    new = f"Notice.\n\n{README}"
    assert answer(where({"a.md": new}, {"a.md": README}, "a.md#5-6", facts)) == (
        "moved",
        "a.md#L3-L4",
    )


def test_line_ends_of_another_system(facts: Facts) -> None:
    new = README.replace("\n", "\r\n")
    assert answer(where({"a.md": README}, {"a.md": new}, "a.md#3-4", facts)) == (
        "unchanged",
        "a.md#L3-L4",
    )


def test_a_file_that_cannot_be_read_any_more(facts: Facts) -> None:
    move = where({"a.md": README}, {"a.md": "x\0y"}, "a.md#3-4", facts)
    assert answer(move) == ("unverifiable", "")


@pytest.mark.parametrize("source", ["b.md#1-1", "a.md#9-12"])
def test_what_the_old_tree_does_not_have(source: str, facts: Facts) -> None:
    with pytest.raises(AnnotateError, match=r"no file b\.md|has 9 lines"):
        where({"a.md": README}, {"a.md": README}, source, facts)


WORDS = st.text(alphabet="abcdefghij ", min_size=1, max_size=30).map(str.strip)


@given(lines=st.lists(WORDS, min_size=2, max_size=10, unique=True), data=st.data())
def test_there_and_back(
    lines: list[str], data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    facts = Facts(Store(tmp_path_factory.getbasetemp() / "there-and-back"))
    old = {"a.txt": "\n".join(lines) + "\n"}
    before = data.draw(st.lists(WORDS, min_size=1, max_size=3))
    new = {"a.txt": "\n".join([*before, *lines]) + "\n"}
    first = data.draw(st.integers(1, len(lines)))
    last = data.draw(st.integers(first, len(lines)))
    there = Ranges(Moves(tree(old), tree(new), facts)).of("a.txt", first, last)
    if there.new is not None and there.text == "same":
        back = Ranges(Moves(tree(new), tree(old), facts))
        home = back.of("a.txt", there.new.first_line, there.new.last_line)
        assert home.new is None or (home.new.first_line, home.new.last_line) == (first, last)
