"""Golden cases: pages, the upstream they are about, and what checking them must find.

Each folder in ``cases`` is one: pages and records as in any project; ``upstream`` (or that of
all cases, ``cases/upstream``; ``upstream-NAME`` where several are pinned); ``case.toml`` with the
source of the trees or ``exact``, if not the usual ones; and ``expected.txt``. Adding a folder adds
a test. ``UPDATE_CASES=1 python -m pytest tests/claims/test_cases.py`` writes what is found into
``expected.txt``, for review.
"""

import os
import shutil
import tomllib
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

import pytest

from annotate import edit, pages
from annotate.edit import Edit
from annotate.errors import AnnotateError
from annotate.project import Project, Report
from annotate.verdict import Judgement, Verdict
from tests.projects import files_below, open_project

CASES = Path(__file__).parent / "cases"
NAMES = sorted(folder.name for folder in CASES.iterdir() if (folder / "expected.txt").exists())
NOT_OF_THE_PROJECT = ("upstream*", "case.toml", "expected.txt")


class Case:
    """A copy of a case that may be changed."""

    def __init__(self, name: str, tmp_path: Path) -> None:
        folder = CASES / name
        self.root = tmp_path / "project"
        shutil.copytree(folder, self.root, ignore=shutil.ignore_patterns(*NOT_OF_THE_PROJECT))
        settings = folder / "case.toml"
        self.settings = tomllib.loads(settings.read_text("utf-8")) if settings.exists() else {}
        self.store = tmp_path / "store"
        own = folder / "upstream"
        self.upstreams = {"kettle": files_below(own if own.exists() else CASES / "upstream")}
        for other in folder.glob("upstream-*"):
            self.upstreams[other.name.removeprefix("upstream-")] = files_below(other)

    def project(self) -> Project:
        source = self.settings.get("source", "git")
        return open_project(self.root, self.upstreams, self.store, source)

    def check(self) -> Report:
        return self.project().check(exact=self.settings.get("exact", False))


@pytest.fixture
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Case:
    return Case(request.param, tmp_path)


every_case = pytest.mark.parametrize("case", NAMES, indirect=True)


def shown(report: Report) -> str:
    """A report as a case's ``expected.txt`` has it: all but the diffs."""
    lines = []
    for judgement in report.judgements:
        lines.append(
            f"{judgement.location} {judgement.verdict} {judgement.kind} {judgement.subject}"
        )
        lines.append(f"    {judgement.message}")
        if judgement.found is not None:
            lines.append(f"    found at {judgement.found}")
        if judgement.fix is not None:
            edits = "" if judgement.fix.edits else " (by hand)"
            lines.append(f"    fix: {judgement.fix.description}{edits}")
    lines += [f"{location} unclaimed" for location in report.unclaimed]
    return "\n".join(lines) + "\n"


def complaint(error: AnnotateError) -> str:
    """An error as a case's ``expected.txt`` has it."""
    return f"error, exit {error.exit_code}: {error.message}\n    {error.hint or 'no hint!'}\n"


@every_case
def test_verdicts(case: Case, request: pytest.FixtureRequest) -> None:
    try:
        found = shown(case.check())
    except AnnotateError as error:
        found = complaint(error).replace(f"{case.root}/", "")
    expected = CASES / request.node.callspec.params["case"] / "expected.txt"
    if os.environ.get("UPDATE_CASES"):
        expected.write_text(found, encoding="utf-8")
    assert found == expected.read_text("utf-8")


def of_pages(report: Report) -> list[Judgement]:
    return [
        judgement for judgement in report.judgements if judgement.location.path.startswith("page")
    ]


def edits_of(judgements: Iterable[Judgement]) -> list[Edit]:
    return [edit for judgement in judgements if judgement.fix for edit in judgement.fix.edits]


def by_page(edits: Iterable[Edit]) -> Iterator[tuple[str, list[Edit]]]:
    in_order = sorted(edits, key=lambda edit: (edit.path, edit.first))
    for path, of_page in groupby(in_order, key=lambda edit: edit.path):
        yield path, list(of_page)


def untouched(data: bytes, ranges: Iterable[tuple[int, int]]) -> list[bytes]:
    """The lines of a file outside of these ranges, each with its line end."""
    lines: list[bytes | None] = list(data.split(b"\n"))
    for first, last in ranges:
        lines[first - 1 : last] = [None] * (last - first + 1)
    return [line for line in lines if line is not None]


@every_case
def test_applied_fixes_hold_and_change_nothing_else(case: Case) -> None:
    try:
        before = of_pages(case.check())
    except AnnotateError:
        return
    for path, edits in by_page(edits_of(before)):
        old = (case.root / path).read_bytes()
        new = edit.apply(old, edits)
        shift = 0
        new_ranges = []
        for each in edits:
            height = each.text.count("\n") + 1
            new_ranges.append((each.first + shift, each.first + shift + height - 1))
            shift += height - (each.last - each.first + 1)
        assert untouched(new, new_ranges) == untouched(old, ((e.first, e.last) for e in edits))
        (case.root / path).write_bytes(new)

    after = of_pages(case.check())
    wanted = [
        Verdict.EXACT if judgement.fix and judgement.fix.edits else judgement.verdict
        for judgement in before
    ]
    assert [judgement.verdict for judgement in after] == wanted
    assert edits_of(after) == []


@every_case
def test_every_claim_can_be_drawn(case: Case) -> None:
    """Whatever its verdict is."""
    try:
        project = case.project()
        names = project.pages()
        for name in names:
            for block in pages.blocks(pages.read_page(case.root / name, name)):
                html = project.render(block, name, "en")
                assert html is None or html.startswith(("<figure", "<div"))
    except AnnotateError:
        return


def test_every_verdict_and_every_sort_of_fix_is_among_the_cases() -> None:
    expected = "\n".join((CASES / name / "expected.txt").read_text("utf-8") for name in NAMES)
    assert "no hint!" not in expected
    for verdict in Verdict:
        assert f" {verdict} quote " in expected, verdict
    for fix in ("put in the text", "name ", "write lines=", "annotate accept", "quote the whole"):
        assert f"    fix: {fix}" in expected, fix
