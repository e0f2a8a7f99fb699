"""Captures equal what Python's own compiler finds."""

import re
import sysconfig
import types
import warnings
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.upstream.calls import captures
from annotate.upstream.symbols import extract

RULE = """\
def rule(ans, x):
    n = x.shape
    return lambda g: g.reshape(n) * ans + sum(x for _ in n)


class Box:
    def get(self):
        return super().get()

defrule(f, lambda ans, x: lambda g: g * 2.0 * x)
"""


def shown(closures):
    return {
        each.function: {kept.name: (kept.scope, kept.lines) for kept in each.captures}
        for each in closures
    }


def test_each_captured_name_says_where_it_is_bound():
    assert shown(captures(RULE))["rule.<lambda1>"] == {
        "ans": ("rule", (1,)),
        "n": ("rule", (2,)),
        "x": ("rule", (1,)),
    }


def test_the_factor_of_a_rule_is_captured_and_not_its_answer():
    assert shown(captures(RULE))["<lambda1>.<lambda1>"] == {"x": ("<lambda1>", (10,))}


def test_super_captures_its_class():
    assert shown(captures(RULE))["Box.get"] == {"__class__": ("Box", (6,))}


def test_only_what_lies_within_a_symbol():
    symbols = {symbol.qualname: symbol for symbol in extract(RULE).symbols}
    assert set(shown(captures(RULE, symbols["rule"]))) == {"rule", "rule.<lambda1>"}
    registered = shown(captures(RULE, symbols["defrule(f)"]))
    assert set(registered) == {"<lambda1>", "<lambda1>.<lambda1>"}


def compiled(text):
    """(name, free variables) of every function of a file, as the compiler has them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pending = [compile(text, "file", "exec", dont_inherit=True)]
    found = []
    while pending:
        code = pending.pop()
        inner = [each for each in code.co_consts if isinstance(each, types.CodeType)]
        pending += inner
        found += [
            (each.co_name, tuple(sorted(each.co_freevars)))
            for each in inner
            if each.co_flags & 2 and each.co_name not in TRANSPARENT
        ]
    return Counter(found)


TRANSPARENT = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>", "<generic parameters>")


def ours(text):
    return Counter(
        (
            "<lambda>" if each.kind == "lambda" else each.function.rpartition(".")[2],
            tuple(kept.name for kept in each.captures),
        )
        for each in captures(text)
    )


# The scopes of type parameters (PEP 695) are not modelled; Python 3.11's library has none.
GENERIC = re.compile(r"^\s*(?:async\s+def|def|class|type)\s+\w+\[", re.MULTILINE)
LIBRARY = [
    path
    for path in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    if not GENERIC.search(path.read_text("utf-8"))
]


@pytest.mark.parametrize("path", LIBRARY[::6], ids=lambda path: path.name)
def test_the_standard_library(path):
    text = path.read_text("utf-8")
    assert ours(text) == compiled(text)


@pytest.mark.slow
@pytest.mark.parametrize("path", LIBRARY, ids=lambda path: path.name)
def test_all_of_the_standard_library(path):
    text = path.read_text("utf-8")
    assert ours(text) == compiled(text)


NAMES = st.sampled_from("abc")


def indented(lines):
    return [f"    {line}" for line in lines]


def statements():
    simple = st.one_of(
        st.builds("{} = {}".format, NAMES, NAMES),
        st.builds("{} += {}".format, NAMES, NAMES),
        st.builds("for {} in {}: pass".format, NAMES, NAMES),
        st.builds("with {} as {}: pass".format, NAMES, NAMES),
        st.builds("import {} as {}".format, NAMES, NAMES),
        st.builds("[{} for {} in {} if {}]".format, NAMES, NAMES, NAMES, NAMES),
        st.builds("[({} := {}) for z in {}]".format, NAMES, NAMES, NAMES),
        st.builds("lambda {}={}: ({}, {})".format, NAMES, NAMES, NAMES, NAMES),
        st.builds("{}: {} = {}".format, NAMES, NAMES, NAMES),
        st.builds("try: {}\nexcept {} as {}: pass".format, NAMES, NAMES, NAMES),
        st.builds("match {}:\n    case [{}]: pass".format, NAMES, NAMES),
        st.builds("del {}".format, NAMES),
    )

    def nested(inner):
        body = st.lists(inner, min_size=1, max_size=4).map(
            lambda parts: "\n".join(indented("\n".join(parts).split("\n")))
        )
        outer = st.sampled_from(("", "    global a\n", "    nonlocal b\n"))
        return st.one_of(
            st.builds("def {}(x, y={}):\n{}{}".format, NAMES, NAMES, outer, body),
            st.builds("class {}({}):\n{}".format, NAMES, NAMES, body),
        )

    return st.recursive(simple, nested, max_leaves=12)


@given(st.lists(statements(), min_size=1, max_size=4).map("\n".join))
def test_any_nesting_of_scopes(text):
    source = "def outer(a, b):\n" + "\n".join(indented(text.split("\n"))) + "\n"
    try:
        wanted = compiled(source)
    except SyntaxError:
        return
    assert ours(source) == wanted
