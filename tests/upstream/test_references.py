"""Names in code that mean a symbol: by Python's scopes, through imports, of classes."""

from pathlib import Path
from textwrap import dedent

import pytest

from annotate.pin import Pin
from annotate.upstream.index import Index
from annotate.upstream.references import uses
from annotate.upstream.store import Store
from tests.projects import COMMIT, tree_of

SUPPORT = {
    "pkg/__init__.py": "from .base import helper\nfrom . import base as tools\n",
    "pkg/base.py": dedent("""\
        LIMIT = 3
        def helper(): pass
        class Base:
            size = 1
            def grow(self): pass
        """),
}


def meanings(tmp_path: Path, code: str) -> list[tuple[int, str, str]]:
    """(line, name, target) of each use in pkg/code.py, definitions left out."""
    code = dedent(code)
    files = {path: text.encode() for path, text in SUPPORT.items()} | {"pkg/code.py": code.encode()}
    index = Index(
        tree_of(Pin("pkg", "https://git.example.org/pkg", COMMIT), files), Store(tmp_path)
    )
    lines = code.split("\n")
    found = []
    for use in uses(index, "pkg/code.py"):
        name = lines[use.line - 1][use.start : use.end]
        if not use.target.endswith(f"::{name}") or "pkg/code.py" not in use.target:
            found.append((use.line, name, use.target.removeprefix("pkg/")))
    return found


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("from .base import helper\nhelper()\n", [(2, "helper", "base.py::helper")]),
        ("from . import base\nbase.helper()\n", [(2, "helper", "base.py::helper")]),
        ("import pkg.base as b\nb.LIMIT\n", [(2, "LIMIT", "base.py::LIMIT")]),
        ("from pkg import tools\ntools.helper\n", [(2, "helper", "base.py::helper")]),
        ("import numpy as np\nnp.exp\n", []),
        # A parameter or a local variable hides what the module has under that name.
        ("from .base import helper\ndef f(helper):\n    helper()\n", []),
        ("from .base import helper\ndef f():\n    helper = 1\n    helper\n", []),
        ("from .base import helper\nf = lambda helper: helper\n", []),
        ("from .base import helper\n[helper for helper in ()]\n", []),
        # In a comprehension the first iterable belongs to the scope around it.
        (
            "from .base import helper\n[x for x in helper()]\n",
            [(2, "helper", "base.py::helper")],
        ),
        # A default is evaluated outside of the function.
        (
            "from .base import helper\ndef f(helper=helper): pass\n",
            [(2, "helper", "base.py::helper")],
        ),
        (
            "from .base import Base\nclass C(Base):\n    def f(self):\n        self.grow()\n",
            [
                (2, "Base", "base.py::Base"),
                (3, "f", "code.py::C.f"),
                (4, "grow", "base.py::Base.grow"),
            ],
        ),
        (
            "from .base import Base\nBase.size\n",
            [(2, "Base", "base.py::Base"), (2, "size", "base.py::Base.size")],
        ),
        # Names bound in a class are not seen from its methods.
        (
            "class C:\n    a = 1\n    def f(self):\n        return a\n",
            [
                (2, "a", "code.py::C.a"),
                (3, "f", "code.py::C.f"),
            ],
        ),
        (
            "def f():\n    def g(): pass\n    g()\n",
            [
                (2, "g", "code.py::f.g"),
                (3, "g", "code.py::f.g"),
            ],
        ),
        # Which of two definitions a name means depends on what ran.
        (
            "def f(x):\n    if x:\n        def g(): 0\n    else:\n        def g(): 1\n    g()\n",
            [
                (3, "g", "code.py::f.g"),
                (5, "g", "code.py::f.g#2"),
            ],
        ),
        ("from .base import LIMIT\nü = LIMIT\n", [(2, "LIMIT", "base.py::LIMIT")]),
    ],
)
def test_meaning(tmp_path: Path, code: str, expected: list[tuple[int, str, str]]) -> None:
    assert meanings(tmp_path, code) == expected


def test_what_python_cannot_read_means_nothing(tmp_path: Path) -> None:
    assert meanings(tmp_path, "print 'two'\n") == []
