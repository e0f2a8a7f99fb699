"""Reports in every format: what each says, and that nothing quoted breaks out of it."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.cli import FORMATS
from annotate.edit import Edit, Fix
from annotate.location import Location
from annotate.pin import Pin
from annotate.project import Report
from annotate.report import github, sarif, text
from annotate.report import json as json_report
from annotate.upstream.tree import SourceName
from annotate.verdict import Judgement, Severity, Verdict
from tests.projects import COMMIT, tree_of

PIN = Pin("kettle", "https://git.example.org/kettle", COMMIT)
HOSTILE = "a%0A::error::x\r\n::set-output name=a::b,c:d\x1b[31m\u202e\x07\x9b1m"


def judgement(verdict: Verdict, line: int = 1, **changes: Any) -> Judgement:
    made = Judgement(
        "quote",
        Location("docs/page one.md", line),
        "m.py::f",
        verdict,
        verdict.severity(),
        f"message about {verdict}",
        Location("m.py", 3),
    )
    return replace(made, **changes)


FIX = Fix(
    "put it in",
    (Edit("docs/page one.md", 4, 5, "x\ny"), Edit("docs/page one.md", 9, 9, "")),
)
ALL = (
    judgement(Verdict.EXACT, 1),
    judgement(Verdict.STAND_IN, 2, diff="-note"),
    judgement(Verdict.REFORMATTED, 3, fix=FIX, diff="-a\n+b\n "),
    judgement(Verdict.MOVED, 4, fix=Fix("by hand")),
    judgement(Verdict.EDITED, 5, diff="-a\n+b"),
    judgement(Verdict.MISSING, 6, found=None),
    judgement(Verdict.AMBIGUOUS, 7),
    judgement(Verdict.UNVERIFIABLE, 8),
)


def report(
    judgements: tuple[Judgement, ...] = ALL,
    source: SourceName = "git",
    unclaimed: tuple[Location, ...] = (Location("docs/page one.md", 12),),
) -> Report:
    return Report(judgements, (tree_of(PIN, {}, source),), 1, unclaimed, len(judgements))


# Text


def test_text() -> None:
    assert (
        text.render(report())
        == """\
kettle: read commit 4b825dc642cb6eb9a060e54bf8d69288fbee4904

docs/page one.md:2: note: stand-in quote of m.py::f
    message about stand-in
    found at m.py:3

docs/page one.md:3: warning: reformatted quote of m.py::f
    message about reformatted
    found at m.py:3
    fix: put it in
    -a
    +b


docs/page one.md:4: error: moved quote of m.py::f
    message about moved
    found at m.py:3
    fix: by hand

docs/page one.md:5: error: edited quote of m.py::f
    message about edited
    found at m.py:3
    -a
    +b

docs/page one.md:6: error: missing quote of m.py::f
    message about missing

docs/page one.md:7: error: ambiguous quote of m.py::f
    message about ambiguous
    found at m.py:3

docs/page one.md:8: error: unverifiable quote of m.py::f
    message about unverifiable
    found at m.py:3

docs/page one.md:12: nothing is claimed here, and nothing checked
8 claims on 1 page: 1 ok, 1 note, 1 warning, 5 errors; 1 unclaimed
"""
    )


def test_verbose_text_lists_what_holds_and_the_diffs_of_notes() -> None:
    verbose = text.render(report(), verbose=True)
    assert "docs/page one.md:1: ok: exact quote of m.py::f\n" in verbose
    assert "    -note\n" in verbose


@pytest.mark.parametrize(
    ("source", "first_line"),
    [
        ("git", f"kettle: read commit {COMMIT}"),
        ("release", f"kettle: read release None, a stand-in for commit {COMMIT}"),
        ("folder", f"kettle: read folder checkout; the pin is commit {COMMIT}"),
    ],
)
def test_what_was_read_comes_first(source: SourceName, first_line: str) -> None:
    assert text.render(report(source=source)).split("\n")[0] == first_line


def test_a_run_that_judged_nothing_says_so_in_the_formats_for_people() -> None:
    empty = report((), unclaimed=())
    for render in (text.render, github.render):
        assert render(empty).endswith(
            "0 claims on 1 page: 0 ok, 0 notes, 0 warnings, 0 errors; 0 unclaimed\n"
            "nothing was judged: no claim found on 1 page\n"
        )


def test_text_shows_control_characters_instead_of_obeying_them() -> None:
    hostile = judgement(Verdict.EDITED, message=HOSTILE, diff=HOSTILE, subject=HOSTILE)
    shown = text.render(report((hostile,)))
    assert not {"\x1b", "\x07", "\x9b", "\u202e", "\r"} & set(shown)
    assert r"\x1b[31m" in shown
    assert r"\u202e" in shown
    # A runner takes a line for a command where it begins with ::, blanks apart.
    assert not any(line.strip().startswith("::") for line in shown.split("\n"))
    assert text.plain(" ::error::x") == " :\\:error::x"
    assert text.plain("#  ##[error]") == "#  ##\\[error]"
    assert text.plain("x[::2], y::z") == "x[::2], y::z"


def test_text_keeps_tabs_and_all_that_can_be_read() -> None:
    diff = "-\tnaïve 中文 ✓"
    assert f"    {diff}\n" in text.render(report((judgement(Verdict.EDITED, diff=diff),)))


# JSON


def test_json_has_exactly_the_documented_shape() -> None:
    document = json.loads(json_report.render(report()))
    assert list(document) == ["version", "upstream", "upstreams", "claims", "unclaimed", "summary"]
    assert document["version"] == 1
    assert document["upstream"] == {
        "name": "kettle",
        "repository": "https://git.example.org/kettle",
        "commit": COMMIT,
        "source": "git",
        "identity": f"commit {COMMIT}",
    }
    assert document["upstreams"] == [document["upstream"]]
    assert document["claims"][2] == {
        "kind": "quote",
        "path": "docs/page one.md",
        "line": 3,
        "subject": "m.py::f",
        "verdict": "reformatted",
        "severity": "warning",
        "message": "message about reformatted",
        "found": "m.py:3",
        "fix": {
            "description": "put it in",
            "edits": [
                {"path": "docs/page one.md", "first_line": 4, "last_line": 5, "text": "x\ny"},
                {"path": "docs/page one.md", "first_line": 9, "last_line": 9, "text": ""},
            ],
        },
        "diff": "-a\n+b\n ",
    }
    missing = document["claims"][5]
    assert (missing["found"], missing["fix"], missing["diff"]) == (None, None, "")
    assert [claim["verdict"] for claim in document["claims"]] == [each.verdict for each in ALL]
    assert document["unclaimed"] == [{"path": "docs/page one.md", "line": 12}]
    assert document["summary"] == {
        "claims": 8,
        "ok": 1,
        "notes": 1,
        "warnings": 1,
        "errors": 5,
        "unclaimed": 1,
    }


# GitHub


def test_github_commands() -> None:
    lines = github.render(report()).split("\n")
    assert lines[0] == (
        "::notice file=docs/page one.md,line=2,title=stand-in%3A m.py%3A%3Af"
        "::message about stand-in%0A-note"
    )
    assert lines[1].endswith("::message about reformatted%0Afix: put it in%0A-a%0A+b%0A ")
    assert [line.split(" ")[0] for line in lines[:-2]] == [
        *("::notice", "::warning", "::error", "::error", "::error", "::error", "::error"),
    ]
    assert lines[-2] == "8 claims on 1 page: 1 ok, 1 note, 1 warning, 5 errors; 1 unclaimed"


def parsed(command: str) -> tuple[str, dict[str, str], str]:
    """A workflow command as the runner reads it: name, properties, message."""
    head, _, message = command.removeprefix("::").partition("::")
    name, _, properties = head.partition(" ")
    values = dict(entry.split("=", 1) for entry in properties.split(","))
    return name, {key: unescaped(value) for key, value in values.items()}, unescaped(message)


def unescaped(value: str) -> str:
    for code, character in (("%3A", ":"), ("%2C", ","), ("%0D", "\r"), ("%0A", "\n")):
        value = value.replace(code, character)
    return value.replace("%25", "%")


TEXTS = st.text(st.sampled_from("a%0AD25CE:,\r\n;=中 "), max_size=12)


@given(path=TEXTS, subject=TEXTS, message=TEXTS, diff=TEXTS)
def test_github_escaping(path: str, subject: str, message: str, diff: str) -> None:
    hostile = judgement(
        Verdict.EDITED,
        location=Location(path, 7),
        subject=subject,
        message=message,
        diff=diff,
    )
    command, *_, end = github.render(report((hostile,))).split("\n")
    assert end == ""
    name, properties, data = parsed(command)
    assert name == "error"
    assert properties == {"file": path, "line": "7", "title": f"edited: {subject}"}
    assert data == (f"{message}\n{diff}" if diff else message)


# SARIF


def test_sarif() -> None:
    document = json.loads(sarif.render(report()))
    assert document["version"] == "2.1.0"
    (run,) = document["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert set(rules) == {verdict.value for verdict in Verdict} - {"exact"}
    assert [(result["ruleId"], result["level"]) for result in run["results"]] == [
        ("stand-in", "note"),
        ("reformatted", "warning"),
        *((verdict, "error") for verdict in ("moved", "edited", "missing")),
        *((verdict, "error") for verdict in ("ambiguous", "unverifiable")),
    ]
    location = run["results"][1]["locations"][0]["physicalLocation"]
    # Section 3.4.3: a URI reference, so that a blank is escaped.
    assert location["artifactLocation"]["uri"] == "docs/page%20one.md"
    assert location["region"] == {"startLine": 3}
    (fix,) = run["results"][1]["fixes"]
    assert fix["description"] == {"text": "put it in"}
    (change,) = fix["artifactChanges"]
    assert change["artifactLocation"] == {"uri": "docs/page%20one.md"}
    assert change["replacements"] == [
        {"deletedRegion": {"startLine": 4, "endLine": 5}, "insertedContent": {"text": "x\ny"}},
        {"deletedRegion": {"startLine": 9, "endLine": 9}, "insertedContent": {"text": ""}},
    ]
    # A fix in words has no place in the format.
    assert "fixes" not in run["results"][2]


# All of them

ANY = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)


@given(st.sampled_from(list(Verdict)), ANY, ANY, ANY, st.integers(1, 10**6))
def test_every_format_takes_every_text(
    verdict: Verdict, subject: str, message: str, diff: str, line: int
) -> None:
    made = judgement(verdict, line, subject=subject, message=message, diff=diff)
    for name, render in FORMATS.items():
        shown = render(report((made,)))
        assert shown.endswith("\n"), name
        if name in ("json", "sarif"):
            json.loads(shown)
    claim = json.loads(json_report.render(report((made,))))["claims"][0]
    assert (claim["subject"], claim["message"], claim["diff"]) == (subject, message, diff)


def test_every_severity_has_a_level_in_every_format() -> None:
    for severity in set(Severity) - {Severity.OK}:
        made = judgement(Verdict.EDITED, severity=severity)
        assert json.loads(sarif.render(report((made,))))["runs"][0]["results"]
        assert github.render(report((made,))).startswith("::")
