"""Lines of one text in another: alignment, and ranges carried along."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.upstream.moves.lines import Carried, align, carry
from annotate.upstream.moves.move import TextChange

LINES = st.lists(st.sampled_from(["", "    a = 1", "b(c)", "return d", "x", ")"]), max_size=12)

OLD = """\
def area(width, height):
    check(width)
    check(height)
    size = width * height
    return size

def other():
    return 0
""".splitlines()


def carried(new: list[str], first: int, last: int) -> tuple[int, int, str] | None:
    found = carry(OLD, new, first, last)
    return (found.first, found.last, found.text.value) if found else None


class TestAlign:
    @given(LINES)
    def test_a_text_is_itself(self, lines: list[str]) -> None:
        spans = align(lines, lines)
        assert [(span.first, span.last) for span in spans if span] == [
            (number, number) for number in range(len(lines))
        ]

    @given(LINES, LINES)
    def test_lines_stay_in_order(self, old: list[str], new: list[str]) -> None:
        last = 0
        for span in align(old, new):
            if span is not None:
                assert last <= span.first <= span.last < len(new)
                last = span.last

    @given(LINES, LINES)
    def test_full_similarity_is_equality(self, old: list[str], new: list[str]) -> None:
        for line, span in zip(old, align(old, new), strict=True):
            if span is not None and span.similarity == 1.0:
                assert new[span.first : span.last + 1] == [line]

    def test_unique_lines_anchor_the_others(self) -> None:
        old = ["{", "one", "}", "{", "two", "}"]
        new = ["{", "two", "}"]
        places = [span.first if span else None for span in align(old, new)]
        assert places[4] == 1
        assert places[1] is None

    def test_a_line_broken_in_three(self) -> None:
        old = ["before", "call(first, second)", "after"]
        new = ["before", "call(", "    first, second,", ")", "after"]
        span = align(old, new)[1]
        assert span is not None
        assert (span.first, span.last) == (1, 3)


class TestCarry:
    @given(LINES.filter(bool), st.data())
    def test_within_the_same_text(self, lines: list[str], data: st.DataObject) -> None:
        first = data.draw(st.integers(1, len(lines)))
        last = data.draw(st.integers(first, len(lines)))
        assert carry(lines, lines, first, last) == Carried(first, last, TextChange.SAME, 1.0, True)

    @given(st.integers(1, 7), st.data())
    def test_through_lines_put_before_and_back(self, first: int, data: st.DataObject) -> None:
        last = data.draw(st.integers(first, 8))
        if not (OLD[first - 1] and OLD[last - 1]):
            return
        new = ["import os", "", *OLD]
        there = carry(OLD, new, first, last)
        assert there is not None
        assert (there.first, there.last, there.text) == (first + 2, last + 2, TextChange.SAME)
        back = carry(new, OLD, there.first, there.last)
        assert back is not None
        assert (back.first, back.last) == (first, last)

    def test_what_is_put_in_between_belongs_to_it(self) -> None:
        new = [*OLD[:2], "    log(width)", *OLD[2:]]
        assert carried(new, 2, 3) == (2, 4, "edited")

    def test_what_is_put_at_its_ends_does_not(self) -> None:
        new = [OLD[0], "    log(width)", *OLD[1:3], "    log(height)", *OLD[3:]]
        assert carried(new, 2, 3) == (3, 4, "same")

    def test_a_changed_first_line(self) -> None:
        new = ["def area(width, height, unit=1):", *OLD[1:]]
        assert carried(new, 1, 5) == (1, 5, "edited")

    def test_a_first_line_with_another_in_its_place(self) -> None:
        new = [OLD[0], "    assert width > 0", *OLD[2:]]
        assert carried(new, 2, 4) == (2, 4, "edited")

    def test_a_last_line_that_is_gone(self) -> None:
        assert carried([*OLD[:3], *OLD[4:]], 2, 4) == (2, 3, "edited")

    def test_another_indentation_is_the_same_text(self) -> None:
        new = ["class Shape:", *(f"    {line}" if line else "" for line in OLD)]
        assert carried(new, 2, 4) == (3, 5, "same")

    def test_other_blanks_are_another_layout(self) -> None:
        new = [line.replace("width * height", "width*height") for line in OLD]
        assert carried(new, 4, 5) == (4, 5, "reformatted")

    def test_blank_lines_at_the_end_go_with_the_rest(self) -> None:
        new = [*OLD[:5], "", "", "def new():", "    return 1", "", *OLD[6:]]
        assert carried(new, 4, 6) == (4, 6, "same")

    def test_most_of_it_gone(self) -> None:
        assert carried([OLD[0], OLD[4], *OLD[5:]], 2, 5) is None

    def test_only_blank_lines(self) -> None:
        assert carry(["", "a"], ["", "a"], 1, 1) == Carried(1, 1, TextChange.SAME, 1.0, True)

    @pytest.mark.parametrize("count", [3, 400])
    def test_equal_lines_without_an_anchor(self, count: int) -> None:
        old = ["x += 1"] * count
        found = carry(old, [*old, "y"], 2, count)
        assert found is not None
        assert found.last - found.first == count - 2
