"""Claims about experiments, and what is found when script, tree, recording or page change."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from annotate.project import Project
from annotate.recordings.record import record
from annotate.verdict import Judgement, Verdict
from tests.projects import files_below, open_project

UPSTREAM = Path(__file__).parents[1] / "recordings" / "upstream"
CONFIGURATION = f"""\
[upstream.tiny]
repository = "https://git.example.org/tiny"
commit = "{"0" * 40}"
"""
SCRIPT = """\
from annotate.experiment import graph, snapshot, step
from tiny.core import depth, stage


class Node:
    def __init__(self, name, *parents):
        self.name, self.parents = name, parents


# region: rule
pullback = stage(2)
print("pulled back:", pullback(3))
# endregion
snapshot("after the rule", x=2, g=3)
step("half way")

# region: down
def down(number):
    snapshot("on the way", number=number)
    return depth(number)


print(down(2))
# endregion

# region: nothing
end = Node("b", Node("a"))
# endregion
graph("chain", end, parents=lambda node: node.parents, label=lambda node: node.name,
      values=lambda node: {"value": len(node.parents)})
"""
SEQUENCE = """\
tiny/core.py::stage
tiny/core.py::stage.<lambda>
  tiny/core.py::checked
"""
STATES = """\
| moment         | x | g | number |
|----------------|---|---|--------|
| after the rule | 2 | 3 |        |
| on the way     |   |   | 2      |
"""
GRAPH = """\
chain:
  a: value = 0
  b from a: value = 1
"""


def fence(attributes: str, text: str = "") -> str:
    return f'```{{.experiment run="walk" {attributes}}}\n{text}```\n'


@dataclass
class Case:
    """A project with one recorded experiment, whose parts a test may change."""

    root: Path
    upstream: Path
    store: Path

    @property
    def script(self) -> Path:
        return self.root / "docs" / "experiments" / "walk.py"

    @property
    def recording(self) -> Path:
        return self.root / "docs" / "experiments" / "recordings" / "walk.json"

    def open(self) -> Project:
        return open_project(
            self.root, {"tiny": files_below(self.upstream)}, self.store, source="folder"
        )

    def run(self) -> None:
        made = record(self.root, "docs/experiments/walk.py", self.open().index())
        self.recording.parent.mkdir(exist_ok=True)
        self.recording.write_bytes(made.recording.dump())

    def page(self, text: str) -> list[Judgement]:
        (self.root / "page.md").write_text(text, encoding="utf-8")
        return list(self.open().check([self.root / "page.md"]).judgements)

    def one(self, text: str) -> Judgement:
        (judgement,) = self.page(text)
        return judgement


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Case:
    base = tmp_path_factory.mktemp("experiment")
    shutil.copytree(UPSTREAM, base / "upstream", ignore=shutil.ignore_patterns("__pycache__"))
    case = Case(base / "project", base / "upstream", base / "store")
    case.script.parent.mkdir(parents=True)
    case.script.write_text(SCRIPT, encoding="utf-8")
    (case.root / "annotate.toml").write_text(CONFIGURATION, encoding="utf-8")
    case.run()
    return case


@pytest.fixture
def case(recorded: Case, tmp_path: Path) -> Case:
    """A copy that a test may change."""
    base = tmp_path / "copy"
    shutil.copytree(recorded.root.parent, base, ignore=shutil.ignore_patterns("store"))
    return Case(base / "project", base / "upstream", base / "store")


HOLD = [
    fence('show="output"'),
    fence('show="output"', "pulled back: 6\n0\n".replace("\n0", "\n2")),
    fence('show="sequence"'),
    fence('show="sequence" region="rule"', SEQUENCE),
    fence('show="sequence" region="rule" depth="1"', "\n".join(SEQUENCE.split("\n")[:2]) + "\n"),
    fence('show="sequence" region="rule" only="tiny/core.py::checked"', "tiny/core.py::checked\n"),
    fence('show="states"'),
    fence('show="states"', STATES),
    fence('show="states"', "| moment | g |\n|:--|--:|\n| after the rule | 3 |\n"),
    fence('show="states" region="down"', "| moment | number |\n|---|---|\n| on the way | 2 |\n"),
    fence('show="graph"'),
    fence('show="graph"', GRAPH),
    fence('show="replay"'),
    fence('show="replay" region="down" depth="2"'),
    '```{.python experiment="walk" region="rule"}\n```\n',
]


@pytest.mark.parametrize("text", HOLD)
def test_what_is_recorded_holds(recorded: Case, text: str) -> None:
    judgement = recorded.one(text)
    assert (judgement.verdict, judgement.diff) == (Verdict.EXACT, ""), judgement.message


CHANGED_PAGES = [
    (fence('show="output"', "pulled back: 7\n2\n"), "-pulled back: 7"),
    (fence('show="sequence" region="rule"', SEQUENCE.replace("checked", "double")), "+  tiny/core"),
    (fence('show="sequence"', SEQUENCE), "+docs/experiments/walk.py::down"),
    (fence('show="states"', STATES.replace("| 3 |", "| 4 |")), "-| after the rule | 2 | 4 |  |"),
    (
        fence('show="states"', STATES.replace("on the way", "after all")),
        "+| on the way |  |  | 2 |",
    ),
    (
        fence('show="states" region="down"', "| moment | number |\n|-|-|\n| up | 2 |\n"),
        "-| up | 2 |",
    ),
    (fence('show="graph"', GRAPH.replace("b from a", "a from b")), "+  b from a: value = 1"),
]


@pytest.mark.parametrize(("text", "difference"), CHANGED_PAGES)
def test_a_page_that_says_otherwise(recorded: Case, text: str, difference: str) -> None:
    judgement = recorded.one(text)
    assert judgement.verdict is Verdict.EDITED
    assert difference in judgement.diff.split("\n") or difference in judgement.diff


BAD_PAGES = [
    (fence('show="film"'), Verdict.UNVERIFIABLE, "“film” cannot be shown"),
    (fence('show="output" depth="2"'), Verdict.UNVERIFIABLE, "the output has no depth"),
    (fence('show="sequence" width="2"'), Verdict.UNVERIFIABLE, "no attribute “width”"),
    (fence('show="replay"', SEQUENCE), Verdict.MISSING, "nothing can be quoted of a replay"),
    (fence('show="sequence" depth="0"'), Verdict.MISSING, "depth “0” is not a number from 1"),
    (fence('show="sequence" region="rules"'), Verdict.MISSING, "no region “rules” (It has: rule"),
    (fence('show="states" region="rule"'), Verdict.MISSING, "nothing to show as states in that"),
    (fence('show="states" only="colour"'), Verdict.MISSING, "nothing to show as states in that"),
    (fence('show="graph" only="ring"'), Verdict.MISSING, "nothing to show as graph in that part"),
    (fence('show="sequence" only="tiny/late.py"'), Verdict.MISSING, "nothing to show as sequence"),
    (
        fence('show="states"', "| moment | colour |\n|---|---|\n"),
        Verdict.MISSING,
        "nothing to show",
    ),
    (
        fence('show="states" only="x, colour"'),
        Verdict.MISSING,
        "there is no “colour” in what is to be shown as states",
    ),
    (
        fence('show="sequence" only="tiny/core.py::checked, tiny/late.py"'),
        Verdict.MISSING,
        "there is no “tiny/late.py”",
    ),
    (fence("").replace("walk", "none"), Verdict.MISSING, "there is no script"),
]


@pytest.mark.parametrize(("text", "verdict", "message"), BAD_PAGES)
def test_what_cannot_be_shown(recorded: Case, text: str, verdict: Verdict, message: str) -> None:
    judgement = recorded.one(text)
    assert judgement.verdict is verdict
    assert message in judgement.message


def replace_in(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


MUTATIONS: list[tuple[str, Callable[[Case], None], Verdict, str]] = [
    (
        "script",
        lambda case: replace_in(case.script, "stage(2)", "stage(2 )"),
        Verdict.EDITED,
        "has changed since it was recorded",
    ),
    (
        "tree",
        lambda case: replace_in(case.upstream / "tiny" / "core.py", "g * checked(x)", "g * x"),
        Verdict.EDITED,
        "tiny/core.py::stage is not the code that ran",
    ),
    (
        "symbol",
        lambda case: replace_in(case.upstream / "tiny" / "core.py", "def stage", "def rule"),
        Verdict.EDITED,
        "tiny/core.py::stage, which ran on",
    ),
    (
        "recorded output",
        lambda case: replace_in(case.recording, "pulled back: 6", "pulled back: 7"),
        Verdict.UNVERIFIABLE,
        "changed after it was made",
    ),
    (
        "recorded state",
        lambda case: replace_in(case.recording, '"x": "2"', '"x": "5"'),
        Verdict.UNVERIFIABLE,
        "changed after it was made",
    ),
    (
        "recorded call",
        lambda case: replace_in(case.recording, '[1, "tiny/core.py::checked"', '[1, "tiny/x.py"'),
        Verdict.UNVERIFIABLE,
        "changed after it was made",
    ),
    ("recording", lambda case: case.recording.unlink(), Verdict.MISSING, "there is no recording"),
    ("everything", lambda case: case.script.unlink(), Verdict.MISSING, "there is no script"),
]


@pytest.mark.parametrize("show", ["output", "sequence", "states", "graph", "replay"])
@pytest.mark.parametrize(
    ("change", "verdict", "message"),
    [mutation[1:] for mutation in MUTATIONS],
    ids=[mutation[0] for mutation in MUTATIONS],
)
def test_a_change_is_caught(
    case: Case, show: str, change: Callable[[Case], None], verdict: Verdict, message: str
) -> None:
    change(case)
    judgement = case.one(fence(f'show="{show}"'))
    assert judgement.verdict is verdict
    assert message in judgement.message
    if case.script.exists():
        case.page("")
        (whole,) = [each for each in case.open().check().judgements if each.kind == "experiment"]
        assert (whole.verdict, whole.location.path) == (verdict, "docs/experiments/walk.py")
    # Drawing it does not fail, and shows no picture.
    drawn = case.open().render(block_of(fence(f'show="{show}"')), "page.md", "en")
    assert f'data-verdict="{verdict.value}"' in drawn
    assert "<svg" not in drawn


def block_of(text: str):
    from annotate import pages

    (block,) = pages.blocks(text)
    return block


def test_a_change_that_does_not_matter_is_no_change(case: Case) -> None:
    core = case.upstream / "tiny" / "core.py"
    replace_in(core, "def drained(number):", "def drained(number, *more):")
    replace_in(core, "def stage(x):\n", "def stage(x):\n    # a comment\n")
    assert {each.verdict for each in case.page("".join(HOLD))} == {Verdict.EXACT}


HAND_WRITTEN = """\
[EXPERIMENT]
File: {file}
Purpose: to see it.

{code}

Prose again.
"""


@pytest.mark.parametrize("file", ["experiments/walk.py", "docs/experiments/walk.py"])
@pytest.mark.parametrize(
    ("code", "verdict", "line"),
    [
        ('pullback = stage(2)\nprint("pulled back:", pullback(3))', Verdict.EXACT, 11),
        ("    def down(number):\n        snapshot('on the way', number=number)", None, 18),
        ("pullback  =  stage( 2 )  # two", Verdict.REFORMATTED, 11),
        ('pullback = stage(3)\nprint("pulled back:", pullback(3))', Verdict.EDITED, 11),
        ("from nowhere import something_else_entirely_and_use_it\n", Verdict.MISSING, None),
    ],
)
def test_hand_written(
    recorded: Case, file: str, code: str, verdict: Verdict | None, line: int | None
) -> None:
    judgement = recorded.one(HAND_WRITTEN.format(file=file, code=code))
    # Quotation marks of the other kind are another token.
    assert judgement.verdict is (verdict or Verdict.EDITED)
    assert judgement.subject == "docs/experiments/walk.py"
    assert (judgement.found.line if judgement.found else None) == line
    assert bool(judgement.diff) == (judgement.verdict in (Verdict.REFORMATTED, Verdict.EDITED))


@pytest.mark.parametrize(
    ("text", "verdict", "message"),
    [
        (HAND_WRITTEN.format(file="experiments/no.py", code="x"), Verdict.MISSING, "no script"),
        (HAND_WRITTEN.format(file="../walk.py", code="x"), Verdict.UNVERIFIABLE, "not inside"),
        ("[EXPERIMENT]\nPurpose: none\n\nx = 1\n", Verdict.UNVERIFIABLE, "no File: line"),
        (HAND_WRITTEN.format(file="experiments/walk.py", code=""), None, "Prose"),
    ],
)
def test_hand_written_headers(
    recorded: Case, text: str, verdict: Verdict | None, message: str
) -> None:
    judgement = recorded.one(text)
    assert judgement.verdict is (verdict or Verdict.MISSING)
    assert verdict is None or message in judgement.message
