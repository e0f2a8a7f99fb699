"""The older, hand-written claim about an experiment: code that must stand in a script."""

from dataclasses import dataclass
from pathlib import Path

from annotate.claims.compare import lines_within, unified_diff
from annotate.location import refuse_unsafe_path
from annotate.upstream import syntax
from annotate.verdict import Verdict

FOLDERS = ("", "docs/")
"""Where a script is looked for, before the path that is written."""
ALIKE = 0.6
"""How much of a text must be the same for it to be taken for an older version of the other."""


@dataclass(frozen=True, slots=True)
class FoundScript:
    """What looking for a piece of code in a script found.

    Attributes:
        verdict: exact, reformatted, edited or missing.
        message: one sentence.
        script: the script's path in the project, or as it was written.
        text: the piece of the script, or "".
        first_line: where that starts, or None.
        diff: from the quote to the script, or "".
    """

    verdict: Verdict
    message: str
    script: str
    text: str = ""
    first_line: int | None = None
    diff: str = ""


def look_in_script(root: Path, written: str, quote: str) -> FoundScript:
    """Look for a quoted piece of code in a script of the project.

    Args:
        root: the project's folder.
        written: the script's path; if there is none, it is looked for below ``docs``.
        quote: the code.

    Raises:
        AnnotateError: the path leaves the project, the script cannot be read, or one of the two
            texts cannot be judged.
    """
    refuse_unsafe_path(written)
    names = [f"{folder}{written}" for folder in FOLDERS]
    script = next((name for name in names if (root / name).is_file()), None)
    if script is None:
        message = f"there is no script {written}, neither in the project nor in its docs"
        return FoundScript(Verdict.MISSING, message, written)
    text = syntax.decode((root / script).read_bytes())
    part = syntax.canonical(quote)
    lines = text.split("\n")
    if exact := lines_within(part, text):
        first, _ = exact[0]
        return FoundScript(Verdict.EXACT, "the script has this code", script, part, first)
    if (same := _same_tokens(part, text)) is not None:
        piece = _piece(lines, same)
        diff = unified_diff(part, piece, "quoted", script)
        message = "only layout or comments differ"
        return FoundScript(Verdict.REFORMATTED, message, script, piece, same[0], diff)
    near = _nearest(part, lines)
    if near is None:
        return FoundScript(Verdict.MISSING, "the script has no such code", script)
    piece = _piece(lines, near)
    diff = unified_diff(part, piece, "quoted", script)
    message = "the quote is not the text of the script"
    return FoundScript(Verdict.EDITED, message, script, piece, near[0], diff)


def _piece(lines: list[str], chosen: tuple[int, int]) -> str:
    return syntax.canonical("\n".join(lines[chosen[0] - 1 : chosen[1]]))


def _same_tokens(part: str, text: str) -> tuple[int, int] | None:
    """The lines of a text that are, token for token and but for comments, the part."""
    wanted = [each.text for each in _leaves(part)]
    leaves = _leaves(text)
    words = [each.text for each in leaves]
    for start in range(len(words) - len(wanted) + 1) if wanted else ():
        if words[start] == wanted[0] and words[start : start + len(wanted)] == wanted:
            first = text.count("\n", 0, leaves[start].start) + 1
            last = text.count("\n", 0, leaves[start + len(wanted) - 1].end) + 1
            piece = _piece(text.split("\n"), (first, last))
            if syntax.token_fingerprint(piece) == syntax.token_fingerprint(part):
                return first, last
    return None


def _leaves(text: str) -> list[syntax.Token]:
    return [each for each in syntax.tokens(text) if each.text and each.kind != "comment"]


def _nearest(part: str, lines: list[str]) -> tuple[int, int] | None:
    """As many lines as the part has that are most like it, if they are like it at all."""
    # Wanted only once something is wrong; the import costs more than a whole verify.
    from rapidfuzz import fuzz

    height = min(part.count("\n") + 1, len(lines))
    best, place = ALIKE, None
    for first in range(1, len(lines) - height + 2):
        alike = fuzz.ratio(part, _piece(lines, (first, first + height - 1))) / 100
        if alike > best:
            best, place = alike, (first, first + height - 1)
    return place
