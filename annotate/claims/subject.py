"""Judging one symbol: whether it is there with the text that the page or the record gives.

Shared by every kind of claim that is about a symbol.
"""

from dataclasses import dataclass, replace

from annotate.claims.compare import Expected, compare, lines_within, unified_diff
from annotate.claims.context import Context
from annotate.errors import AnnotateError
from annotate.location import Location, RangeReference, Reference, SymbolReference
from annotate.records import Record
from annotate.upstream import syntax
from annotate.upstream.index import PYTHON_SUFFIXES, Index, Place
from annotate.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Found:
    """What looking for a reference found.

    Attributes:
        verdict: see `annotate.verdict.Verdict`.
        message: one sentence.
        place: what was found, if anything.
        record: the record that applies, if any.
        renamed: where the text stands now, for ``moved``.
        lines: of a symbol, the (first, last) lines that now hold the text, for ``moved``.
        diff: unified diff from the expected to the found text, or "".
    """

    verdict: Verdict
    message: str
    place: Place | None = None
    record: Record | None = None
    renamed: Place | None = None
    lines: tuple[int, int] | None = None
    diff: str = ""

    @property
    def location(self) -> Location | None:
        """Where the found text starts in the tree."""
        place = self.renamed or self.place
        return Location(place.path, place.first_line) if place else None


def look_for(
    context: Context,
    index: Index,
    reference: Reference,
    literal: str | None = None,
    lines: tuple[int, int] | None = None,
) -> Found:
    """Judge a reference against a tree.

    Args:
        context: what the claim is judged against.
        index: the tree's symbols.
        reference: the symbol or the lines of a file.
        literal: the quoted text, or None when the source is put in at build time.
        lines: of a symbol, only these lines of it (from 1, both included).
    """
    try:
        if isinstance(reference, RangeReference):
            return _look_for_range(index, reference, literal)
        place = index.find(reference)
    except AnnotateError as error:
        return Found(Verdict.UNVERIFIABLE, error.message)
    record = _record(context, index, reference, place)
    if place is None:
        return _not_there(index, reference, literal, record)
    if place.doubt:
        return Found(Verdict.UNVERIFIABLE, f"{place.id}: {place.doubt}", place, record)
    if lines is not None:
        part = _part(place, lines)
        if part is None:
            height = place.text.count("\n") + 1
            return Found(
                Verdict.MISSING,
                f"{place.id} has {height} lines, not {lines[0]}-{lines[1]}",
                place,
                record,
            )
    else:
        part = place
    if literal is not None:
        return _judge_literal(index, place, part, literal, record, whole=lines is None)
    return _judge_recorded(context, index, place, part, record)


def _judge_literal(
    index: Index, place: Place, part: Place, literal: str, record: Record | None, *, whole: bool
) -> Found:
    expected = Expected.of_text(literal)
    verdict = compare(expected, part.text)
    if verdict is Verdict.EXACT:
        return Found(verdict, f"the quote is the text of {part.id}", part, record)
    diff = _diff(expected.literal or "", part, index)
    if verdict is Verdict.REFORMATTED:
        message = f"only layout or comments differ from {part.id}"
        return Found(verdict, message, part, record, diff=diff)
    if (
        index.tree.is_stand_in
        and whole
        and record is not None
        and Expected.of_record(record).matches(syntax.canonical(literal))
    ):
        return Found(Verdict.STAND_IN, _stand_in_message(index, place), place, record, diff=diff)
    if moved := _same_text_elsewhere(index, expected, place):
        return replace(moved, record=record, diff=diff)
    inside = lines_within(expected.literal or "", place.text)
    if len(inside) == 1:
        at = f"lines {inside[0][0]}-{inside[0][1]} of {place.id}"
        if whole:
            message = f"the quote is only {at}"
            return Found(Verdict.EDITED, message, place, record, lines=inside[0], diff=diff)
        message = f"the quoted lines are now {at}"
        return Found(Verdict.MOVED, message, place, record, lines=inside[0], diff=diff)
    return Found(Verdict.EDITED, f"{part.id} has other code now", part, record, diff=diff)


def _judge_recorded(
    context: Context, index: Index, place: Place, part: Place, record: Record | None
) -> Found:
    if record is None:
        if index.tree.is_stand_in:
            message = f"{place.id} has no record to compare {index.tree.identity} with"
            return Found(Verdict.STAND_IN, message, part)
        return Found(Verdict.EXACT, f"{place.id} is there; no record ties its text", part)
    expected = Expected.of_record(record)
    verdict = compare(expected, place.text)
    if verdict is Verdict.EXACT:
        return Found(verdict, f"{place.id} has the recorded text", part, record)
    old = context.recorded_text(index.tree.pin.name, record.recorded, record.path, record.qualname)
    if old is not None and expected.matches(old):
        diff = unified_diff(old, place.text, f"recorded from {record.recorded[:12]}", place.id)
    else:
        diff = (
            f"(the text recorded from {record.recorded[:12]} is not at hand; "
            f"{index.tree.identity} has)\n{place.text}"
        )
    if index.tree.is_stand_in:
        return Found(Verdict.STAND_IN, _stand_in_message(index, place), part, record, diff=diff)
    if verdict is Verdict.REFORMATTED:
        message = f"only layout or comments of {place.id} differ from the record"
        return Found(verdict, message, part, record, diff=diff)
    if moved := _same_text_elsewhere(index, expected, place):
        return replace(moved, record=record, diff=diff)
    message = f"{place.id} has other code than recorded from {record.recorded[:12]}"
    return Found(Verdict.EDITED, message, part, record, diff=diff)


def _not_there(
    index: Index, reference: SymbolReference, literal: str | None, record: Record | None
) -> Found:
    expected = None
    if literal is not None:
        expected = Expected.of_text(literal)
    elif record is not None:
        expected = Expected.of_record(record)
    if expected is not None and (moved := _same_text_elsewhere(index, expected, None)):
        return replace(moved, record=record)
    path = index.file_of(reference)
    if path is None:
        what = f"{index.tree.identity} has no file {reference.paths()[0]}"
    elif not path.endswith(PYTHON_SUFFIXES):
        what = f"{path} is no Python file; quote lines of it as {path}#L1-L2"
    else:
        what = f"{path} defines no {reference.qualname}"
    return Found(Verdict.MISSING, what + _did_you_mean(index, reference), record=record)


def _look_for_range(index: Index, reference: RangeReference, literal: str | None) -> Found:
    place = index.lines(reference)
    if place is None:
        if reference.file not in index.tree.files:
            what = f"{index.tree.identity} has no file {reference.file}"
            return Found(Verdict.MISSING, what + _did_you_mean(index, reference))
        height = index.file_text(reference.file).removesuffix("\n").count("\n") + 1
        return Found(Verdict.MISSING, f"{reference.file} has only {height} lines")
    if literal is None:
        message = f"the lines are there; quote their text to tie it ({place.id})"
        return Found(Verdict.EXACT, message, place)
    expected = Expected.of_text(literal)
    verdict = compare(expected, place.text, python=reference.file.endswith(PYTHON_SUFFIXES))
    if verdict is Verdict.EXACT:
        return Found(verdict, f"the quote is the text of {place.id}", place)
    diff = _diff(expected.literal or "", place, index)
    if verdict is Verdict.REFORMATTED:
        return Found(verdict, f"only layout differs from {place.id}", place, diff=diff)
    others = lines_within(expected.literal or "", index.file_text(reference.file))
    if len(others) > 1:
        where = ", ".join(f"{first}-{last}" for first, last in others)
        message = f"{reference.file} has the quoted text more than once: lines {where}"
        return Found(Verdict.AMBIGUOUS, message, place, diff=diff)
    if others:
        first, last = others[0]
        now = replace(place, first_line=first, last_line=last, text=expected.literal or "")
        message = f"the quoted text now stands at {now.id}"
        return Found(Verdict.MOVED, message, place, renamed=now, diff=diff)
    return Found(Verdict.EDITED, f"{place.id} has other text now", place, diff=diff)


def _same_text_elsewhere(index: Index, expected: Expected, here: Place | None) -> Found | None:
    places = [place for place in index.with_text(expected.text_fingerprint) if place != here]
    if not places:
        return None
    if len(places) > 1:
        names = ", ".join(place.id for place in places[:5])
        return Found(Verdict.AMBIGUOUS, f"several symbols have the quoted text: {names}", here)
    return Found(
        Verdict.MOVED,
        f"the quoted text is now {places[0].id}",
        here or places[0],
        renamed=places[0],
    )


def _record(
    context: Context, index: Index, reference: Reference, place: Place | None
) -> Record | None:
    """The record under the name the page uses, else under the name an alias resolves to."""
    upstream = index.tree.pin.name
    if isinstance(reference, RangeReference):
        return None
    for path in (index.file_of(reference), *reference.paths()):
        if path is not None:
            record = context.records.get(upstream, path, reference.qualname)
            if record is not None:
                return record
    return context.records.get(upstream, place.path, place.qualname) if place else None


def _part(place: Place, lines: tuple[int, int]) -> Place | None:
    """Some lines of a symbol, counted from its first."""
    all_lines = place.text.split("\n")
    first, last = lines
    if last > len(all_lines):
        return None
    text = syntax.canonical("\n".join(all_lines[first - 1 : last]))
    return replace(
        place,
        first_line=place.first_line + first - 1,
        last_line=place.first_line + last - 1,
        text=text,
    )


def _diff(quoted: str, place: Place, index: Index) -> str:
    return unified_diff(quoted, place.text, "quoted", f"{place.id} ({index.tree.identity})")


def _stand_in_message(index: Index, place: Place) -> str:
    return f"{place.id} in {index.tree.identity} is not the recorded text of the pinned commit"


def _did_you_mean(index: Index, reference: Reference) -> str:
    nearest = index.nearest(reference)
    return f"; did you mean {' or '.join(nearest)}?" if nearest else ""
