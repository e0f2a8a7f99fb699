"""What regenerating does to a project: as text, as JSON, and as Markdown for a pull request."""

import json
from collections.abc import Iterator

from annotate.regenerate import Carried, Plan
from annotate.report.text import count, totals
from annotate.upstream.moves import Change
from annotate.verdict import Judgement, Severity

VERSION = 1


def render_text(plan: Plan) -> str:
    """What moved, what is to be read again and why, then the check of the result."""
    return "\n".join([*_lines(plan), "", totals(plan.report)]) + "\n"


def render_json(plan: Plan) -> str:
    """A versioned object, for programs.

    Keys: ``version``, ``from``, ``to``, ``claims``, ``files``, ``edges``, ``captures``,
    ``reading``, ``summary``.
    """
    summary = plan.report.summary
    document = {
        "version": VERSION,
        "from": plan.old.recorded_as,
        "to": plan.new.recorded_as,
        "claims": [_claim(each) for each in plan.carried],
        "files": sorted(plan.files),
        "edges": list(plan.edges),
        "captures": {
            symbol: {"before": list(before), "now": list(now)}
            for symbol, (before, now) in plan.captures.items()
        },
        "reading": [
            {"path": place.path, "line": place.line, "text": text} for place, text in plan.reading
        ],
        "summary": {
            "claims": summary.claims,
            "ok": summary.ok,
            "notes": summary.notes,
            "warnings": summary.warnings,
            "errors": summary.errors,
        },
    }
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def render_markdown(plan: Plan) -> str:
    """For a pull request: what to read, article by article, each change with its diff."""
    lines = [f"## From {plan.old.recorded_as} to {plan.new.recorded_as}", ""]
    moved = [each for each in plan.carried if each.now and each.now != each.subject]
    if moved:
        lines += ["### Moved", "", "| where | was | is now | confidence |", "|---|---|---|---|"]
        lines += [
            f"| {each.location} | `{each.subject}` | `{each.now}` | {each.confidence:.2f} |"
            for each in moved
        ]
        lines.append("")
    failing = [each for each in plan.report.judgements if each.severity is Severity.ERROR]
    by_page: dict[str, list[Judgement]] = {}
    for judgement in failing:
        by_page.setdefault(judgement.location.path, []).append(judgement)
    for page, judgements in by_page.items():
        lines += [f"### {page}", ""]
        for judgement in judgements:
            lines += [
                f"- line {judgement.location.line}: **{judgement.verdict}** "
                f"`{judgement.subject}`: {judgement.message}"
            ]
            if judgement.diff:
                fence = "`" * max(3, _longest_run(judgement.diff) + 1)
                body = [f"  {line}" for line in judgement.diff.split("\n")]
                lines += ["", f"  {fence}diff", *body, f"  {fence}", ""]
        lines.append("")
        beside = [(place, text) for place, text in plan.reading if place.path == page]
        if beside:
            lines += ["Prose beside what changed:", ""]
            for place, text in beside:
                lines += [f"- line {place.line}", "", *(f"  > {line}" for line in text.split("\n"))]
                lines.append("")
    lines += _facts(plan, "### ")
    lines += ["", totals(plan.report)]
    return "\n".join(lines) + "\n"


def _lines(plan: Plan) -> Iterator[str]:
    yield f"from {plan.old.recorded_as}"
    yield f"to   {plan.new.recorded_as}"
    for each in plan.carried:
        if each.change is Change.UNCHANGED and (each.now == each.subject or each.kind == "note"):
            continue
        yield ""
        now = f" → {each.now}" if each.now and each.now != each.subject else ""
        written = ", written" if each.written else ""
        yield (
            f"{each.location}: {each.change} {each.kind} of {each.subject}{now} "
            f"({each.confidence:.2f}{written})"
        )
        yield f"    {each.reason}"
    for place, text in plan.reading:
        yield ""
        yield f"{place}: read this again"
        yield from (f"    | {line}".rstrip() for line in text.split("\n"))
    yield from _facts(plan, "")
    yield ""
    yield f"{count(len(plan.files), 'file')} to write: {', '.join(sorted(plan.files)) or 'none'}"


def _facts(plan: Plan, mark: str) -> list[str]:
    """Calls and captures that are not what they were, and experiments that no longer hold."""
    lines = []
    if plan.edges:
        lines += ["", f"{mark}Calls", "", *(f"- {edge}" if mark else edge for edge in plan.edges)]
    if plan.captures:
        lines += ["", f"{mark}Captures", ""]
        for symbol, (before, now) in plan.captures.items():
            was, is_now = ", ".join(before) or "nothing", ", ".join(now) or "nothing"
            lines.append(f"{'- ' if mark else ''}{symbol}: {was} → {is_now}")
    stale = [
        each
        for each in plan.report.judgements
        if each.kind == "experiment" and each.severity is Severity.ERROR
    ]
    if stale:
        lines += ["", f"{mark}Experiments to run again", ""]
        lines += [f"{'- ' if mark else ''}{each.location}: {each.message}" for each in stale]
    return lines


def _claim(carried: Carried) -> dict[str, object]:
    return {
        "kind": carried.kind,
        "path": carried.location.path,
        "line": carried.location.line,
        "subject": carried.subject,
        "change": carried.change.value,
        "now": carried.now,
        "confidence": round(carried.confidence, 3),
        "reason": carried.reason,
        "written": carried.written,
    }


def _longest_run(text: str) -> int:
    """The longest run of backticks in a text."""
    longest = run = 0
    for character in text:
        run = run + 1 if character == "`" else 0
        longest = max(longest, run)
    return longest
