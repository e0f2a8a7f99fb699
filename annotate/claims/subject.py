"""Judging one symbol: whether it is there with the text that the page or the record gives.

Shared by every kind of claim that is about a symbol.
"""

from dataclasses import replace

from annotate.claims.compare import (
    Expected,
    compare,
    compare_lines,
    in_words,
    lines_within,
    shown_lines,
    unified_diff,
    with_lines,
)
from annotate.claims.context import Context
from annotate.claims.found import (
    Found,
    did_you_mean,
    diff_from,
    same_text_elsewhere,
    unverifiable,
)
from annotate.claims.ranges import look_for_lines
from annotate.errors import AnnotateError
from annotate.location import RangeReference, Reference, SymbolReference
from annotate.pin import is_full_commit
from annotate.records import Record
from annotate.upstream import syntax
from annotate.upstream.index import PYTHON_SUFFIXES, Index, Place
from annotate.verdict import Verdict

Lines = tuple[int, int]
"""Some lines of a symbol: first and last, from 1, both included."""


def look_for(
    context: Context,
    index: Index,
    reference: Reference,
    literal: str | None = None,
    lines: Lines | None = None,
) -> Found:
    """Judge a reference against a tree.

    Args:
        context: what the claim is judged against.
        index: the tree's symbols.
        reference: the symbol or the lines of a file.
        literal: the quoted text, or None when the source is put in at build time.
        lines: of a symbol, only these lines of it.
    """
    try:
        if isinstance(reference, RangeReference):
            return look_for_lines(index, reference, literal)
        return _look_for_symbol(context, index, reference, literal, lines)
    except AnnotateError as error:
        return unverifiable(error)


def _look_for_symbol(
    context: Context,
    index: Index,
    reference: SymbolReference,
    literal: str | None,
    lines: Lines | None,
) -> Found:
    places = index.candidates(reference)
    if len(places) > 1:
        names = " or ".join(place.id for place in places)
        return Found(Verdict.AMBIGUOUS, f"{reference} can mean {names}; name one of them")
    place = places[0] if places else None
    record = _record(context, index, reference, place)
    if place is None:
        return _not_there(index, reference, literal, lines, record)
    if place.doubt:
        return Found(Verdict.UNVERIFIABLE, f"{place.id}: {place.doubt}", place, record)
    if literal is None:
        return _judge_recorded(context, index, place, lines, record)
    if record is not None and _is_other_text(index, place, record):
        found = _judge_by_record(index, place, literal, lines, record)
    else:
        found = _judge_literal(index, place, literal, lines)
    found = found or _differs(index, place, literal, lines)
    return found if record is None else replace(found, record=record)


def _judge_literal(index: Index, place: Place, literal: str, lines: Lines | None) -> Found | None:
    """`exact` or `reformatted`, or None where a quote has other code than the tree."""
    part = place if lines is None else _part(place, lines)
    if part is None:
        return None
    if lines is None:
        verdict = compare(Expected.of_text(literal), place.text)
    else:
        verdict = compare_lines(literal, place.text, lines)
    if verdict is Verdict.EXACT:
        where = f" in {index.tree.identity}" if index.tree.is_stand_in else ""
        return Found(verdict, f"the quote is the text of {part.id}{where}", part)
    if verdict is Verdict.REFORMATTED:
        diff = diff_from(syntax.canonical(literal), part, index)
        return Found(verdict, f"only layout or comments differ from {part.id}", part, diff=diff)
    return None


def _is_other_text(index: Index, place: Place, record: Record) -> bool:
    """Whether a stand-in's text is known not to be that of the commit."""
    return (
        index.tree.is_stand_in
        and is_full_commit(record.recorded)
        and not Expected.of_record(record).matches(place.text)
    )


def _judge_by_record(
    index: Index, place: Place, literal: str, lines: Lines | None, record: Record
) -> Found | None:
    """Judge a quote of code that the stand-in has otherwise; None where neither has it."""
    recorded = Expected.of_record(record)
    quoted = syntax.canonical(literal)
    diff = diff_from(quoted, place if lines is None else _part(place, lines) or place, index)
    stand_in = Found(Verdict.STAND_IN, _stand_in_message(index, place, record), place, diff=diff)
    if lines is not None:
        height = place.text.count("\n") + 1
        if lines[1] <= height and recorded.matches(with_lines(place.text, lines, quoted)):
            return stand_in
        return stand_in if lines_within(quoted, place.text) else None
    if recorded.matches(quoted) or recorded.same_tokens(quoted):
        return stand_in
    if compare(Expected.of_text(quoted), place.text) is Verdict.EDITED:
        return None
    if record.recorded != index.tree.pin.commit:
        return stand_in
    message = (
        f"the quote is the text of {place.id} in {index.tree.identity}, "
        f"not the one recorded from commit {_shown(record)}"
    )
    return Found(Verdict.EDITED, message, place, diff=diff)


def _differs(index: Index, place: Place, literal: str, lines: Lines | None) -> Found:
    """Say of a quote that is not the code it names what else it is."""
    expected = Expected.of_text(literal)
    quoted = syntax.canonical(literal)
    part = place if lines is None else _part(place, lines)
    diff = diff_from(quoted, part or place, index)
    inside = lines_within(quoted, place.text)
    if lines is not None and inside:
        return _moved_within(place, inside, diff)
    if moved := same_text_elsewhere(index, expected, place):
        return replace(moved, diff=diff)
    if len(inside) == 1:
        message = f"the quote is only {in_words(inside[0])} of {place.id}"
        return Found(Verdict.EDITED, message, place, lines=inside[0], diff=diff)
    if part is None:
        return _too_short(place, lines)
    return Found(Verdict.EDITED, f"{part.id} has other code now", part, diff=diff)


def _moved_within(place: Place, inside: list[Lines], diff: str) -> Found:
    if len(inside) > 1:
        where = ", ".join(map(shown_lines, inside))
        message = f"{place.id} has the quoted lines more than once: {where}"
        return Found(Verdict.AMBIGUOUS, message, place, diff=diff)
    message = f"the quoted text is now {in_words(inside[0])} of {place.id}"
    part = _part(place, inside[0])
    return Found(Verdict.MOVED, message, part, lines=inside[0], diff=diff)


def _judge_recorded(
    context: Context, index: Index, place: Place, lines: Lines | None, record: Record | None
) -> Found:
    part = place if lines is None else _part(place, lines)
    if part is None:
        return replace(_too_short(place, lines), record=record)
    if record is None:
        if index.tree.is_stand_in:
            message = f"{place.id} has no record to compare {index.tree.identity} with"
            return Found(Verdict.STAND_IN, message, part)
        return Found(Verdict.EXACT, f"{place.id} is there; no record ties its text", part)
    expected = Expected.of_record(record)
    verdict = compare(expected, place.text)
    if verdict is Verdict.EXACT:
        return Found(verdict, f"{place.id} has the recorded text", part, record)
    diff = _diff_from_recorded(context, index, place, record)
    if _is_other_text(index, place, record):
        message = _stand_in_message(index, place, record)
        return Found(Verdict.STAND_IN, message, part, record, diff=diff)
    if verdict is Verdict.REFORMATTED:
        message = f"only layout or comments of {place.id} differ from the record"
        return Found(verdict, message, part, record, diff=diff)
    if moved := same_text_elsewhere(index, expected, place):
        if lines is not None and moved.renamed is not None:
            moved = _part_moved(index, moved.renamed, None, lines)
        return replace(moved, record=record, diff=diff)
    message = f"{place.id} has other code than recorded from {_shown(record)}"
    return Found(Verdict.EDITED, message, part, record, diff=diff)


def _diff_from_recorded(context: Context, index: Index, place: Place, record: Record) -> str:
    old = context.recorded_text(index.tree.pin.name, record.recorded, record.path, record.qualname)
    if old is not None and Expected.of_record(record).matches(old):
        return unified_diff(old, place.text, f"recorded from {_shown(record)}", place.id)
    return (
        f"(the text recorded from {_shown(record)} is not at hand; "
        f"{index.tree.identity} has)\n{place.text}"
    )


def _not_there(
    index: Index,
    reference: SymbolReference,
    literal: str | None,
    lines: Lines | None,
    record: Record | None,
) -> Found:
    recorded = Expected.of_record(record) if record is not None else None
    if record is not None and recorded is not None and index.tree.is_stand_in:
        is_recorded = literal is None or lines is not None
        if is_full_commit(record.recorded) and (
            is_recorded or recorded.matches(syntax.canonical(literal or ""))
        ):
            message = f"{index.tree.identity} has no {reference}, unlike commit {_shown(record)}"
            return Found(Verdict.STAND_IN, message, record=record)
    if lines is not None and recorded is not None:
        moved = same_text_elsewhere(index, recorded, None)
        if moved is not None and moved.renamed is not None:
            return replace(_part_moved(index, moved.renamed, literal, lines), record=record)
    expected = recorded if literal is None else Expected.of_text(literal)
    if expected is not None and (moved := same_text_elsewhere(index, expected, None)):
        return replace(moved, record=record)
    path = index.file_of(reference)
    if path is None:
        what = f"{index.tree.identity} has no file {reference.paths()[0]}"
    elif not path.endswith(PYTHON_SUFFIXES):
        what = f"{path} is no Python file; quote lines of it as {path}#L1-L2"
    elif target := _imported_from(index, path, reference.qualname):
        what = f"{path} imports {target}, which {index.tree.identity} does not define"
    else:
        what = f"{path} defines no {reference.qualname}"
    return Found(Verdict.MISSING, what + did_you_mean(index, reference), record=record)


def _imported_from(index: Index, path: str, qualname: str) -> str:
    """What a name that cannot be followed is imported from, as ``name from module``, or ""."""
    head = qualname if qualname in index.module(path).aliases else qualname.partition(".")[0]
    targets = index.module(path).aliases.get(head)
    if not targets or index.candidates(SymbolReference(path, head)):
        return ""
    module, _, name = targets[0].partition(":")
    return f"{name} from {module}" if name else module


def _part_moved(index: Index, moved: Place, literal: str | None, lines: Lines) -> Found:
    """Lines of a symbol that, as a whole, has another name now."""
    part = _part(moved, lines)
    if part is None:
        return _too_short(moved, lines)
    if literal is not None and syntax.canonical(literal) != part.text:
        message = f"the symbol is now {moved.id}, with other code in {in_words(lines)}"
        diff = diff_from(syntax.canonical(literal), part, index)
        return Found(Verdict.EDITED, message, part, diff=diff)
    message = f"the symbol is now {moved.id}"
    return Found(Verdict.MOVED, message, part, renamed=part, lines=lines)


def _record(
    context: Context, index: Index, reference: SymbolReference, place: Place | None
) -> Record | None:
    """The record under the name the page uses, else under the name an alias resolves to."""
    upstream = index.tree.pin.name
    for path in (index.file_of(reference), *reference.paths()):
        if path is not None:
            record = context.records.get(upstream, path, reference.qualname)
            if record is not None:
                return record
    return context.records.get(upstream, place.path, place.qualname) if place else None


def _part(place: Place, lines: Lines) -> Place | None:
    """Some lines of a symbol, counted from its first; None if it has not so many."""
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


def _too_short(place: Place, lines: Lines | None) -> Found:
    height = place.text.count("\n") + 1
    count = f"{height} line{'' if height == 1 else 's'}"
    message = f"{place.id} has only {count}, not {in_words(lines or (1, height))}"
    return Found(Verdict.MISSING, message, place)


def _stand_in_message(index: Index, place: Place, record: Record) -> str:
    return f"{place.id} in {index.tree.identity} is not the text recorded from {_shown(record)}"


def _shown(record: Record) -> str:
    return record.recorded[:12] if is_full_commit(record.recorded) else record.recorded
