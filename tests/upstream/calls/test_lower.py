"""A file's summary: the same after it was kept, and independent of nesting."""

import sysconfig
from pathlib import Path

import pytest

from annotate.upstream.calls.code import from_json, to_json
from annotate.upstream.calls.lower import lower

LIBRARY = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))


@pytest.mark.parametrize("path", LIBRARY[::12], ids=lambda path: path.name)
def test_a_kept_summary_is_the_summary(path):
    module = lower(path.read_text("utf-8"))
    assert from_json(to_json(module)) == module


def test_lambdas_are_counted_in_their_scope():
    codes = lower("f(lambda: 1, lambda: (lambda: 2))\ndef g():\n    return lambda: 3\n").codes
    assert [(code.name, code.parent) for code in codes] == [
        ("", -1),
        ("<lambda1>", 0),
        ("<lambda2>", 0),
        ("<lambda1>", 2),
        ("g", 0),
        ("<lambda1>", 4),
    ]


def test_comprehension_variables_are_apart_from_names_around():
    (module, *_) = lower("x = 1\ny = [x for x in x]\n").codes
    assert "x" in module.local
    assert any(name.startswith("x@") for name in module.local)


def test_private_names_carry_their_class():
    codes = lower("class A:\n    def __f(self):\n        self.__x\n").codes
    assert codes[1].body == (("def", 2, "_A__f"),)
    assert codes[2].body[0][1][2] == "_A__x"
