"""Decoding, parsing within bounds, tokens, and the fingerprints made of them."""

import ast
import codecs
import hashlib
import re
from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.errors import AnnotateError, Exit
from annotate.upstream import decoding, syntax
from annotate.upstream.syntax import (
    Node,
    Token,
    canonical,
    decode,
    decode_text,
    parse,
    text_fingerprint,
    token_fingerprint,
    tokens,
)
from annotate.upstream.tree import MAX_FILE_BYTES


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", ""),
        ("x = 'é'\n".encode(), "x = 'é'\n"),
        (b"a\r\nb\nc\r\n", "a\nb\nc\n"),
        (codecs.BOM_UTF8 + b"x", "x"),
        (codecs.BOM_UTF8 + b"# coding: utf-8\nx", "# coding: utf-8\nx"),
        (b"# coding: latin-1\n\xe9", "# coding: latin-1\né"),
        (b"# -*- coding: iso-8859-1 -*-\n\xe9", "# -*- coding: iso-8859-1 -*-\né"),
        (b"# vim: set fileencoding=l1 :\n\xe9", "# vim: set fileencoding=l1 :\né"),
        (b"# coding: latin-1-unix\n\xe9", "# coding: latin-1-unix\né"),
        (b"# coding: CP819\n\xe9", "# coding: CP819\né"),
        (b"# coding: us-ascii\nx", "# coding: us-ascii\nx"),
        (b"# coding: UTF-8-dos\n\xc3\xa9", "# coding: UTF-8-dos\né"),
        (b"# coding: utf_8\n\xc3\xa9", "# coding: utf_8\né"),
        (b"#!python\r\n# coding: latin-1\r\n\xe9", "#!python\n# coding: latin-1\né"),
        (b"\n \f# coding: latin-1\n\xe9", "\n \f# coding: latin-1\né"),
        (b"# \xe9 coding: latin-1\n", "# é coding: latin-1\n"),
        (b"x = 1\n# coding: koi8-r\n", "x = 1\n# coding: koi8-r\n"),
        (b"#\n#\n# coding: koi8-r\n", "#\n#\n# coding: koi8-r\n"),
        (b"s = '# coding: koi8-r'\n", "s = '# coding: koi8-r'\n"),
        (b"# encoding is koi8-r\n", "# encoding is koi8-r\n"),
    ],
)
def test_decode(data: bytes, text: str) -> None:
    assert decode(data) == text


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"ok\nx = '\xe9'\n", "line 2: byte 0xe9 is not utf-8"),
        (b"# coding: ascii\n\n# \xc3\xa9\n", "line 3: byte 0xc3 is not ascii"),
        (b"a\nb\0c\n", "line 2: a NUL character"),
        (b"a\r\nb\rc\r\n", "line 2: a carriage return that ends no line"),
        (b"a\r\r\nb", "line 1: a carriage return that ends no line"),
        (b"#\n# coding: koi8-r\n", "line 2: the declared encoding koi8-r is not read"),
        (b"# coding: utf-7\n", "line 1: the declared encoding utf-7 is not read"),
        (b"# coding: unicode_escape\n", "line 1: the declared encoding unicode_escape is not read"),
        (b"# coding: iso-8859-15\n", "line 1: the declared encoding iso-8859-15 is not read"),
        (b"# coding: rot13\n", "line 1: the declared encoding rot13 is not read"),
        (b"# coding: no-such\n", "line 1: the declared encoding no-such is not read"),
        (
            codecs.BOM_UTF8 + b"\n# coding: latin-1\n",
            "line 2: a UTF-8 byte order mark, yet a declared encoding iso8859-1",
        ),
        (
            b"#" * (MAX_FILE_BYTES + 1),
            "2,000,001 bytes; files over 2,000,000 are not read",
        ),
    ],
)
def test_decode_refuses(data: bytes, message: str) -> None:
    with pytest.raises(AnnotateError) as caught:
        decode(data)
    assert caught.value.message == message
    assert caught.value.exit_code == Exit.NOTHING_JUDGED


def test_the_largest_file_is_read() -> None:
    assert len(decode(b"#" * MAX_FILE_BYTES)) == MAX_FILE_BYTES


@given(st.binary(max_size=200))
def test_decode_agrees_with_python(data: bytes) -> None:
    """What is read is what Python would have read."""
    try:
        text = decode(data)
    except AnnotateError:
        return
    assert text == data.removeprefix(codecs.BOM_UTF8).decode().replace("\r\n", "\n")
    assert "\r" not in text
    assert "\0" not in text


def test_other_text_needs_no_cookie_and_no_indentation() -> None:
    deep = "".join(f"{' ' * level}x\n" for level in range(200))
    assert decode_text(b"# coding: koi8-r\r\n\xc3\xa9") == "# coding: koi8-r\né"
    assert decode_text(codecs.BOM_UTF8 + b"x") == "x"
    assert decode_text(deep.encode()) == deep


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"# coding: latin-1\n\xe9", "line 2: byte 0xe9 is not utf-8"),
        (b"a\0", "line 1: a NUL character"),
        (b"a\rb", "line 1: a carriage return that ends no line"),
        (b"#" * (MAX_FILE_BYTES + 1), "2,000,001 bytes; files over 2,000,000 are not read"),
    ],
)
def test_other_text_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(AnnotateError) as caught:
        decode_text(data)
    assert caught.value.message == message
    assert caught.value.exit_code == Exit.NOTHING_JUDGED


def staircase(levels: int, indent: str = " ", line: str = "if x:") -> str:
    return "".join(f"{indent * level}{line}\n" for level in range(levels + 1))


def lone_continuations(levels: int) -> str:
    """Each level's blanks spread over continuation lines, which the grammar's scanner adds up."""
    line = " " * 9 + "\\\n"
    return "".join(
        line * (level // 9) + " " * (level % 9) + "if x:\n" for level in range(levels + 1)
    )


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(staircase(101), id="spaces"),
        pytest.param(staircase(101, "\t"), id="tabs"),
        pytest.param(
            "".join(" " * (n % 8) + "\t" * (n // 8) + "if x:\n" for n in range(120)),
            id="blanks before tabs, which the scanner does not round",
        ),
        pytest.param("".join(f"\r{' ' * n}if x:\n" for n in range(120)), id="behind returns"),
        pytest.param(staircase(101, line="if '''\n''':"), id="strings that come back to column 0"),
        pytest.param(staircase(101, line="if [\n]:"), id="brackets that come back to column 0"),
        pytest.param(lone_continuations(101), id="continuation lines"),
        pytest.param("".join(f"{' ' * (n + 99)}if x:\n" for n in range(110)), id="all far in"),
        pytest.param(f"if x:\n{' ' * 70_000}pass\n", id="wider than the scanner can hold"),
    ],
)
def test_indentation_that_would_crash_the_parser_is_refused(text: str) -> None:
    for judge in (parse, tokens, token_fingerprint):
        with pytest.raises(
            AnnotateError, match=r"^line \d+: (more than 100|indented by more)"
        ) as caught:
            judge(text)
        assert caught.value.exit_code == Exit.NOTHING_JUDGED


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(staircase(100), id="as deep as Python goes"),
        pytest.param(staircase(100, "\t"), id="with tabs"),
        pytest.param(staircase(80) * 3, id="again and again"),
        pytest.param(f"x = [\n{' ' * 9000}1]\n", id="one far line"),
    ],
)
def test_deep_indentation_is_read(text: str) -> None:
    assert not decoding.lone_continuations(text)
    assert tokens(text)
    assert decode(text.encode()) == text


def test_continuation_lines_are_quick_to_look_at() -> None:
    """Not quadratic: this many would take minutes."""
    for text in ("\\\n" * 300_000, "\\\n" * 300_000 + "\n", " \\\n\n" * 100_000):
        assert len(decoding.lone_continuations(text)) >= 100_000
        decoding.refuse_indentation(text)


def test_parsing_is_given_up_when_it_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "x = 1\n" * 1000
    monkeypatch.setattr(syntax, "MAX_PARSE_SECONDS", -1.0)
    with pytest.raises(AnnotateError, match="parsing was given up") as caught:
        parse(text)
    assert caught.value.exit_code == Exit.NOTHING_JUDGED
    monkeypatch.undo()
    assert not parse(text).root_node.has_error


def test_parsing_reads_past_the_first_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "def f(): return 'é'\n" * 50
    whole = [token.text for token in tokens(text)]
    monkeypatch.setattr(syntax, "_READ_BYTES", 7)
    assert [token.text for token in tokens(text)] == whole


STRUCTURE = {"newline": "↵", "indent": "→", "dedent": "←"}


def shown(text: str) -> str:
    """The tokens without comments: texts, and an arrow for each mark of structure."""
    return " ".join(
        STRUCTURE.get(token.kind, token.text) for token in tokens(text) if token.kind != "comment"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("\n \\\n\n# c\n", ""),
        ("x", "x ↵"),
        ("if a:\n    b\n    c\nd\n", "if a : ↵ → b ↵ c ↵ ← d ↵"),
        ("if a: b; c\nd", "if a : ↵ → b ↵ c ↵ ← d ↵"),
        ("if a:  # c\n# c\n\n  b;\n  # c\n  c;\n\n\nd;\n", "if a : ↵ → b ↵ c ↵ ← d ↵"),
        ("if a:\n\tb ; \\\n c\n\\\n\nd", "if a : ↵ → b ↵ c ↵ ← d ↵"),
        ("if a:\n    b\nc\nd\n", "if a : ↵ → b ↵ ← c ↵ d ↵"),
        ("if a:\n    if b:\n        c", "if a : ↵ → if b : ↵ → c ↵ ← ←"),
        ("x = f(\n  1,\n    2,  # c\n\n)\ny", "x = f ( 1 , 2 , ) ↵ y ↵"),
        ("x = 1 + \\\n    2\ny", "x = 1 + 2 ↵ y ↵"),
        ("if lambda: {1: 2}[x:y]: z", "if lambda : { 1 : 2 } [ x : y ] : ↵ → z ↵ ←"),
        ("def f(x: int) -> {1: 2}: x: int", "def f ( x : int ) -> { 1 : 2 } : ↵ → x : int ↵ ←"),
        ("class A: x: int = 1; y = {}", "class A : ↵ → x : int = 1 ↵ y = { } ↵ ←"),
        ("x: int\nx[1:2]: int", "x : int ↵ x [ 1 : 2 ] : int ↵"),
        (
            "match x:\n  case 1 | 2 if y: z\n  case _: w",
            "match x : ↵ → case 1 | 2 if y : ↵ → z ↵ ← case _ : ↵ → w ↵ ← ←",
        ),
        (
            "try: a\nexcept* E: b\nelse: c\nfinally: d",
            "try : ↵ → a ↵ ← except * E : ↵ → b ↵ ← else : ↵ → c ↵ ← finally : ↵ → d ↵ ←",
        ),
        ("async def f(): await x", "async def f ( ) : ↵ → await x ↵ ←"),
        ("a is not b not in c", "a is not b not in c ↵"),
        # Lines out of a definition.
        ("    x = 1\n    if y:\n        z\n", "x = 1 ↵ if y : ↵ → z ↵ ←"),
        ("        x\n    y\n", "x ↵ ← y ↵"),
        ("else:\n    x\n    y: int", "else : ↵ → x ↵ y : int ↵ ←"),
        ("    elif a: x\nb", "elif a : ↵ → x ↵ ← ← b ↵"),
        ("    except E as e:\n        raise", "except E as e : ↵ → raise ↵ ←"),
        ("case {'k': v}: x", "case { 'k' : v } : ↵ → x ↵ ←"),
        ("        b, c)\n    d\n    e", "b , c ) ↵ d ↵ e ↵"),
        ("  b,\n      c)\n    d\n    e", "b , c ) ↵ d ↵ e ↵"),
        ("    return f(a,\n        b,", "return f ( a , b , ↵"),
        ("@d", "@ d ↵"),
        # What is no Python.
        ("a $ b ? c", "a $ b ? c ↵"),
        ("x = 'open\ny", "x = ' open ↵ y ↵"),
        ("a \\ b", "a \\ b ↵"),
        ("a \\", "a ↵"),
        ("if x:\n    a\n  b\n", "if x : ↵ → a ↵ ← → b ↵ ←"),
    ],
)
def test_tokens(text: str, expected: str) -> None:
    assert shown(text) == expected


@pytest.mark.parametrize(
    "literal",
    [
        '"""a\n  b"""',
        "'\\''",
        'rb"\\x"',
        'f"{x!r:>{width}} {{}} {y=}"',
        "f'''{\n  x  # c\n}'''",
        'f"{x["key"]}"',
        'f"{f"{f"{1}"}"}"',
        "'é # ; if x: \\\n y'",
        'u""',
    ],
)
def test_a_string_is_one_token(literal: str) -> None:
    text = f"é = {literal}; y"
    assert [token for token in tokens(text) if token.kind == "string"] == [
        Token("string", literal, 4, 4 + len(literal))
    ]


def test_neighbouring_strings_are_tokens_each() -> None:
    assert [token.text for token in tokens("'a' \"b\"") if token.text] == ["'a'", '"b"']


def test_kinds_and_offsets() -> None:
    text = "  é = 10  # ü\n"
    assert tokens(text) == [
        Token("identifier", "é", 2, 3),
        Token("=", "=", 4, 5),
        Token("integer", "10", 6, 8),
        Token("comment", "# ü", 10, 13),
        Token("newline", "", 13, 13),
    ]


def test_a_semicolon_is_a_newline_with_an_extent() -> None:
    assert [token for token in tokens("a;b") if token.kind == "newline"] == [
        Token("newline", "", 1, 2),
        Token("newline", "", 3, 3),
    ]


def assert_nothing_is_lost(text: str) -> None:
    end = 0
    for token in [*tokens(text), Token("end", "", len(text), len(text))]:
        assert end <= token.start <= token.end <= len(text)
        between = re.sub(r"\\(\r?\n|\Z)", "", text[end : token.start])
        assert between.strip(" \t\f\r\n") == ""
        assert token.text in ("", text[token.start : token.end])
        assert token.text or text[token.start : token.end] in ("", ";")
        end = token.end


WORDS = """if␣x: else: def␣f( class␣A: lambda return x y = ( ) [ ] { } : ; , . * @ 1 ' " \"\"\" f"
f' {x} # \\ \\↵ ↵ ↵ ↵␣␣ ↵␣␣␣␣ ↵⇥ ␣ é ﬁ $ ? ! case␣ match␣x: async␣ print␣ ... -> := not␣in"""
SHOWN = str.maketrans("␣↵⇥", " \n\t")
PIECES = st.lists(
    st.sampled_from(
        [*(word.translate(SHOWN) for word in WORDS.split()), "\f", "\0", "\r", "\u200b", "\xa0"]
    ),
    max_size=40,
).map("".join)


@given(st.one_of(PIECES, st.text(max_size=80)))
def test_no_character_is_lost(text: str) -> None:
    assert_nothing_is_lost(text)


@given(PIECES)
def test_structure_balances(text: str) -> None:
    """Blocks opened are closed, but for the lines of a fragment that lie further out."""
    depth = lowest = 0
    for token in tokens(text):
        depth += {"indent": 1, "dedent": -1}.get(token.kind, 0)
        lowest = min(lowest, depth)
    assert depth == lowest


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("\n \n\t\f\n", ""),
        ("x", "x"),
        ("\n\n  x\n\n", "x"),
        ("    a\n        b\n    c\n", "a\n    b\nc"),
        ("    a\r\n      b\r\n", "a\n  b"),
        ("\ta\n\t\tb\n", "a\n\tb"),
        ("\ta\n    b\n", "\ta\n    b"),
        ("    \ta\n    b\n", "\ta\nb"),
        ("      a\n  b\n", "    a\nb"),
        ("    a\n\n  \n      \n    b", "a\n\n\n  \nb"),
        ("  a  \n  b\t\n", "a  \nb\t"),
        ('    x = """\n  y\n"""\n', '    x = """\n  y\n"""'),
        ("  \fa\n  b", "\fa\nb"),
    ],
)
def test_canonical(text: str, expected: str) -> None:
    assert canonical(text) == expected


LINES = st.lists(st.text(" \t\fab\\#\"'", max_size=8), max_size=8)


@given(LINES)
def test_canonical_text_stays_as_it_is(lines: list[str]) -> None:
    once = canonical("\n".join(lines))
    assert canonical(once) == once


@given(LINES, st.text(" \t", max_size=6), st.sampled_from(["\n", "\r\n"]))
def test_canonical_text_is_the_same_wherever_it_stands(
    lines: list[str], margin: str, newline: str
) -> None:
    shifted = newline.join(f"{margin}{line}" for line in lines)
    assert canonical(f"{newline}{shifted}{newline}") == canonical("\n".join(lines))


@given(LINES)
def test_relative_indentation_stays(lines: list[str]) -> None:
    """Whatever is removed is removed from all lines with content alike."""
    result = canonical("\n".join(lines)).split("\n")
    filled = [line for line in lines if line.strip(" \t\f")]
    kept = [line for line in result if line.strip(" \t\f")]
    assert (
        len({before.removesuffix(after) for before, after in zip(filled, kept, strict=True)}) <= 1
    )
    assert all(before.endswith(after) for before, after in zip(filled, kept, strict=True))


def test_the_text_fingerprint_is_the_hash_of_the_canonical_text() -> None:
    expected = hashlib.sha256("def f():\n    return 'é'".encode()).hexdigest()
    assert text_fingerprint("\n  def f():\r\n      return 'é'\r\n") == expected
    assert text_fingerprint("def f():\n   return 'é'") != expected


FUNCTION = """
@d
def f(a, *b: int, **c) -> T:
    '''Doc.'''
    if a: return b[1:2], 0x1F; pass  # c
    return f'{a!r}' 'é'
"""
CLASS = """
    class A(B):
        x: int = ...
        async def g(self): return lambda y: y ** 2 // 3 != 1e-5j
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("x = 1", "60601d6db162200d724764498b5ee38a6cc375edfa9d542847b01502cf2a31b2"),
        (FUNCTION, "6b83513dd5211b58739958ce62d1cf937f69748e8f0f79e2cd093263c6ae2d19"),
        (CLASS, "a750e83a97c0ffc5a3336fdbf35d46aa00eee79cae24d1d21c0d68c04a2a27d3"),
        (
            "else:\n    größe += 1",
            "e19afa86fe9bd0d1294ec9405a0d76518847439df69d6a4f78d3f858e456bb99",
        ),
    ],
)
def test_recorded_token_fingerprints_hold(text: str, expected: str) -> None:
    """Records and recordings hold fingerprints: a change of one of these makes all stale."""
    assert token_fingerprint(text) == expected


SAME = [
    pytest.param("if a: b", "if a:\n    b\n", id="a block on the line"),
    pytest.param("if a: b; c", "if a:\n  b\n  c", id="semicolons"),
    pytest.param("x = [1,\n     2]", "x = [1, 2]", id="lines in brackets"),
    pytest.param("x = 1 + 2", "x = 1 + \\\n    2", id="continuation lines"),
    pytest.param("x=1", "x = 1  # why\n# and\n", id="blanks and comments"),
    pytest.param("def f():\n    pass", "    def f():\n      pass", id="indents"),
    pytest.param("def f():\n\tpass", "def f():\n    pass", id="tabs"),
    pytest.param('    """a\n    b"""\n    x', '"""a\nb"""\nx', id="a docstring shifted"),
    pytest.param("def f():\r\n    '''a\r\n    '''", "def f():\n    '''a\n    '''", id="line ends"),
    pytest.param("except* E: x", "except *E: x", id="a star"),
    pytest.param("x = 0xE+1", "x = 0xE + 1", id="a number that ends in E"),
    pytest.param("1if a else-1", "1 if a else - 1", id="no blanks"),
    pytest.param(
        "if a:\n    def f(x) -> b[c]: pass",
        "if a:\n    def f(x) -> b[\nc]: pass",
        id="a subscript at column 0, which the grammar takes for an error",
    ),
]

DIFFERENT = [
    pytest.param("if a:\n  b\nc", "if a:\n  b\n  c", id="moved into the block"),
    pytest.param("if a: b\nc", "if a: b; c", id="moved into the block on its line"),
    pytest.param(
        "if a:\n  if b:\n    c\n  d", "if a:\n  if b:\n    c\n    d", id="one block further"
    ),
    pytest.param("a\nb", "a b", id="one statement or two"),
    pytest.param("a\n(b)", "a(b)", id="a call or two statements"),
    pytest.param("x = 1", "x = 2", id="a number"),
    pytest.param("'a'", '"a"', id="quotes"),
    pytest.param("'a b'", "'a  b'", id="blanks in a string"),
    pytest.param("f'{a}'", "f'{ a }'", id="blanks in an f-string"),
    pytest.param("'''a\n  b'''", "'''a\n   b'''", id="indents in a string"),
    pytest.param("'a' 'b'", "'ab'", id="strings joined"),
    pytest.param("ab", "a b", id="names joined"),
    pytest.param("f(a,)", "f(a)", id="a comma"),
    pytest.param("x\n# y", "x\ny", id="commented out"),
    pytest.param("1:x", "x:1", id="order"),
    pytest.param("newline", "", id="a name like a mark"),
    pytest.param("x = 1.e5", "x = 1 .e5", id="a number or an attribute"),
    pytest.param("x = 1.5", "x = 1. 5", id="a number or two"),
    pytest.param("a = 12", "a = 1 2", id="digits"),
    pytest.param("f'a'", "f 'a'", id="a prefix"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_layout_does_not_change_the_tokens(one: str, other: str) -> None:
    assert shown(canonical(one)) == shown(canonical(other))
    assert token_fingerprint(one) == token_fingerprint(other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_a_change_changes_the_tokens(one: str, other: str) -> None:
    assert token_fingerprint(one) != token_fingerprint(other)


def test_the_names_and_cuts_of_the_grammar_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "@d\ndef f(**b) -> c:  # c\n    if lambda: a: b **= {'x': 1.5}[1:2]; pass\n    f(...)\n"
    before = token_fingerprint(text)
    spans = syntax.leaf_spans
    kept = {"comment", "string"}

    def otherwise(node: Node) -> Iterator[tuple[str, int, int]]:
        for kind, start, end in spans(node):
            if kind in kept or text[start:end].isidentifier():
                yield (kind if kind in kept else "other"), start, end
            else:
                yield from (("other", offset, offset + 1) for offset in range(start, end))

    monkeypatch.setattr(syntax, "leaf_spans", otherwise)
    assert {token.kind for token in tokens(text)} == {"other", *kept, *STRUCTURE}
    assert {"->", "**=", "...", "1.5"}.isdisjoint(token.text for token in tokens(text))
    assert token_fingerprint(text) == before


SIMPLE = st.sampled_from(
    ["a = 1", "f(b, c)", "x: int = {1: 2}", "y = lambda: [z, 1]", "return", "'a; b: # c'", "pass"]
)
HEADERS = st.sampled_from(
    ["if a:", "for x in lambda: y:", "while b[1:2]:", "class A(B):", "def f(x: T = 1) -> {1: 2}:"]
)
PROGRAMS = st.recursive(
    SIMPLE,
    lambda inner: st.tuples(HEADERS, st.lists(inner, min_size=1, max_size=3)),
    max_leaves=8,
)
Statement = str | tuple[str, list["Statement"]]


def laid_out(statements: list[Statement], margin: str, random: Random) -> str:
    """The statements as source, in one of the many layouts that mean the same."""
    lines: list[str] = []

    def add(line: str) -> None:
        lines.extend(random.choice([[], [], [""], [" \t"], ["# c"], [f"{margin}     # c"]]))
        lines.append(margin + line + random.choice(["", "", " ", ";", "  # c: (", " \\\n"]))

    joined: list[str] = []
    for statement in statements:
        if isinstance(statement, str):
            joined.append(spread(statement, random))
            if random.random() < 0.5:
                continue
        if joined:
            add(random.choice(["; ", ";", " ;  "]).join(joined))
            joined = []
        if isinstance(statement, str):
            continue
        header, body = statement
        simple = [each for each in body if isinstance(each, str)]
        if simple == body and random.random() < 0.5:
            add(f"{spread(header, random)} {'; '.join(simple)}")
        else:
            deeper = margin + random.choice([" ", "    ", "\t", "  \t"])
            behind = random.choice(["", "  # c"])
            lines.append(f"{margin}{spread(header, random)}{behind}")
            lines.append(laid_out(body, deeper, random))
    if joined:
        add("; ".join(joined))
    return "\n".join(lines)


def spread(code: str, random: Random) -> str:
    """Over several lines, where Python allows it."""
    if code.startswith("'"):
        return code
    code = code.replace(" ", random.choice([" ", " ", "   ", " \\\n "]))
    for bracket in "([{":
        code = code.replace(bracket, bracket + random.choice(["", "", "\n", "  # c)\n\n   "]))
    return code


@given(st.lists(PROGRAMS, min_size=1, max_size=3), st.randoms(use_true_random=False))
def test_no_layout_changes_the_fingerprint(program: list[Statement], random: Random) -> None:
    plain, other = (laid_out(program, "", source) for source in (Random(0), random))
    assert token_fingerprint(plain) == token_fingerprint(other)


@given(*[st.lists(PROGRAMS, min_size=1, max_size=3)] * 2, st.randoms(use_true_random=False))
def test_programs_differ_as_their_fingerprints_do(
    one: list[Statement], other: list[Statement], random: Random
) -> None:
    prints = [token_fingerprint(laid_out(program, "", random)) for program in (one, other)]
    assert (one == other) == (prints[0] == prints[1])


@given(st.lists(PROGRAMS, min_size=1, max_size=3), st.randoms(use_true_random=False))
def test_programs_are_python(program: list[Statement], random: Random) -> None:
    """The two tests above would say little about anything else."""
    assert ast.parse(laid_out(program, "", random) + "\n\n").body
