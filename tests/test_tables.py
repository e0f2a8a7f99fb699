"""Hand-written tables: which rows are about symbols."""

from annotate.pages import blocks
from annotate.tables import Row, rows


def rows_of(text: str) -> list[Row]:
    return rows(text, blocks(text))


def test_markdown_with_headings() -> None:
    text = "| Symbol | Called by | Calls |\n|---|:--:|---|\n| `a/b.py :: f` | `g` | h, i |\n"
    assert rows_of(text) == [
        Row(3, "a/b.py", "f", ("`g`", "h, i"), ("Called by", "Calls")),
    ]


def test_tab_separated_text_with_headings() -> None:
    text = "File / symbol\t谁调用\t它调用谁\nkettle.lid :: Lid.lift\tmain\tsteam\n\nother\ttext\n"
    assert rows_of(text) == [
        Row(2, "kettle.lid", "Lid.lift", ("main", "steam"), ("谁调用", "它调用谁")),
    ]


def test_headings_end_with_their_table() -> None:
    text = "| Symbol | Calls |\n|---|---|\n| a.py::f | g |\n\nprose\n\n| a.py::h | g |\n"
    assert [row.headings for row in rows_of(text)] == [("Calls",), ()]


def test_a_pipe_in_a_cell_is_no_border() -> None:
    (row,) = rows_of("| a.py::f | x \\| y | z |\n")
    assert row.cells == ("x | y", "z")


def test_registrations_and_second_definitions_are_symbols() -> None:
    text = "| a.py::rule(np.exp) | x |\n| `a.py::f#2` | y |\n"
    assert [row.symbol for row in rows_of(text)] == ["rule(np.exp)", "f#2"]


def test_what_is_in_a_fence_or_is_prose_is_no_row() -> None:
    text = "```text\n| a.py::f | g |\n```\n\nWrite a.py::f, or | so.\n\n| see a.py::f there | x |\n"
    assert rows_of(text) == []
