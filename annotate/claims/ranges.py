"""Judging lines of a file that need not be Python: ``README.md#L10-L20``."""

from dataclasses import replace

from annotate.claims.compare import Expected, compare, compare_lines, lines_within, shown_lines
from annotate.claims.found import Found, did_you_mean, diff_from
from annotate.location import RangeReference
from annotate.upstream import syntax
from annotate.upstream.index import PYTHON_SUFFIXES, Index, Place
from annotate.verdict import Verdict


def look_for_lines(index: Index, reference: RangeReference, literal: str | None) -> Found:
    """Judge a reference to lines of a file against a tree.

    Raises:
        AnnotateError: the file's bytes, or the quote, cannot be judged.
    """
    place = index.lines(reference)
    if place is None:
        return _not_there(index, reference)
    if literal is None:
        message = f"the lines are there; quote their text to tie it ({place.id})"
        return Found(Verdict.EXACT, message, place)
    quoted = syntax.canonical(literal)
    verdict = _compare(index, place, quoted)
    if verdict is Verdict.EXACT:
        return Found(verdict, f"the quote is the text of {place.id}", place)
    diff = diff_from(quoted, place, index)
    if verdict is Verdict.REFORMATTED:
        return Found(verdict, f"only layout differs from {place.id}", place, diff=diff)
    others = lines_within(quoted, index.file_text(reference.file))
    if len(others) > 1:
        where = ", ".join(map(shown_lines, others))
        message = f"{reference.file} has the quoted text more than once: lines {where}"
        return Found(Verdict.AMBIGUOUS, message, place, diff=diff)
    if others:
        first, last = others[0]
        now = replace(place, first_line=first, last_line=last, text=quoted)
        message = f"the quoted text now stands at {now.id}"
        return Found(Verdict.MOVED, message, place, renamed=now, diff=diff)
    return Found(Verdict.EDITED, f"{place.id} has other text now", place, diff=diff)


def _compare(index: Index, place: Place, quoted: str) -> Verdict:
    if place.path.endswith(PYTHON_SUFFIXES):
        whole = index.file_text(place.path)
        return compare_lines(quoted, whole, (place.first_line, place.last_line))
    return compare(Expected.of_text(quoted), place.text, python=False)


def _not_there(index: Index, reference: RangeReference) -> Found:
    if reference.file not in index.tree.files:
        what = f"{index.tree.identity} has no file {reference.file}"
        return Found(Verdict.MISSING, what + did_you_mean(index, reference))
    height = index.file_text(reference.file).removesuffix("\n").count("\n") + 1
    count = f"{height} line{'' if height == 1 else 's'}"
    return Found(Verdict.MISSING, f"{reference.file} has only {count}")
