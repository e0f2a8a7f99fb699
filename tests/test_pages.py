"""Pages → blocks: where they stand, what is in them, and what is none.

What a block claims is tried in ``claims/cases``; here are positions and invariants.
"""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from annotate.errors import AnnotateError, Exit
from annotate.pages import Block, blocks, read_page

FENCE = "```"
CLAIM = '```{.python source="a.py::f"}'


def only(text: str) -> Block:
    (block,) = blocks(text)
    return block


def test_a_fence_and_its_lines() -> None:
    block = only(f"prose\n\n{CLAIM}\nx = 1\n\ny = 2\n{FENCE}\nprose")
    assert (block.form, block.language) == ("fence", "python")
    assert block.attributes == {"source": "a.py::f"}
    assert block.text == "x = 1\n\ny = 2"
    assert (block.first_line, block.text_line, block.last_line) == (3, 4, 7)


def test_an_empty_fence() -> None:
    block = only(f"{CLAIM}\n{FENCE}")
    assert block.text == ""
    assert (block.first_line, block.last_line) == (1, 2)


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("~~~\n```\n~~~", "```"),
        ("````\n```\n````", "```"),
        ("```\n``\n```", "``"),
        ("```\n```x\n```", "```x"),
        ("```\na\n````", "a"),
        ("```\na\n  ```  ", "a"),
        ("```\n    ```\n```", "    ```"),
        ("```\n\t```\n```", "\t```"),
        ("  ```\n  a\n b\nc\n  ```", "a\nb\nc"),
        ("  ```\n    a\n```", "  a"),
        ("- ```\n  a\n  ```", "a"),
        ("1. ```\n   a\n\n     b\n   ```", "a\n\n  b"),
        ("> ```\n> a\n>   b\n>\n> ```", "a\n  b\n"),
        (">```\n>a\n> b\n>```", "a\nb"),
        ("> > ```\n> > a\n>> b\n> > ```", "a\nb"),
        ("```\n> ```\n```", "> ```"),
        ("-\t```\n\ta\n\t```", "a"),
        ("- x\n\n\t```\n    a\n\t\tb\n\t```", "a\n\tb"),
    ],
)
def test_content(text: str, content: str) -> None:
    block = only(text)
    assert not block.problem
    assert block.text == content


@pytest.mark.parametrize(
    "text",
    [
        "``\nx\n``",
        "``` a`b",
        "prose ```\nx",
        f"    {CLAIM}\n    {FENCE}",
        f"\t{CLAIM}\n\t{FENCE}",
        f"prose\n\n    {CLAIM}\n    {FENCE}",
        f"- x\n\nprose\n\n    {CLAIM}\n    {FENCE}",
        f"- x\n\n        {CLAIM}\n        {FENCE}",
        f"title\n===\n\n    {CLAIM}\n    {FENCE}",
        f"<!--\n{CLAIM}\n{FENCE}\n-->",
        f"<!-- {CLAIM}\n\n{FENCE} -->",
        f"<!---->\n<!-->\n<!--\n{CLAIM}\n{FENCE}\n-->",
        "[REAL SOURCES]\nFile: a\n\nx",
        "see [REAL SOURCE] below",
        "[REAL SOURCE] blocks are claims",
    ],
)
def test_what_is_no_block(text: str) -> None:
    assert blocks(text) == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (CLAIM, "never closed"),
        (f"{CLAIM}\nx\n\n", "never closed"),
        (f"> {CLAIM}\nprose", "never closed"),
        (f"- {CLAIM}\nprose\n", "never closed"),
        (f"!!! note\n\n    {CLAIM}\nprose\n", "never closed"),
        (f"{CLAIM.replace('}', ' title=`x`}')}\n{FENCE}", "open the fence with ~~~"),
    ],
)
def test_what_is_reported(text: str, problem: str) -> None:
    block = only(text)
    assert problem in block.problem
    assert block.attributes["source"] == "a.py::f"
    assert block.last_line <= len(text.rstrip("\n").split("\n"))


@pytest.mark.parametrize(
    "above",
    [
        "- ```\n  text\n",
        "- item\n\n  ```\n  text\n",
        "1. item\n   ```\n   text\n",
        "-\n  ```\n  text\n",
        "- item\nthat goes on\n\n    ```\n    text\n",
        "> ```\n> text\n",
        "!!! note\n\n    ```\n    text\n",
        "[^1]: note\n\n    ```\n    text\n",
    ],
)
def test_a_fence_that_is_never_closed_ends_with_its_container(above: str) -> None:
    unclosed, claim = blocks(f"{above}\n{CLAIM}\n{FENCE}\n")
    assert unclosed.problem == "the fence is never closed"
    assert (claim.attributes, claim.problem) == ({"source": "a.py::f"}, "")


def test_a_list_inside_a_fence_holds_nothing() -> None:
    assert len(blocks(f"```yaml\n- a\n```\n\n    {CLAIM}\n    {FENCE}\n")) == 1


def test_an_unclosed_comment_hides_nothing() -> None:
    assert len(blocks(f"<!-- x\n\n{CLAIM}\n{FENCE}\n")) == 1
    assert len(blocks(f"<!-- x -->\n{CLAIM}\n{FENCE}\n")) == 1
    assert len(blocks(f"<!-->\n{CLAIM}\n{FENCE}\n-->\n")) == 1
    assert len(blocks(f"`<!--`\n{CLAIM}\n{FENCE}\n`-->`\n")) == 1


def test_the_hand_written_form() -> None:
    block = only("[REAL SOURCE]\nFile: a.py\nSymbol: f\nCommit: 1\n\n  x = 1\n\n    y\n\nprose: z")
    assert (block.form, block.label) == ("labelled", "REAL SOURCE")
    assert block.attributes == {"file": "a.py", "symbol": "f", "commit": "1"}
    assert block.text == "  x = 1\n\n    y"
    assert (block.first_line, block.text_line, block.last_line) == (1, 6, 8)


def test_a_line_of_code_that_looks_like_a_header_is_code() -> None:
    block = only("[REAL SOURCE]\nFile: a.py\nSymbol: Rows\nRows: int = 3\n")
    assert block.text == "Rows: int = 3"


def test_a_hand_written_claim_does_not_swallow_the_claim_after_it() -> None:
    first, second = blocks(f"[REAL SOURCE]\nFile: a.py\nSymbol: f\n\n{CLAIM}\n{FENCE}\n")
    assert first.problem == "no code follows the header"
    assert first.last_line < second.first_line
    assert second.attributes == {"source": "a.py::f"}


@pytest.mark.parametrize("by", ["", "    ", "\t", "> ", ">     "])
def test_the_hand_written_form_may_be_indented_with_its_fence(by: str) -> None:
    lines = ["[REAL SOURCE]", "File: a", "Symbol: f", "", "```python", "def f():", "    x", "```"]
    block = only("\n".join(by + line for line in lines))
    assert (block.text, block.problem) == ("def f():\n    x", "")
    assert (block.text_line, block.last_line) == (6, 8)


def test_two_hand_written_claims_in_a_row() -> None:
    first, second = blocks(
        "[REAL SOURCE]\nFile: a\nSymbol: f\n\nx\n[REAL SOURCE]\nFile: b\nSymbol: g\n\ny\n"
    )
    assert (first.text, second.text) == ("x", "y")


def test_a_hand_written_claim_in_a_fence_is_not_the_code_of_the_one_above() -> None:
    inner = "[REAL SOURCE]\nFile: b\nSymbol: g\n\ny"
    first, second = blocks(f"[REAL SOURCE]\nFile: a\nSymbol: f\n\n```\n{inner}\n```\n")
    assert first.problem == "no code follows the header"
    assert (second.attributes, second.text) == ({"file": "b", "symbol": "g"}, "y")


# Reading


def page(tmp_path: Path, data: bytes) -> Path:
    file = tmp_path / "page.md"
    file.write_bytes(data)
    return file


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"a\nb\n", "a\nb\n"),
        (b"a\r\nb\n", "a\nb\n"),
        (b"\xef\xbb\xbfa\n", "a\n"),
        (b"", ""),
        ("a\x0cb\u2028c\x85d\n".encode(), "a\x0cb\u2028c\x85d\n"),
    ],
)
def test_reading(tmp_path: Path, data: bytes, text: str) -> None:
    assert read_page(page(tmp_path, data), "page.md") == text


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a\n\xff\n", r"page\.md:2 is not UTF-8 \(byte 2\)"),
        ("a\n".encode("utf-16"), r"page\.md:1 is not UTF-8"),
        (b"a\nb\rc\n", r"page\.md:2 has a carriage return"),
        (b"a\rb\r", r"page\.md:1 has a carriage return"),
        (b"a\r\r\n", r"page\.md:1 has a carriage return"),
    ],
)
def test_what_cannot_be_read(tmp_path: Path, data: bytes, message: str) -> None:
    with pytest.raises(AnnotateError, match=message) as caught:
        read_page(page(tmp_path, data), "page.md")
    assert caught.value.hint
    assert caught.value.exit_code is Exit.USAGE


def test_a_page_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(AnnotateError, match=r"page\.md cannot be read: No such file") as caught:
        read_page(tmp_path / "page.md", "page.md")
    assert caught.value.hint


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is unreadable to the superuser")
def test_a_page_that_may_not_be_read(tmp_path: Path) -> None:
    file = page(tmp_path, b"")
    file.chmod(0)
    with pytest.raises(AnnotateError, match="Permission denied"):
        read_page(file, "page.md")


# Invariants

INDENTS = st.sampled_from(["", "  ", "    ", "\t", "> ", ">", "- ", "1. ", "> - ", "        "])
CONTENTS = st.sampled_from(
    [
        *(
            "",
            "x",
            "```",
            "~~~",
            "````",
            CLAIM,
            "```python",
            '```{.python source="a',
            "-->",
            "<!--",
        ),
        *(
            "[REAL SOURCE]",
            "[EXPERIMENT]",
            "File: a.py",
            "Symbol: f",
            "def f():",
            "!!! note",
            "===",
        ),
    ]
)
LINES = st.lists(st.tuples(INDENTS, CONTENTS).map("".join), max_size=25)


@given(LINES)
def test_blocks_are_in_order_and_never_overlap(lines: list[str]) -> None:
    end = 0
    for block in blocks("\n".join(lines)):
        assert end < block.first_line <= block.last_line <= len(lines)
        end = block.last_line


@given(LINES)
def test_positions_point_at_the_fence_and_at_its_text(lines: list[str]) -> None:
    for block in blocks("\n".join(lines)):
        opening = lines[block.first_line - 1].lstrip(" \t>-1.")
        assert opening.startswith(("```", "~~~", "[REAL SOURCE]", "[EXPERIMENT]"))
        if not block.text:
            continue
        text = block.text.split("\n")
        shown = lines[block.text_line - 1 : block.text_line - 1 + len(text)]
        assert block.first_line < block.text_line
        assert block.text_line + len(text) - 1 <= block.last_line
        for line, raw in zip(text, shown, strict=True):
            # Only a container's prefix is taken off, and a tab in it may leave blanks.
            assert raw.endswith(line.lstrip(" "))


SIMPLE_INDENTS = st.sampled_from(["", "", "> ", ">", " ", "   ", "    "])
SIMPLE_CONTENTS = st.sampled_from(
    ["", "x", "`x`", "# h", "```", "```python", "``` a", "~~~", "````", "~~~~", "``` `a`"]
)


@given(st.lists(st.tuples(SIMPLE_INDENTS, SIMPLE_CONTENTS).map("".join), max_size=12))
def test_fences_are_those_of_commonmark(lines: list[str]) -> None:
    """At the margin and in block quotes; in lists Python-Markdown has rules of its own."""
    text = "\n".join(lines)
    expected = [
        (token.map[0] + 1, token.content.rstrip("\n "))
        for token in MarkdownIt("commonmark").parse(text)
        if token.type == "fence" and token.map
    ]
    assert [(block.first_line, block.text.rstrip("\n ")) for block in blocks(text)] == expected


@given(LINES)
def test_no_claim_is_lost(lines: list[str]) -> None:
    """Every opening line of a claim is a block's, or stands inside of one, or is no fence."""
    found = blocks("\n".join(lines))
    for number, line in enumerate(lines, 1):
        if line == CLAIM and not any(b.first_line <= number <= b.last_line for b in found):
            # At the margin only a comment hides it.
            assert any(above.lstrip(" ").startswith("<!--") for above in lines[:number])


@given(st.lists(CONTENTS, max_size=10), st.integers(0, 3), st.sampled_from("`~"))
def test_what_a_longer_fence_shows_is_no_claim(lines: list[str], more: int, mark: str) -> None:
    longest = max((len(line) - len(line.lstrip(mark)) for line in lines), default=0)
    fence = mark * max(longest + 1 + more, 4)
    text = "\n".join(lines)
    block = only(f"{fence}markdown\n{text}\n{fence}")
    assert block.text == text
    assert (block.form, block.attributes, block.problem) == ("fence", {}, "")


@given(
    st.lists(st.sampled_from(["def f():", "    x = 1", "", "\treturn", "# é"]), max_size=6),
    st.sampled_from(["- ", "1. ", "   ", "> ", "> > ", "> - ", "!!! note\n\n    ", "-\t"]),
)
def test_a_container_adds_nothing_to_the_text(lines: list[str], container: str) -> None:
    *above, opening = container.split("\n")
    prefix = "".join(" " if mark in "-1." else mark for mark in opening)
    body = [prefix + line if line else prefix.rstrip() for line in [*lines, FENCE]]
    block = only("\n".join([*above, opening + CLAIM, *body]))
    assert not block.problem
    assert block.text.split("\n") == (lines or [""])
