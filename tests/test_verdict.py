"""Verdicts: eight of them, and which of them fail a run."""

import pytest

from annotate.verdict import Severity, Verdict


@pytest.mark.parametrize(
    ("verdict", "severity", "with_exact"),
    [
        (Verdict.EXACT, Severity.OK, Severity.OK),
        (Verdict.REFORMATTED, Severity.WARNING, Severity.WARNING),
        (Verdict.MOVED, Severity.ERROR, Severity.ERROR),
        (Verdict.EDITED, Severity.ERROR, Severity.ERROR),
        (Verdict.MISSING, Severity.ERROR, Severity.ERROR),
        (Verdict.AMBIGUOUS, Severity.ERROR, Severity.ERROR),
        (Verdict.UNVERIFIABLE, Severity.ERROR, Severity.ERROR),
        (Verdict.STAND_IN, Severity.NOTE, Severity.ERROR),
    ],
)
def test_severities(verdict: Verdict, severity: Severity, with_exact: Severity) -> None:
    assert verdict.severity() is severity
    assert verdict.severity(exact=True) is with_exact


def test_there_are_eight() -> None:
    assert len(Verdict) == 8
