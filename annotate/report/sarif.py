"""A report as SARIF 2.1.0 (OASIS standard), for code scanning services."""

import json
from typing import Any
from urllib.parse import quote

from annotate.edit import Fix
from annotate.project import Report
from annotate.verdict import Judgement, Severity, Verdict

_LEVEL = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}
_RULES = {
    Verdict.REFORMATTED: "Only layout or comments differ from the pinned source.",
    Verdict.MOVED: "The quoted text stands in another place.",
    Verdict.EDITED: "The code has changed; the prose needs another read.",
    Verdict.MISSING: "No such symbol or file.",
    Verdict.AMBIGUOUS: "Several places fit.",
    Verdict.UNVERIFIABLE: "The bytes could not be judged.",
    Verdict.STAND_IN: "Only a release is at hand, and its text is not the recorded one.",
}


def render(report: Report) -> str:
    """One result for each verdict that is not ok."""
    results = [
        _result(judgement) for judgement in report.judgements if judgement.severity in _LEVEL
    ]
    rules = [
        {"id": verdict.value, "shortDescription": {"text": text}}
        for verdict, text in _RULES.items()
    ]
    document = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": {"name": "annotate", "rules": rules}}, "results": results}],
    }
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def _result(judgement: Judgement) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": judgement.verdict.value,
        "level": _LEVEL[judgement.severity],
        "message": {"text": f"{judgement.subject}: {judgement.message}"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": _uri(judgement.location.path)},
                    "region": {"startLine": judgement.location.line},
                }
            }
        ],
    }
    if judgement.fix is not None and judgement.fix.edits:
        result["fixes"] = [_fix(judgement.fix)]
    return result


def _uri(path: str) -> str:
    # A name that is no text keeps its bytes.
    return quote(path, errors="surrogateescape")


def _fix(fix: Fix) -> dict[str, Any]:
    # A region without columns reaches to the end of its last line, the line end not included.
    changes: dict[str, list[dict[str, Any]]] = {}
    for edit in fix.edits:
        region = {"startLine": edit.first, "endLine": edit.last}
        replacement = {"deletedRegion": region, "insertedContent": {"text": edit.text}}
        changes.setdefault(edit.path, []).append(replacement)
    return {
        "description": {"text": fix.description},
        "artifactChanges": [
            {"artifactLocation": {"uri": _uri(path)}, "replacements": replacements}
            for path, replacements in changes.items()
        ],
    }
