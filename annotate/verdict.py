"""Verdicts: what checking one claim found, and how bad that is."""

from dataclasses import dataclass
from enum import StrEnum

from annotate.edit import Fix
from annotate.location import Location


class Severity(StrEnum):
    """How a verdict counts towards the exit code; only ``ERROR`` fails a run."""

    OK = "ok"
    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"


class Verdict(StrEnum):
    """The eight things checking a claim can find."""

    EXACT = "exact"
    REFORMATTED = "reformatted"
    MOVED = "moved"
    EDITED = "edited"
    MISSING = "missing"
    AMBIGUOUS = "ambiguous"
    UNVERIFIABLE = "unverifiable"
    STAND_IN = "stand-in"

    def severity(self, *, exact: bool = False) -> Severity:
        """How bad it is; with ``exact``, a stand-in's text is not good enough."""
        match self:
            case Verdict.EXACT:
                return Severity.OK
            case Verdict.REFORMATTED:
                return Severity.WARNING
            case Verdict.STAND_IN:
                return Severity.ERROR if exact else Severity.NOTE
            case _:
                return Severity.ERROR


@dataclass(frozen=True, slots=True)
class Judgement:
    """A claim and the verdict on it.

    Attributes:
        kind: what sort of claim: ``quote``, ``note``, ``calls``, ``experiment``, …
        location: where the claim stands, as a path relative to the project and a line.
        subject: what it is about, usually a symbol id.
        verdict: what was found.
        severity: how that counts.
        message: one sentence: what was expected and what was found.
        found: where in the upstream tree the judged text stands, when it was found.
        fix: what would make the claim true, when that is known.
        diff: unified diff from what the page says to what the tree says, or "".
    """

    kind: str
    location: Location
    subject: str
    verdict: Verdict
    severity: Severity
    message: str
    found: Location | None = None
    fix: Fix | None = None
    diff: str = ""
