"""Symbols: golden cases under ``symbols/`` (NAME.source, NAME.symbols), and what holds of all."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.errors import AnnotateError
from annotate.upstream.definitions import Definition, definitions
from annotate.upstream.symbols import (
    DEFINITIONS,
    MAX_REGISTRATION_NAME,
    Module,
    Symbol,
    cross_check,
    extract,
    signature,
    source_text,
)
from annotate.upstream.syntax import canonical, decode

CASES = sorted((Path(__file__).parent / "symbols").glob("*.source"))


def listing(data: bytes) -> str:
    """What is found in a file, a line each.

    ``syntax error`` where the grammar met one; every symbol as its lines (and columns, where it
    does not stand alone on them), kind, name, and target or signature; what Python disputes.
    """
    text = decode(data)
    module = extract(text)
    rows = ["syntax error"] if module.has_error else []
    for symbol in module.symbols:
        detail = f"-> {symbol.target}" if symbol.target else signature(text, symbol)
        rows.append(f"{span(symbol):<11} {symbol.kind:<12} {symbol.qualname}  {detail}".rstrip())
    for qualname, reason in cross_check(data, module).items():
        rows.append(f"disputed: {qualname or '(module)'}: {reason}")
    return "".join(f"{row}\n" for row in rows)


def span(symbol: Symbol) -> str:
    first, last = str(symbol.first_line), str(symbol.last_line)
    if symbol.first_column:
        first += f":{symbol.first_column}"
    if symbol.last_column is not None:
        last += f":{symbol.last_column}"
    return first if first == last else f"{first}-{last}"


def named(text: str, qualname: str) -> Symbol:
    return next(each for each in extract(text).symbols if each.qualname == qualname)


def test_there_are_cases() -> None:
    assert len(CASES) > 30
    assert {case.with_suffix(".symbols").exists() for case in CASES} == {True}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_golden(case: Path) -> None:
    assert listing(case.read_bytes()) == case.with_suffix(".symbols").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "qualname", "expected"),
    [
        pytest.param(
            "@d\ndef f():\n    x\n    # no\n", "f", "@d\ndef f():\n    x", id="whole lines"
        ),
        pytest.param(
            "class A:\n    def f(self):\n\n        x  # yes\n",
            "A.f",
            "def f(self):\n\n    x  # yes",
            id="shifted, comment on the last line",
        ),
        pytest.param("a = 1; b = 2  # no", "a", "a = 1", id="up to its column"),
        pytest.param("a = 1; b = 2  # yes", "b", "b = 2  # yes", id="from its column"),
        pytest.param("a = 1;  # yes\n", "a", "a = 1;  # yes", id="alone before a semicolon"),
        pytest.param("é = 'ü'; b = 'ö'; c = 3", "b", "b = 'ö'", id="columns are characters"),
        pytest.param("if x: y = [\n    1,\n]; z = 2", "y", "y = [\n    1,\n]", id="several lines"),
        pytest.param("class A: x = 1", "A", "class A: x = 1", id="the outer of one line"),
        pytest.param("class A: x = 1", "A.x", "x = 1", id="the inner of one line"),
        pytest.param("\fx = 1\n", "x", "\fx = 1", id="a form feed is a blank"),
        pytest.param(
            'class A:\n    x = """\n  b\n"""\n',
            "A.x",
            '    x = """\n  b\n"""',
            id="a string keeps its lines",
        ),
        pytest.param(
            "from a import (\n    b,\n    c,\n)\n",
            "c",
            "from a import (\n    b,\n    c,\n)",
            id="an import",
        ),
    ],
)
def test_source_text(text: str, qualname: str, expected: str) -> None:
    assert source_text(text, named(text, qualname)) == expected


@pytest.mark.parametrize(
    ("definition", "expected"),
    [
        ("def f(): pass", "f()"),
        (
            "async def f(a, /, b: int = 3, *, c, **d) -> 'x': ...",
            "async f(a, /, b: int = 3, *, c, **d) -> 'x'",
        ),
        ("@d\ndef f(\n    a,  # first\n    b=(\n        1, 2\n    ),\n): pass", "f(a, b=(1, 2))"),
        ("def f[T: (int, str), *Ts](x: T, *a: *Ts): pass", "f[T: (int, str), *Ts](x: T, *a: *Ts)"),
        ("class f: pass", "f"),
        ("class f(): pass", "f()"),
        ("@d\nclass f[T](A,\n  metaclass=B): pass", "f[T](A, metaclass=B)"),
        ("f = lambda: 0", "f()"),
        ("f: T = (lambda x, *y: x)", "f(x, *y)"),
        ("g = f = lambda x=lambda y: y: x", "f(x=lambda y: y)"),
        ("f = 1", ""),
        ("import f", ""),
        ("def f() -> A[b] or None: pass", ""),
    ],
)
def test_signature(definition: str, expected: str) -> None:
    assert signature(definition, named(definition, "f")) == expected


def test_the_signature_of_a_second_definition_has_no_number() -> None:
    text = "class A:\n    def f(self): pass\n    def f(self, x): pass\n"
    assert signature(text, named(text, "A.f#2")) == "f(self, x)"


def test_a_long_registration_is_shortened() -> None:
    text = f"register({'a' * 200})\nregister({'a' * 200}, 1)\n"
    first, second = extract(text).symbols
    assert first.qualname == f"register({'a' * 49}…)"
    assert len(first.qualname) == MAX_REGISTRATION_NAME
    assert second.qualname == f"{first.qualname}#2"


SOURCE = b"@d\ndef f():\n    pass\n\n\nclass A:\n    def g(self): pass\n    def g(self): pass\n"


def definition(qualname: str, first_line: int, last_line: int, kind: str = "function") -> Symbol:
    return Symbol(qualname, kind, first_line, last_line, 0, None)


AGREED = (
    definition("f", 1, 3),
    definition("A", 6, 8, "class"),
    definition("A.g", 7, 7, "method"),
    definition("A.g#2", 8, 8, "method"),
)


def disputed(*symbols: Symbol, data: bytes = SOURCE) -> dict[str, str]:
    return dict(cross_check(data, Module(symbols, has_error=False)))


def test_the_cross_check_passes_what_python_confirms() -> None:
    assert disputed(*AGREED) == {}
    assert disputed(*AGREED, definition("unchecked", 99, 99, "assignment")) == {}


def test_the_cross_check_disputes_a_first_line() -> None:
    """A decorator left out."""
    reasons = disputed(definition("f", 2, 3), *AGREED[1:])
    assert reasons == {"f": "Python has it on lines 1-3, not on lines 2-3"}


def test_the_cross_check_disputes_a_last_line() -> None:
    reasons = disputed(definition("f", 1, 4), *AGREED[1:])
    assert reasons == {"f": "Python has it on lines 1-3, not on lines 1-4"}


def test_the_cross_check_disputes_a_name() -> None:
    reasons = disputed(*AGREED[:3], definition("A.f.g", 8, 8))
    assert reasons == {
        "A.f.g": "Python defines no such name on lines 8-8",
        "": "Python also defines A.g (line 8)",
    }


def test_the_cross_check_tells_same_names_apart_by_their_lines() -> None:
    reasons = disputed(*AGREED[:2], definition("A.g", 7, 8, "method"), AGREED[3])
    assert reasons == {"A.g": "Python has it on lines 7-7, not on lines 7-8"}


def test_the_cross_check_names_what_only_python_has() -> None:
    assert disputed(*AGREED[1:3]) == {"": "Python also defines f (line 1), A.g (line 8)"}


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"def f(:\n", id="syntax"),
        pytest.param(b"def f(): pass\n\0", id="NUL"),
        pytest.param(b"# coding: nothing\ndef f(): pass\n", id="encoding"),
        pytest.param(b"x = " + b"(" * 5000 + b")" * 5000, id="too many brackets"),
        pytest.param(b"x = " + b"-" * 50_000 + b"1", id="too deep"),
        pytest.param(b"x = 1" + b"+1" * 50_000, id="too deep to hand over"),
    ],
)
def test_the_cross_check_is_silent_where_python_cannot_read(data: bytes) -> None:
    assert disputed(*AGREED, data=data) == {}


def test_the_cross_check_shows_no_warning_of_the_code() -> None:
    """Tests run with warnings as errors."""
    assert disputed(definition("f", 1, 1), data=b"def f(): return '\\d' is 1\n") == {}


@pytest.mark.parametrize(
    "decorator",
    [
        b"@d",
        b"@ d",
        b"@(d)",
        b"@(\n  d\n)",
        b"@\\\n d",
        b"@(  # @ is no decorator\n# @ neither\n (d))",
        b"@(a\n @ b)",
        b"@d # @\n@e",
    ],
)
def test_a_definition_begins_at_its_first_decorator(decorator: bytes) -> None:
    data = b"x = 1\nif x:\n  pass\n" + decorator + b"\ndef f(): pass\n"
    module = extract(decode(data))
    assert [each.first_line for each in module.symbols if each.kind == "function"] == [4]
    assert cross_check(data, module) == {}


WORDS = """def␣f( class␣A: lambda import␣ from␣ ␣as␣ async␣ type␣ match␣x: case␣ if␣x: else: try: @d
f␣=␣lambda:␣ register( x␣=␣ a,␣b␣=␣ ( ) [ ] { } : ; = , * . ' " \"\"\" f" {x} # # é ﬁ 1 pass ↵ ↵␣␣
↵␣␣ ↵␣␣␣␣ ↵␣␣␣␣ ↵⇥ \\↵ ␣␣"""
SHOWN = str.maketrans("␣↵⇥", " \n\t")
PIECES = st.lists(
    st.sampled_from([*(word.translate(SHOWN) for word in WORDS.split()), "\f", "\0", "\r"]),
    max_size=40,
).map("".join)


@given(st.one_of(PIECES, st.text(max_size=60)))
def test_whatever_the_text(text: str) -> None:
    """Names are unique and not empty, spans lie in the file and inside those of their parents."""
    try:
        text = decode(text.encode())
    except AnnotateError:
        return
    module = extract(text)
    lines = text.split("\n")
    symbols = {symbol.qualname: symbol for symbol in module.symbols}
    assert len(symbols) == len(module.symbols)
    for qualname, symbol in symbols.items():
        assert qualname
        assert 1 <= symbol.first_line <= symbol.last_line <= len(lines)
        assert symbol.first_column <= len(lines[symbol.first_line - 1])
        assert symbol.last_column is None or symbol.last_column <= len(lines[symbol.last_line - 1])
        assert canonical(source_text(text, symbol)) == source_text(text, symbol)
        assert "\n" not in signature(text, symbol)
        if symbol.kind in DEFINITIONS and (parent := symbols.get(qualname.rpartition(".")[0])):
            assert parent.first_line <= symbol.first_line
            assert symbol.last_line <= parent.last_line


@given(PIECES)
def test_what_is_not_disputed_is_as_python_has_it(text: str) -> None:
    data = text.encode()
    try:
        module = extract(decode(data))
    except AnnotateError:
        return
    theirs = definitions(data)
    reasons = cross_check(data, module)
    if theirs is None:
        assert reasons == {}
        return
    ours = [
        Definition(re.sub("#[0-9]+", "", each.qualname), each.first_line, each.last_line)
        for each in module.symbols
        if each.kind in DEFINITIONS and each.qualname not in reasons
    ]
    assert set(ours) <= set(theirs)
    if not reasons:
        assert ours == theirs
