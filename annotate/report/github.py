"""A report as GitHub Actions workflow commands: annotations on the lines of a pull request.

Source of the format: "Workflow commands for GitHub Actions", setting an error, warning or notice
message; property values and data are percent-encoded as actions/toolkit does.
"""

from annotate.project import Report
from annotate.report.text import totals
from annotate.verdict import Judgement, Severity

_COMMAND = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def render(report: Report) -> str:
    """One command for each verdict that is not ok, then the totals as plain text."""
    lines = [
        _command(judgement) for judgement in report.judgements if judgement.severity in _COMMAND
    ]
    return "\n".join([*lines, totals(report)]) + "\n"


def _command(judgement: Judgement) -> str:
    title = f"{judgement.verdict}: {judgement.subject}"
    message = judgement.message
    if judgement.fix is not None:
        message += f"\nfix: {judgement.fix.description}"
    if judgement.diff:
        message += f"\n{judgement.diff}"
    return (
        f"::{_COMMAND[judgement.severity]} file={_property(judgement.location.path)},"
        f"line={judgement.location.line},title={_property(title)}::{_data(message)}"
    )


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
