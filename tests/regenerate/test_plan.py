"""Carrying a project to another version: what is written, what stays, and the way back."""

from dataclasses import replace
from pathlib import Path

import pytest

from annotate import config, journal
from annotate.project import Project
from annotate.regenerate import Plan, make_plan
from annotate.report import regeneration
from annotate.upstream.index import Index
from annotate.upstream.moves import Change
from annotate.upstream.store import Store
from annotate.verdict import Verdict
from tests.projects import files_below, tree_of
from tests.regenerate.material import (
    NEW_COMMIT,
    NEW_FILES,
    OLD_COMMIT,
    OLD_FILES,
    make_project,
    new_tree,
)


def plan_of(project: Project, store: Path) -> Plan:
    return make_plan(project, *new_tree(project), Store(store))


def reopen(root: Path, store: Path) -> Project:
    """The project as it is on disk now, at what it pins now."""
    configuration = config.load(root)
    pin = configuration.pins[0]
    files = NEW_FILES if pin.commit == NEW_COMMIT else OLD_FILES
    kept = Store(store)
    return Project(configuration, {pin.name: Index(tree_of(pin, files), kept)}, kept)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


def carried(plan: Plan, kind: str) -> dict[str, tuple[Change, str | None]]:
    return {each.subject: (each.change, each.now) for each in plan.carried if each.kind == kind}


def test_each_claim_says_what_became_of_it(tmp_path: Path, store: Path) -> None:
    plan = plan_of(make_project(tmp_path / "p", store), store)
    assert carried(plan, "quote") == {
        "kettle/heat.py::boil": (Change.UNCHANGED, "kettle/heat.py::boil"),
        "kettle/lid.py::Lid.lift": (Change.MOVED_TO_FILE, "kettle/parts/lid.py::Lid.lift"),
        "kettle/heat.py::pour": (Change.RENAMED, "kettle/heat.py::serve"),
        "kettle/heat.py::whistle": (Change.REFORMATTED, "kettle/heat.py::whistle"),
        "kettle/heat.py::descale": (Change.EDITED, "kettle/heat.py::descale"),
        "kettle/heat.py::report": (Change.EDITED, "kettle/heat.py::report"),
        "README.md#L5": (Change.MOVED, "README.md#L7"),
    }
    assert carried(plan, "calls")["kettle/heat.py::pour"][1] == "kettle/heat.py::serve"


def test_what_is_safe_is_written_and_what_changed_stays(tmp_path: Path, store: Path) -> None:
    root = tmp_path / "p"
    plan = plan_of(make_project(root, store), store)
    journal.apply(root, plan.changes)
    page = (root / "docs/kettle.md").read_text()
    assert '```{.python source="kettle/parts/lid.py::Lid.lift" lines="2-3"}' in page
    assert '    ```{.python title="Tea" source="kettle/heat.py::serve"}' in page
    assert "    def serve(kettle, cups, spill=0.0):" in page
    assert "Symbol: serve\n\ndef serve(" in page
    assert "blow(tune)" in page
    assert 'source="kettle/heat.py::report" lines="5-6"' in page
    assert 'source="README.md#L7"' in page
    # A directive shown as an example is nobody's claim.
    assert '````markdown\n```{.python source="kettle/heat.py::pour"}' in page
    report = reopen(root, store).check()
    failing = {
        (each.kind, each.subject.partition(" lines ")[0], each.verdict)
        for each in report.judgements
        if each.verdict is not Verdict.EXACT
    }
    assert failing == {
        ("quote", "kettle/heat.py::descale", Verdict.EDITED),
        ("quote", "kettle/heat.py::report", Verdict.EDITED),
        ("record", "kettle/heat.py::report", Verdict.EDITED),
        ("record", "kettle/heat.py::whistle", Verdict.REFORMATTED),
    }
    assert plan.report.summary == report.summary


def test_prose_beside_what_changed_is_listed(tmp_path: Path, store: Path) -> None:
    plan = plan_of(make_project(tmp_path / "p", store), store)
    paragraphs = [text for _, text in plan.reading]
    assert "After descaling the water is soft." in paragraphs
    assert "Boiling comes first." not in paragraphs


def test_records_go_with_their_symbols(tmp_path: Path, store: Path) -> None:
    root = tmp_path / "p"
    plan = plan_of(make_project(root, store), store)
    journal.apply(root, plan.changes)
    assert not (root / "snippets/kettle/kettle/lid.py.toml").exists()
    moved = (root / "snippets/kettle/kettle/parts/lid.py.toml").read_text()
    assert 'path = "kettle/parts/lid.py"' in moved
    assert f'recorded = "{NEW_COMMIT}"' in moved
    heat = (root / "snippets/kettle/kettle/heat.py.toml").read_text()
    assert "[serve]" in heat
    assert "[pour]" not in heat
    assert "# why we keep this one\n[descale]" in heat
    descale = heat.partition("[descale]")[2].partition("[")[0]
    assert f'recorded = "{OLD_COMMIT}"' in descale


def test_a_second_time_nothing_changes(tmp_path: Path, store: Path) -> None:
    root = tmp_path / "p"
    journal.apply(root, plan_of(make_project(root, store), store).changes)
    project = reopen(root, store)
    again = make_plan(project, *new_tree(project), Store(store))
    assert again.files == {}


@pytest.mark.parametrize(("newline", "bom"), [("\n", False), ("\r\n", False), ("\r\n", True)])
def test_there_and_back_restores_every_byte(
    tmp_path: Path, store: Path, newline: str, bom: bool
) -> None:
    root = tmp_path / "p"
    project = make_project(root, store, newline=newline, bom=bom)
    before = files_below(root)
    journal.apply(root, plan_of(project, store).changes)
    assert files_below(root) != before
    project = reopen(root, store)
    pin = replace(project.config.pins[0], commit=OLD_COMMIT)
    back = make_plan(project, pin, tree_of(pin, OLD_FILES), Store(store))
    journal.apply(root, back.changes)
    after = files_below(root)
    assert after.keys() == before.keys()
    # What only layout distinguishes is put in as it is upstream, the old way as well.
    assert after == before


def test_the_patch_is_the_change(tmp_path: Path, store: Path) -> None:
    plan = plan_of(make_project(tmp_path / "p", store), store)
    patch = plan.patch()
    assert "+++ /dev/null\n" in patch
    assert f'-commit = "{OLD_COMMIT}"\n+commit = "{NEW_COMMIT}"\n' in patch


def test_near_twins_are_not_guessed_between(tmp_path: Path, store: Path) -> None:
    root = tmp_path / "p"
    project = make_project(root, store)
    pin = replace(project.config.pins[0], commit=NEW_COMMIT)
    pour = OLD_FILES["kettle/heat.py"].decode()
    start = pour.index("def pour(")
    body = pour[start : pour.index("\n\n\ndef whistle")]
    twins = "\n\n\n".join(body.replace("def pour(", f"def {name}(") for name in ("left", "right"))
    files = {**OLD_FILES, "kettle/heat.py": pour.replace(body, twins).encode()}
    plan = make_plan(project, pin, tree_of(pin, files), Store(store))
    change, now = carried(plan, "quote")["kettle/heat.py::pour"]
    assert (change, now) == (Change.AMBIGUOUS, None)
    assert b'source="kettle/heat.py::pour"' in (
        plan.files.get("docs/kettle.md", (b"", (root / "docs/kettle.md").read_bytes()))[1] or b""
    )


def test_every_format_tells_of_every_change(tmp_path: Path, store: Path) -> None:
    plan = plan_of(make_project(tmp_path / "p", store), store)
    for render in (
        regeneration.render_text,
        regeneration.render_json,
        regeneration.render_markdown,
    ):
        said = render(plan)
        assert "kettle/heat.py::serve" in said
        assert "kettle/heat.py::descale" in said
        assert "After descaling the water is soft." in said
