"""A report for programs: a versioned JSON object."""

import json
from typing import Any

from annotate.project import Report
from annotate.upstream.tree import Tree
from annotate.verdict import Judgement

VERSION = 1


def render(report: Report) -> str:
    """Keys: ``version``, ``upstream`` (the first), ``upstreams``, ``claims``, ``summary``.

    ``found`` is ``path:line`` or null; ``fix`` is null or an object with a ``description`` and
    ``edits`` (``path``, ``first_line``, ``last_line``, ``text``: whole lines to replace).
    """
    upstreams = [_upstream(tree) for tree in report.trees]
    summary = report.summary
    document = {
        "version": VERSION,
        "upstream": upstreams[0],
        "upstreams": upstreams,
        "claims": [_claim(judgement) for judgement in report.judgements],
        "unclaimed": [
            {"path": location.path, "line": location.line} for location in report.unclaimed
        ],
        "summary": {
            "claims": summary.claims,
            "ok": summary.ok,
            "notes": summary.notes,
            "warnings": summary.warnings,
            "errors": summary.errors,
            "unclaimed": summary.unclaimed,
        },
    }
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def _upstream(tree: Tree) -> dict[str, str]:
    return {
        "name": tree.pin.name,
        "repository": tree.pin.repository,
        "commit": tree.pin.commit,
        "source": tree.source,
        "identity": tree.identity,
    }


def _claim(judgement: Judgement) -> dict[str, Any]:
    fix = judgement.fix
    return {
        "kind": judgement.kind,
        "path": judgement.location.path,
        "line": judgement.location.line,
        "subject": judgement.subject,
        "verdict": judgement.verdict.value,
        "severity": judgement.severity.value,
        "message": judgement.message,
        "found": str(judgement.found) if judgement.found else None,
        "fix": None
        if fix is None
        else {
            "description": fix.description,
            "edits": [
                {
                    "path": edit.path,
                    "first_line": edit.first,
                    "last_line": edit.last,
                    "text": edit.text,
                }
                for edit in fix.edits
            ],
        },
        "diff": judgement.diff,
    }
