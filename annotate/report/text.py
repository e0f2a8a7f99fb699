"""A report for people: what is not as claimed, where, and what to do about it."""

import re

from annotate.project import Report
from annotate.upstream.tree import Tree
from annotate.verdict import Judgement, Severity


def render(report: Report, *, verbose: bool = False) -> str:
    """All verdicts that are not plainly ok (every one if ``verbose``), then the totals."""
    parts = [f"{tree.pin.name}: {describe(tree)}" for tree in report.trees]
    for judgement in report.judgements:
        if verbose or judgement.severity is not Severity.OK:
            # A note needs no decision, so its diff can wait until someone asks for it.
            show_diff = verbose or judgement.severity is not Severity.NOTE
            parts += ["", *_judgement(judgement, show_diff=show_diff)]
    parts.append("")
    for location in report.unclaimed:
        parts.append(plain(f"{location}: nothing is claimed here, and nothing checked"))
    parts.append(totals(report))
    return "\n".join(parts) + "\n"


def describe(tree: Tree) -> str:
    """What was read, and whether it is what was pinned."""
    if tree.is_stand_in:
        return f"read {tree.identity}, a stand-in for commit {tree.pin.commit}"
    if tree.is_pinned_commit:
        return f"read commit {tree.pin.commit}"
    if not tree.pin.commit:
        return f"read {tree.identity}"
    return f"read {tree.identity}; the pin is commit {tree.pin.commit}"


def totals(report: Report) -> str:
    """One line: how many claims on how many pages, and how they fared."""
    summary = report.summary
    line = (
        f"{count(summary.claims, 'claim')} on {count(report.pages, 'page')}: "
        f"{summary.ok} ok, {count(summary.notes, 'note')}, "
        f"{count(summary.warnings, 'warning')}, {count(summary.errors, 'error')}; "
        f"{summary.unclaimed} unclaimed"
    )
    if report.nothing_judged and not report.failed:
        line += f"\nnothing was judged: {report.nothing_judged}"
    return line


def plain(line: str) -> str:
    """One line for a terminal or a log, which can neither steer it nor look like what it is not.

    Control characters, line separators and marks of writing direction are shown by their numbers.
    CI runners take commands out of logs (``::error::…`` at a line's start, ``##[…]`` anywhere); a
    backslash keeps quoted code from being one.
    """
    line = _UNSEEN.sub(_number, line)
    return _COMMAND.sub(lambda match: match[0][:-1] + "\\" + match[0][-1], line)


_UNSEEN = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_COMMAND = re.compile(r"^\s*::|##(?:vso)?\[")


def _number(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def _judgement(judgement: Judgement, *, show_diff: bool) -> list[str]:
    lines = [
        plain(
            f"{judgement.location}: {judgement.severity}: {judgement.verdict} "
            f"{judgement.kind} of {judgement.subject}"
        ),
        *_indented(judgement.message),
    ]
    if judgement.found is not None:
        lines.append(plain(f"    found at {judgement.found}"))
    if judgement.fix is not None:
        lines.append(plain(f"    fix: {judgement.fix.description}"))
    if show_diff and judgement.diff:
        lines += _indented(judgement.diff)
    return lines


def _indented(text: str) -> list[str]:
    return [f"    {plain(line)}".rstrip() for line in text.split("\n")]


def count(number: int, noun: str) -> str:
    """A number and its noun, in the plural unless it is one."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
