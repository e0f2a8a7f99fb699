"""Small programs by construct: the static graph is what a profiler sees when they run.

A file of ``cases/`` holds programs under ``## name``; ``## path.py`` begins another file of the
same program. Lines ``#: caller -> callee`` name calls of what lies outside, which is not profiled.
"""

import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from annotate.pin import Pin
from annotate.upstream import folder
from annotate.upstream.calls import dotted_graph

HERE = Path(__file__).parent
CONSTRUCTS = sorted((HERE / "cases").glob("*.txt"))
HEAD = re.compile(r"^## (?P<name>\S+)$", re.MULTILINE)
OUTSIDE = re.compile(r"^#: (?P<caller>\S+) -> (?P<callee>\S+)$", re.MULTILINE)


def programs(construct: Path) -> dict[str, dict[str, str]]:
    """Program name → file → text."""
    parts = HEAD.split(construct.read_text("utf-8"))[1:]
    found: dict[str, dict[str, str]] = {}
    program: dict[str, str] = {}
    for name, text in zip(parts[::2], parts[1::2], strict=True):
        if name.endswith(".py"):
            program[name] = text.lstrip("\n")
        else:
            assert name not in found, f"{construct.name} has {name} twice"
            program = found[name] = {"main.py": text.lstrip("\n")}
    return found


CASES = [(construct, name) for construct in CONSTRUCTS for name in programs(construct)]


@pytest.fixture(scope="session")
def observed(tmp_path_factory):
    @cache
    def run(construct: Path) -> dict[str, tuple[Path, set[tuple[str, str]]]]:
        root = tmp_path_factory.mktemp(construct.stem)
        for name, files in programs(construct).items():
            for path, text in files.items():
                target = root / name / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text, "utf-8")
        folders = [str(root / name) for name in programs(construct)]
        done = subprocess.run(
            [sys.executable, "-B", str(HERE / "observe.py"), *folders],
            capture_output=True,
            text=True,
            check=True,
        )
        seen = json.loads(done.stdout)
        return {Path(each).name: (Path(each), set(map(tuple, seen[each]))) for each in folders}

    return run


@pytest.mark.parametrize(
    ("construct", "name"), CASES, ids=[f"{construct.stem}-{name}" for construct, name in CASES]
)
def test_the_graph_is_what_runs(observed, construct, name):
    root, ran = observed(construct)[name]
    text = programs(construct)[name]["main.py"]
    outside = {(match["caller"], match["callee"]) for match in OUTSIDE.finditer(text)}
    graph = dotted_graph(folder.read(Pin("case", "", ""), root), builtins=bool(outside))
    own = {path.relative_to(root).parts[0].removesuffix(".py") for path in root.rglob("*.py")}
    edges = {(caller, callee) for caller, callees in graph.items() for callee in callees}
    inside = {edge for edge in edges if edge[1].partition(".")[0] in own}
    assert ran or name in ("never_iterated", "no_init", "circle") or outside
    assert inside == ran
    if outside:
        named = {(caller.rpartition(".")[2], callee) for caller, callee in edges - inside}
        assert named == outside
