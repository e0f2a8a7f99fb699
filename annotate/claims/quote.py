"""Quotes: a piece of upstream source in a page, put in at build time or quoted literally."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from annotate.claims.compare import shown_lines
from annotate.claims.context import Context
from annotate.claims.found import Found, sentence
from annotate.claims.quote_edits import put_text, rename, set_lines
from annotate.claims.subject import look_for
from annotate.edit import Fix
from annotate.errors import AnnotateError
from annotate.location import Reference, SymbolReference, parse_reference
from annotate.pages import Block
from annotate.records import Record
from annotate.upstream.index import Index, Place
from annotate.upstream.tree import Tree
from annotate.verdict import Judgement, Verdict

if TYPE_CHECKING:
    from annotate.claims.card import Note
    from annotate.claims.markup import Link

KIND = "quote"
ATTRIBUTES = ("source", "lines", "upstream", "commit", "title", "hl_lines", "linenums", "id")

SHOWN = "shown"
"""The class of a quote that only shows the source, as the atlas does."""

_LINES = re.compile(r"(?P<first>[0-9]{1,9})(?:\s*-\s*(?P<last>[0-9]{1,9}))?")


@dataclass(frozen=True, slots=True)
class Quote:
    """A quote as its author wrote it."""

    reference: Reference
    upstream: str
    literal: str | None
    lines: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class _Judged:
    """A quote with the verdict on it and what that rests on; None where it could not be read."""

    judgement: Judgement
    quote: Quote | None = None
    index: Index | None = None
    found: Found | None = None


def check(block: Block, context: Context) -> list[Judgement]:
    """The verdict on one quote."""
    judged = _judge(block, context)
    if judged.quote is None or judged.found is None:
        return [judged.judgement]
    fix = _fix(block, context, judged.quote, judged.found)
    return [replace(judged.judgement, fix=fix) if fix else judged.judgement]


def render(block: Block, context: Context, language: str) -> str:
    """A card with the source, or with the quote itself where the source is not what it says."""
    # Drawing is not imported by a mere check, which must start quickly.
    from annotate.claims.card import Card, render_card
    from annotate.claims.relations import lines_run, related

    judged = _judge(block, context)
    judgement, index, found = judged.judgement, judged.index, judged.found
    place = (found.renamed or found.place) if found else None
    shows_quote = (
        place is None
        or judged.quote is None
        or (
            judged.quote.literal is not None
            and judgement.verdict not in (Verdict.EXACT, Verdict.REFORMATTED, Verdict.MOVED)
        )
    )
    shown = None if shows_quote else place
    code = shown.text if shown else block.text
    record = found.record if found else None
    attributes = block.attributes
    # A generated page shows source without saying anything about it that a verdict could be on.
    unclaimed = SHOWN in block.classes and record is None and shown is not None
    footer: list[tuple[str, str | None]] = []
    if record and language in record.role:
        footer.append((record.role[language], None))
    links: Mapping[tuple[int, int], Link] = {}
    ran: frozenset[int] = frozenset()
    if index and shown:
        links = context.code_links(index.tree.pin.name).within(shown, context.links)
        if SHOWN in block.classes:
            ran = lines_run(index, shown, context.recordings())
        else:
            footer += related(index, shown, context, language)
    return render_card(
        Card(
            subject=judgement.subject,
            code=code,
            first_line=shown.first_line if shown else None,
            place=place.span if place else "",
            permalink=permalink(index.tree, place) if index and place else None,
            verdict="" if unclaimed else judgement.verdict.value,
            severity="ok" if unclaimed else judgement.severity.value,
            message=judgement.message,
            read=index.tree.identity if index else "",
            notes=_notes(record, code, language),
            footer=footer,
            links=links,
            ran=ran,
            language=language,
            title=attributes.get("title", ""),
            highlight=_highlighted(attributes.get("hl_lines", ""), code),
            anchor=attributes.get("id", ""),
            linenums=attributes.get("linenums", "1") not in ("0", "false"),
        )
    )


def permalink(tree: Tree, place: Place) -> str | None:
    """Where the web shows a place; with lines only if the pinned commit itself was read."""
    if tree.is_pinned_commit:
        return tree.pin.permalink(place.path, place.first_line, place.last_line)
    return tree.pin.permalink(place.path)


def _judge(block: Block, context: Context) -> _Judged:
    location = context.location(block.first_line)
    try:
        quote = read(block)
        index = context.index(quote.upstream)
    except AnnotateError as error:
        verdict = Verdict.UNVERIFIABLE
        subject, message = _subject_as_written(block), sentence(error)
        return _Judged(Judgement(KIND, location, subject, verdict, verdict.severity(), message))
    found = look_for(context, index, quote.reference, quote.literal, quote.lines)
    judgement = Judgement(
        kind=KIND,
        location=location,
        subject=_subject(quote, index),
        verdict=found.verdict,
        severity=found.verdict.severity(exact=context.exact),
        message=found.message + _commit_remark(block, index),
        found=found.location,
        diff=found.diff,
    )
    return _Judged(judgement, quote, index, found)


def read(block: Block) -> Quote:
    """Understand the header of a quote.

    Raises:
        AnnotateError: it cannot be understood.
    """
    if block.problem:
        raise AnnotateError(block.problem)
    literal = block.text if block.text.strip() else None
    attributes = block.attributes
    if block.form == "labelled":
        for name in ("file", "symbol"):
            if name not in attributes:
                raise AnnotateError(f"the header has no {name.title()}: line")
        reference = parse_reference(f"{attributes['file']}::{attributes['symbol']}")
        return Quote(reference, attributes.get("upstream", ""), literal, None)
    for name in attributes:
        if name not in ATTRIBUTES:
            raise AnnotateError(
                f"a quote has no attribute “{name}”", f"Known: {', '.join(ATTRIBUTES)}."
            )
    reference = parse_reference(attributes["source"])
    return Quote(reference, attributes.get("upstream", ""), literal, _lines(attributes, reference))


def _lines(attributes: Mapping[str, str], reference: Reference) -> tuple[int, int] | None:
    if "lines" not in attributes:
        return None
    text = attributes["lines"].strip()
    if not isinstance(reference, SymbolReference):
        raise AnnotateError(
            "lines= counts within a symbol", f"Write {reference.file}#L10-L20 for lines of a file."
        )
    match = _LINES.fullmatch(text)
    first = int(match["first"]) if match else 0
    last = int(match["last"] or first) if match else 0
    if not 1 <= first <= last:
        raise AnnotateError(
            f"lines “{text}” is not a range", 'Count from the symbol\'s first line: lines="2-5".'
        )
    return first, last


def _subject(quote: Quote, index: Index) -> str:
    """The symbol's id, its file spelled as a path, and the lines of it."""
    reference = quote.reference
    path = index.file_of(reference)
    if isinstance(reference, SymbolReference) and path is not None:
        reference = SymbolReference(path, reference.qualname)
    lines = f" lines {shown_lines(quote.lines)}" if quote.lines else ""
    return f"{reference}{lines}"


def _subject_as_written(block: Block) -> str:
    if block.form == "labelled":
        return "::".join(block.attributes.get(name, "?") for name in ("file", "symbol"))
    return block.attributes.get("source") or "?"


def _commit_remark(block: Block, index: Index) -> str:
    commit = block.attributes.get("commit", "").lower()
    # A short id is as much as most people write.
    if not commit or (len(commit) >= 7 and index.tree.pin.commit.startswith(commit)):
        return ""
    return f" (written against commit {commit}; the pin is {index.tree.pin.commit[:12]})"


def _fix(block: Block, context: Context, quote: Quote, found: Found) -> Fix | None:
    """What would make the quote true again."""
    if found.verdict is Verdict.REFORMATTED and quote.literal is None:
        return Fix(f"annotate accept {quote.reference}")
    if found.verdict is Verdict.REFORMATTED and found.place is not None:
        edit = put_text(block, context.page, context.page_lines, found.place.text)
        return Fix("put in the text as it stands upstream", (edit,))
    if found.renamed is not None:
        # Lines of a symbol that are a symbol of their own now are all of that.
        keep_lines = found.lines is not None
        now = found.renamed.id
        edits = rename(block, context.page, context.page_lines, now, keep_lines=keep_lines)
        return Fix(f"name {now} instead", edits)
    if found.lines is not None:
        lines = shown_lines(found.lines)
        if block.form == "labelled":
            return Fix("quote the whole symbol, or use a fence, which can say lines=")
        edit = set_lines(block, context.page, context.page_lines, lines)
        return Fix(f'write lines="{lines}"', (edit,))
    return None


def _notes(record: Record | None, code: str, language: str) -> "list[Note]":
    """The record's notes on the lines that are shown, in their order."""
    from annotate.claims.card import Note

    if record is None:
        return []
    notes = []
    for note in record.notes:
        text = note.text.get(language)
        if text is not None:
            lines = [n for n, line in enumerate(code.split("\n")) if note.at in line]
            if len(lines) == 1:
                notes.append(Note(lines[0], text))
    return sorted(notes, key=lambda note: note.line)


def _highlighted(text: str, code: str) -> frozenset[int]:
    """Material's ``hl_lines``: "1 3-4" → lines of the shown code, counting from 1."""
    height = code.count("\n") + 1
    chosen: set[int] = set()
    for match in _LINES.finditer(text):
        last = min(int(match["last"] or match["first"]), height)
        chosen.update(range(int(match["first"]), last + 1))
    return frozenset(chosen)
