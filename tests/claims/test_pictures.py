"""What pictures of recordings are made of: layout, steps, and HTML that is safe and well-formed."""

import re
import string
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.claims.pictures import draw, graph, states
from annotate.claims.pictures.layers import layered
from annotate.claims.pictures.part import Part, calls_text
from annotate.claims.pictures.replay import Sources
from annotate.claims.pictures.steps import steps
from annotate.claims.pictures.words import _WORDS
from annotate.recordings import Call, Confirmation, Graph, Moment, Node, Recording, State
from annotate.recordings.record import record
from annotate.upstream.index import Index
from tests.projects import files_below, open_project

RECORDINGS = Path(__file__).parents[1] / "recordings"
CASES = sorted((RECORDINGS / "cases").glob("*.py"))
CONFIGURATION = f"""\
[upstream.tiny]
repository = "https://git.example.org/tiny"
commit = "{"0" * 40}"
"""


@st.composite
def graphs(draw: st.DrawFn) -> list[tuple[int, ...]]:
    """The parents of each node; nodes come after their children, as in recordings."""
    count = draw(st.integers(1, 9))
    return [
        tuple(draw(st.lists(st.integers(node + 1, count - 1), max_size=3)))
        if node + 1 < count
        else ()
        for node in range(count)
    ]


@given(graphs(), st.data())
def test_a_layout_is_layered_and_nothing_overlaps(
    parents: list[tuple[int, ...]], data: st.DataObject
) -> None:
    widths = data.draw(st.lists(st.integers(10, 90), min_size=len(parents), max_size=len(parents)))
    layout = layered(parents, widths, gap=5, bend=3)
    assert layout == layered(parents, widths, gap=5, bend=3)
    rows: dict[int, list[tuple[float, float]]] = {}
    for node, (x, layer) in enumerate(layout.centres):
        rows.setdefault(layer, []).append((x - widths[node] / 2, x + widths[node] / 2))
        for parent in parents[node]:
            above = layout.centres[parent][1]
            assert above < layer
            bends = layout.bends.get((node, parent), [])
            assert [between for _, between in bends] == list(range(above + 1, layer))
    for bends in layout.bends.values():
        for x, layer in bends:
            rows.setdefault(layer, []).append((x - 1.5, x + 1.5))
    assert sorted(rows) == list(range(layout.layers))
    for row in rows.values():
        assert min(row)[0] > -0.01
        assert max(right for _, right in row) < layout.width + 0.01
        for (_, right), (left, _) in pairwise(sorted(row)):
            assert right + 4.9 < left


def test_a_circle_is_laid_out_all_the_same() -> None:
    layout = layered([(1,), (2,), (0, 2)], [10, 10, 10], gap=5, bend=3)
    assert len(layout.centres) == 3


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], tuple[Part, Index]]:
    """Runs a script and gives all of its recording, with the index of the tree."""
    root = tmp_path_factory.mktemp("pictures")
    (root / "docs" / "experiments").mkdir(parents=True)
    (root / "annotate.toml").write_text(CONFIGURATION, encoding="utf-8")
    files = files_below(RECORDINGS / "upstream")
    project = open_project(root, {"tiny": files}, root / "store", source="folder")

    def run(case: Path) -> tuple[Part, Index]:
        name = f"docs/experiments/{case.name}"
        (root / name).write_bytes(case.read_bytes())
        made = record(root, name, project.index())
        return Part(made.recording, case.read_text(encoding="utf-8")), project.index()

    return run


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_steps_are_the_recording(
    case: Path, recorded: Callable[[Path], tuple[Part, Index]]
) -> None:
    part, index = recorded(case)
    made = steps(part, Sources(part, index).origin)
    assert made.complete
    names: list[str] = []
    stack: list[Call] = []
    calls = iter(part.recording.calls)
    lines: dict[int, list[int]] = {}
    told = []
    for step in made.steps:
        if isinstance(step, list):
            call = next(calls)
            assert call.depth == len(stack)
            stack.append(call)
            names.append(str(step[2]))
            lines[id(call)] = []
        elif step > 0:
            lines[id(stack[-1])].append(step)
        elif step == 0:
            call = stack.pop()
            path, _, qualname = call.symbol.partition("::")
            if path in index.tree.files and qualname:
                symbol = index.module(path).symbols[qualname]
                ran = set(lines[id(call)])
                assert ran <= set(range(symbol.first_line, symbol.last_line + 1))
        else:
            told.append(-step - 1)
    assert (stack, next(calls, None)) == ([], None)
    assert told == list(range(len(part.recording.marks)))
    assert len(names) == len(calls_text(part).split("\n"))


def test_lines_of_another_text_are_not_shown(
    recorded: Callable[[Path], tuple[Part, Index]],
) -> None:
    part, index = recorded(RECORDINGS / "cases" / "closures.py")
    texts = dict.fromkeys(part.recording.texts, "0" * 16)
    other = replace(part, recording=replace(part.recording, texts=texts))
    with_lines = steps(part, Sources(part, index).origin).steps
    without = steps(other, Sources(other, index).origin).steps
    assert any(isinstance(step, int) and step > 0 for step in with_lines)
    script = [step for step in without if isinstance(step, int) and step > 0]
    assert len(script) < len(with_lines)


HOSTILE = "</svg><script>alert('x')</script>&\x02"
WHEN = Moment(1, 0, 1)


def hostile() -> Part:
    tree = {"upstream": "tiny", "source": "git", "commit": "0" * 40}
    values = {HOSTILE: HOSTILE, "|": "a|b"}
    nodes = (Node(HOSTILE, HOSTILE, (1,), values), Node("Node#2", "b", (), {}))
    recording = Recording(
        script=f"docs/{HOSTILE}.py",
        sha256="",
        exit_status=0,
        stdout=(),
        stderr=(),
        executed={},
        edges=(),
        calls=(
            Call(0, f"{HOSTILE}.py::{HOSTILE}", HOSTILE, HOSTILE, 1, 3, True, "1"),
            Call(1, f"docs/{HOSTILE}.py::f"),
        ),
        depth_limit=None,
        texts={},
        marks=(State(WHEN, HOSTILE, values), Graph(WHEN, HOSTILE, nodes)),
        confirmed=(Confirmation(tree, {}),),
    )
    return Part(recording, f"# {HOSTILE}\n")


class Balance(HTMLParser):
    """Sees that elements nest, and collects what a browser would run."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.scripts: list[dict[str, str | None]] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag == "script":
            self.scripts.append(dict(attributes))
        assert not [name for name, _ in attributes if name.startswith("on")]
        if tag != "wbr":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Nothing is left open."""

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("shown", ["sequence", "states", "graph", "replay"])
def test_nothing_recorded_becomes_html(tmp_path: Path, shown: str, language: str) -> None:
    part = hostile()
    (tmp_path / "annotate.toml").write_text(CONFIGURATION, encoding="utf-8")
    files = {f"{HOSTILE}.py": b"x = 1\n"}
    project = open_project(tmp_path, {"tiny": files}, tmp_path / "store")
    # A name that is in no tree: it has no address, and no source.
    part = replace(
        part,
        recording=replace(
            part.recording,
            calls=tuple(
                replace(call, symbol=f"{part.recording.script}::{HOSTILE}")
                if shown == "replay"
                else call
                for call in part.recording.calls
            ),
        ),
    )
    context = project._context("page.md")
    html = draw(shown, part, context, language)
    assert html == draw(shown, part, context, language)
    parser = Balance()
    parser.feed(html)
    parser.close()
    assert parser.open == []
    assert parser.scripts == ([{"type": "application/json"}] if shown == "replay" else [])
    assert "\x02" not in html
    for svg in re.findall(r"<svg.*?</svg>", html, re.DOTALL):
        root = ElementTree.fromstring(svg)
        assert root.attrib["aria-label"]
        assert root.find("desc") is not None


def test_a_graph_is_told_with_its_inputs_first() -> None:
    part = hostile()
    assert graph.text(replace(part, only=("none",))) == ""
    lines = graph.text(part).split("\n")
    assert lines[1] == "  b"
    assert lines[2].startswith(f"  {HOSTILE} from b: ")


def test_bars_in_a_cell_are_no_border_of_it() -> None:
    told = states.text(hostile())
    assert "a\\|b" in told


def fields(text: str) -> list[str]:
    return sorted(str(name) for _, name, _, _ in string.Formatter().parse(text) if name is not None)


def test_every_word_is_there_in_every_language() -> None:
    english, chinese = _WORDS["en"], _WORDS["zh"]
    assert english.keys() == chinese.keys()
    for key, text in english.items():
        assert len(fields(text)) == len(fields(chinese[key])), key
