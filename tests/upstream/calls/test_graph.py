"""What the graph of a tree says: ids, evidence, what stays open, and that it is bounded."""

import sys

import pytest

from annotate.pin import Pin
from annotate.upstream import folder
from annotate.upstream.calls import Evidence, call_graph, dotted_graph
from annotate.upstream.index import Index
from annotate.upstream.store import Store

REGISTRY = """\
rules = {}

def primitive(f):
    def wrapped(*args):
        return f(*args)
    return wrapped

def defrule(f, rule):
    rules[f] = rule

@primitive
def double(x):
    return helper(x)

def helper(x):
    return x

class Node:
    def __init__(self, f):
        self.rule = rules[f](1)

    def back(self):
        return self.rule(self.seed())

    def seed(self):
        return 1

defrule(double, lambda x: lambda g: g)
square = lambda x: double(x)
"""

USER = """\
from .core import double, Node

def run(x):
    double(x)
    node = Node(double)
    node.back()
    x.seed()
    x.whatever(1)(
        2)
"""


@pytest.fixture
def graph(tmp_path):
    write(
        tmp_path / "src",
        {"pkg/__init__.py": "from .core import primitive", "pkg/core.py": REGISTRY},
    )
    write(tmp_path / "src", {"pkg/user.py": USER})
    return call_graph(index_of(tmp_path))


def write(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def index_of(root):
    tree = folder.read(Pin("t", "", ""), root / "src")
    return Index(tree, Store(root / "store"))


def found(edges, caller, callee):
    return [edge for edge in edges if (edge.caller, edge.callee) == (caller, callee)]


def test_a_plain_call_is_certain_and_says_where(graph):
    (edge,) = found(graph.edges, "pkg/core.py::double", "pkg/core.py::helper")
    assert (edge.evidence, edge.why) == (Evidence.CERTAIN, "direct call")
    assert (edge.path, edge.line) == ("pkg/core.py", 13)


def test_a_method_through_self_is_certain(graph):
    (edge,) = found(graph.edges, "pkg/core.py::Node.back", "pkg/core.py::Node.seed")
    assert (edge.evidence, edge.why) == (Evidence.CERTAIN, "through self")


def test_a_class_that_is_called_is_its_init(graph):
    (edge,) = found(graph.edges, "pkg/user.py::run", "pkg/core.py::Node.__init__")
    assert (edge.evidence, edge.why) == (Evidence.CERTAIN, "makes an instance")


def test_a_decorator_is_called_by_the_module(graph):
    (edge,) = found(graph.edges, "pkg/core.py", "pkg/core.py::primitive")
    assert (edge.evidence, edge.why) == (Evidence.CERTAIN, "decorator")


def test_calls_of_what_is_decorated_go_through_the_wrapper_and_say_what_it_wraps(graph):
    (edge,) = found(graph.edges, "pkg/user.py::run", "pkg/core.py::primitive.wrapped")
    assert edge.evidence is Evidence.CERTAIN
    assert edge.why.endswith("wraps double")
    assert not found(graph.edges, "pkg/user.py::run", "pkg/core.py::double")


def test_a_value_of_a_registry_may_be_called(graph):
    registered = "pkg/core.py::defrule(double).<lambda1>"
    (edge,) = found(graph.edges, "pkg/core.py::Node.__init__", registered)
    assert (edge.evidence, edge.why) == (Evidence.MAY, "value of rules")
    (edge,) = found(graph.edges, "pkg/core.py::Node.back", f"{registered}.<lambda1>")
    assert (edge.evidence, edge.why) == (Evidence.MAY, "through self")


def test_a_named_lambda_is_a_symbol(graph):
    assert found(graph.edges, "pkg/core.py::square", "pkg/core.py::primitive.wrapped")


def test_a_method_name_that_one_class_has_is_a_guess(graph):
    (edge,) = found(graph.edges, "pkg/user.py::run", "pkg/core.py::Node.seed")
    assert (edge.evidence, edge.why) == (Evidence.MAY, "only class that defines it")


def test_what_is_not_known_is_kept_as_written(graph):
    shown = [(each.caller, each.expression, each.line) for each in graph.unresolved]
    assert ("pkg/user.py::run", "x.whatever(1)", 8) in shown
    assert ("pkg/user.py::run", "x.whatever(1)( 2)", 8) in shown


def test_callers_and_callees(graph):
    callees = {edge.callee for edge in graph.callees_of("pkg/core.py::Node.back")}
    assert "pkg/core.py::Node.seed" in callees
    assert [e.caller for e in graph.callers_of("pkg/core.py::helper")] == ["pkg/core.py::double"]
    assert graph.callers_of("pkg/core.py::nobody") == []


def test_what_is_outside_is_told_apart_and_builtins_only_on_request(tmp_path):
    write(tmp_path / "src", {"a.py": "import json\njson.dumps(len([]))\n"})
    index = index_of(tmp_path)
    assert call_graph(index).edges == ()
    assert [edge.callee for edge in call_graph(index).external] == ["json.dumps"]
    named = [edge.callee for edge in call_graph(index, builtins=True).external]
    assert named == ["<builtin>.len", "json.dumps"]


def test_a_second_definition_of_a_name_has_its_own_id(tmp_path):
    text = "import sys\nif sys.argv:\n    def f(): g()\nelse:\n    def f(): h()\n"
    write(tmp_path / "src", {"a.py": text + "def g(): pass\ndef h(): pass\nf()\n"})
    edges = call_graph(index_of(tmp_path)).edges
    assert found(edges, "a.py::f#2", "a.py::h")
    assert {edge.evidence for edge in edges if edge.caller == "a.py"} == {Evidence.MAY}


def test_too_many_candidates_are_none(tmp_path):
    functions = "".join(f"def f{n}(): pass\n" for n in range(40))
    table = "table = [" + ", ".join(f"f{n}" for n in range(40)) + "]\n"
    text = f"{functions}{table}def run(key):\n    table[key]()\n"
    write(tmp_path / "src", {"a.py": text})
    graph = call_graph(index_of(tmp_path))
    assert graph.callees_of("a.py::run") == []
    assert [each.expression for each in graph.unresolved] == ["table[key]()"]


def test_the_second_run_reads_summaries_and_says_the_same(tmp_path, monkeypatch):
    write(tmp_path / "src", {"a.py": "def f(): pass\nf()\n", "b.py": "import a\na.f()\n"})
    first = call_graph(index_of(tmp_path))
    monkeypatch.setattr("annotate.upstream.calls.build.lower", None)
    assert call_graph(index_of(tmp_path)) == first


def test_a_file_that_cannot_be_read_is_left_out(tmp_path):
    write(tmp_path / "src", {"a.py": "def f(): pass\nf()\n"})
    (tmp_path / "src/b.py").write_bytes(b"\0")
    edges = call_graph(index_of(tmp_path)).edges
    assert [(edge.caller, edge.callee) for edge in edges] == [("a.py", "a.py::f")]


HARD = {
    "deep expression": "x = " + "f(" * 180 + ")" * 180,
    "long sum": "x = " + " + ".join(["f()"] * 3000),
    "long chain": "x = f" + ".g()" * 3000,
    "endless closures": "def f(g):\n    def h(): return g\n    return f(h)\nf(1)",
    "growing recursion": "def f(n, *a): return f(n, n, *a)\nf(1)",
    "self-containing": "l = []\nl.append(l)\nfor a in l:\n    for b in a: b()\n",
    "base is itself": "class A: pass\nclass A(A): pass\nA()",
    "contradicting bases": "class A: pass\nclass B(A): pass\nclass C(A, B): pass\nC().x()",
    "circle": "import m\nfrom m import *\nfrom m import f\nf()",
    "syntax error": "def f(:\n  x(\nclass\nf()",
    "wide": "\n".join(
        f"def f{n}(x): return f{(n * 7 + 1) % 300}(f{(n + 1) % 300})" for n in range(300)
    ),
}


@pytest.mark.parametrize("name", HARD)
def test_hostile_programs_end(tmp_path, name):
    write(tmp_path / "src", {"m.py": HARD[name] + "\n"})
    tree = folder.read(Pin("t", "", ""), tmp_path / "src")
    assert "m" in dotted_graph(tree)


def test_the_recursion_limit_is_put_back(tmp_path):
    before = sys.getrecursionlimit()
    write(tmp_path / "src", {"m.py": "def f(): f()\nf()\n"})
    dotted_graph(folder.read(Pin("t", "", ""), tmp_path / "src"))
    assert sys.getrecursionlimit() == before
