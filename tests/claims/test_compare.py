"""Comparing texts: what counts as the same, as another layout, and as other code."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.claims.compare import (
    Expected,
    compare,
    compare_lines,
    in_words,
    lines_within,
    margin,
    shown_lines,
    unified_diff,
    with_lines,
)
from annotate.location import Location
from annotate.records import Record
from annotate.upstream import syntax
from annotate.verdict import Verdict

CODE = 'def f(x):\n    """Says.\n\n    # not a comment\n    """\n    # one\n    return x + 1  # two'


def record_of(text: str) -> Record:
    prints = syntax.text_fingerprint(text), syntax.token_fingerprint(text)
    return Record("m.py", "f", *prints, "1" * 40, {}, (), Location("r.toml", 1))


@pytest.mark.parametrize(
    ("quoted", "verdict"),
    [
        (CODE, Verdict.EXACT),
        (f"\n{CODE}\n\n", Verdict.EXACT),
        (CODE.replace("\n", "\r\n"), Verdict.EXACT),
        ("\t" + CODE.replace("\n", "\n\t"), Verdict.EXACT),
        (CODE.replace("  # two", ""), Verdict.REFORMATTED),
        (CODE.replace("# one", "# other"), Verdict.REFORMATTED),
        (CODE.replace("x + 1", "x+1"), Verdict.REFORMATTED),
        (CODE.replace("x + 1", "(x + 1)"), Verdict.EDITED),
        (CODE.replace("# not a", "# no"), Verdict.EDITED),
        (CODE.replace("Says.", "Says. "), Verdict.EDITED),
        (CODE.replace("x + 1", "x + 1 "), Verdict.REFORMATTED),
        (CODE.replace("    return", "return"), Verdict.EDITED),
        (CODE.replace("1", "2"), Verdict.EDITED),
        (f"{CODE}\n    pass", Verdict.EDITED),
        ("", Verdict.EDITED),
        ("# only a comment", Verdict.EDITED),
    ],
)
def test_verdicts(quoted: str, verdict: Verdict) -> None:
    assert compare(Expected.of_text(quoted), CODE) is verdict
    # The same of a record, whose text is not at hand.
    assert compare(Expected.of_record(record_of(quoted)), CODE) is verdict


@pytest.mark.parametrize("pair", [("", "# a"), ("# a", "# b"), ("# a", "#  a")])
def test_comments_alone_are_never_just_another_layout(pair: tuple[str, str]) -> None:
    assert compare(Expected.of_text(pair[0]), pair[1]) is Verdict.EDITED
    assert compare_lines(pair[0], f"x = 1\n{pair[1]}\ny = 2", (2, 2)) is Verdict.EDITED


@pytest.mark.parametrize(
    ("quoted", "text", "verdict"),
    [
        ("one two", "one two", Verdict.EXACT),
        ("one  two ", "one two", Verdict.REFORMATTED),
        ("one\n\ntwo", "one\ntwo", Verdict.REFORMATTED),
        ("one two", "one\ntwo", Verdict.EDITED),
        ("a:\n  b: 1\nc: 1", "a:\n  b: 1\n  c: 1", Verdict.EDITED),
        ("one # two", "one", Verdict.EDITED),
    ],
)
def test_words_of_what_is_no_python(quoted: str, text: str, verdict: Verdict) -> None:
    assert compare(Expected.of_text(quoted), text, python=False) is verdict


@pytest.mark.parametrize(
    ("quoted", "lines", "verdict"),
    [
        ("# not a comment", (4, 4), Verdict.EXACT),
        ("# not a  comment", (4, 4), Verdict.EDITED),
        ("# no comment", (4, 4), Verdict.EDITED),
        ("# not a comment\n    ", (3, 4), Verdict.EXACT),
        ('# not a comment\n"""  # really', (4, 5), Verdict.REFORMATTED),
        ("return x+1", (7, 7), Verdict.REFORMATTED),
        ("# other\nreturn x + 1", (6, 7), Verdict.REFORMATTED),
        ("# other", (6, 6), Verdict.EDITED),
        ("return x", (7, 7), Verdict.EDITED),
        ("    return x + 1  # two", (7, 7), Verdict.EXACT),
        ("pass", (3, 3), Verdict.EDITED),
    ],
)
def test_lines_in_their_place(quoted: str, lines: tuple[int, int], verdict: Verdict) -> None:
    assert compare_lines(quoted, CODE, lines) is verdict


def test_lines_put_in_keep_their_place() -> None:
    assert with_lines("a\n  b\n\n  c\nd", (2, 4), "x\n y") == "a\n  x\n   y\nd"
    assert with_lines("a\n\n  b\n\nc", (2, 4), "x") == "a\n\n  x\n\nc"
    assert with_lines("a\n\nb", (2, 2), "x") == "a\nx\nb"


def test_lines_within() -> None:
    text = "def f():\n    a\n    b\n\n    a\n    b"
    assert lines_within("a\nb", text) == [(2, 3), (5, 6)]
    assert lines_within("a", text) == [(2, 2), (5, 5)]
    assert lines_within("b\n\na", text) == [(3, 5)]
    assert lines_within("a\n b", text) == []
    assert lines_within(f"{text}\n", text) == []


def test_diffs_have_no_end_of_line_at_their_end() -> None:
    assert unified_diff("a\nb", "a\nc", "old", "new") == (
        "--- old\n+++ new\n@@ -1,2 +1,2 @@\n a\n-b\n+c"
    )
    assert unified_diff("a", "a", "old", "new") == ""


def test_lines_in_words() -> None:
    assert (shown_lines((2, 2)), shown_lines((2, 3))) == ("2", "2-3")
    assert (in_words((2, 2)), in_words((2, 3))) == ("line 2", "lines 2-3")


def test_margins() -> None:
    assert margin(["  a", "", "   b", "\t"]) == "  "
    assert margin(["\ta", "  b"]) == ""
    assert margin(["> > a", "> b"], " >") == "> "
    assert margin([]) == ""


LINES = st.lists(
    st.sampled_from(["x = 1", "    y", "", "  # c", "'''", "\tz", "f(", ")"]), min_size=1
)


@given(LINES, st.data())
def test_quoting_any_lines_literally_is_exact(lines: list[str], data: st.DataObject) -> None:
    first = data.draw(st.integers(1, len(lines)))
    last = data.draw(st.integers(first, len(lines)))
    whole = "\n".join(lines)
    part = "\n".join(lines[first - 1 : last])
    assert compare_lines(part, whole, (first, last)) is Verdict.EXACT
    replaced = with_lines(whole, (first, last), part)
    assert syntax.token_fingerprint(replaced) == syntax.token_fingerprint(whole)
    if part.strip():
        height = syntax.canonical(part).count("\n") + 1
        assert all(end - start + 1 == height for start, end in lines_within(part, whole))
