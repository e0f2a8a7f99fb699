"""The facts about a symbol or a module as HTML."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape

from annotate.claims.card import verdict_badge
from annotate.claims.context import Context
from annotate.claims.markup import escaped, inline, link, word
from annotate.claims.quote import permalink
from annotate.claims.relations import Relation
from annotate.location import Location
from annotate.upstream.calls import Capture, Closure
from annotate.upstream.changes import Changes
from annotate.upstream.index import Index, Place
from annotate.verdict import Judgement

_MOST_SHOWN = 12
"""Of a list of symbols; the rest opens with a click or a key."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """What is known of one symbol.

    Attributes:
        place: where it stands.
        signature: how it is called, or "".
        callers: who calls it.
        callees: what it calls.
        unresolved: the calls in it that nothing is known of, as written.
        captures: its functions that capture something.
        mentions: the claims that pages make about it.
        experiments: those that run it.
        ran: the lines of it they were seen to run, counting from 1.
        changes: how often it changed, where that is known.
    """

    place: Place
    signature: str
    callers: Sequence[Relation]
    callees: Sequence[Relation]
    unresolved: Sequence[str]
    captures: Sequence[Closure]
    mentions: Sequence[Location]
    experiments: Sequence[str]
    ran: frozenset[int] = frozenset()
    changes: Changes | None = None


def symbol(sheet: Sheet, upstream: str, context: Context, language: str) -> str:
    """The facts about one symbol."""
    own = f"{sheet.place.path}::"
    entries = {
        "signature": [f"<code>{escaped(sheet.signature)}</code>"] if sheet.signature else [],
        "called by": [
            relation_html(each, own, upstream, context, language) for each in sheet.callers
        ],
        "callees": [
            relation_html(each, own, upstream, context, language) for each in sheet.callees
        ],
        "unresolved": [f"<code>{escaped(text)}</code>" for text in sheet.unresolved],
        "captures": [
            _capture(capture, closure, language)
            for closure in sheet.captures
            for capture in closure.captures
        ],
        "discussed in": _mentions(sheet.mentions, context),
        "run by": [f"<code>{escaped(name)}</code>" for name in sheet.experiments],
        "history": [_changes(sheet.changes, language)] if sheet.changes else [],
        "lines run": [_ranges(sheet.place.first_line, sheet.ran)] if sheet.ran else [],
    }
    return _list(entries, language)


def heading(place: Place, attributes: Mapping[str, str]) -> str:
    """A symbol's name as a heading, with an anchor and a link to it."""
    level = "3" if attributes.get("level") == "3" else "2"
    anchor = escape(attributes.get("id", ""))
    return (
        f'<h{level} id="{anchor}"><code>{escaped(place.qualname)}</code>'
        f'<a class="headerlink" href="#{anchor}" title="Permanent link">&para;</a></h{level}>'
    )


def module(index: Index, path: str, context: Context, language: str) -> str:
    """The facts about a module: where it is, and its symbols."""
    table = index.module(path)
    height = table.text.removesuffix("\n").count("\n") + 1
    whole = Place(path, "", 1, height, "")
    upstream = index.tree.pin.name
    names = []
    for entry in table.definitions.values():
        if "." not in entry.qualname or entry.kind == "registration":
            href = context.links.symbol(upstream, f"{path}::{entry.qualname}")
            names.append(_code_link(entry.qualname, href))
    entries = {
        "file": [link(path, permalink(index.tree, whole)), escaped(index.tree.identity)],
        "symbols": ["</span><span>".join(names)] if names else [],
    }
    return _list(entries, language)


def captures(judgement: Judgement, closures: Sequence[Closure], language: str) -> str:
    """What the functions of a symbol capture, and the verdict on it."""
    rows = "".join(
        f"<div><dt><code>{escaped(closure.function)}</code></dt><dd>"
        + "".join(f"<span>{_capture(each, None, language)}</span>" for each in closure.captures)
        + "</dd></div>"
        for closure in closures
    )
    badge = verdict_badge(judgement.verdict.value, language)
    message = f"<p>{inline(judgement.message)}</p>" if judgement.severity != "ok" else ""
    return (
        f'<div class="claim-captures" data-verdict="{escape(judgement.verdict.value)}"'
        f' data-severity="{escape(judgement.severity.value)}">'
        f'<p><code class="claim-subject">{escaped(judgement.subject)}</code> {badge}</p>{message}'
        f'<dl class="claim-facts">{rows}</dl></div>'
    )


def failed(judgement: Judgement) -> str:
    """What is said where there is no such symbol."""
    return (
        f'<p class="claim-message" data-verdict="{escape(judgement.verdict.value)}">'
        f"{inline(f'{judgement.subject}: {judgement.message}')}</p>"
    )


def _list(entries: Mapping[str, Sequence[str]], language: str) -> str:
    rows = "".join(
        f"<div><dt>{escaped(word(key, language))}</dt><dd>{_items(items, language)}</dd></div>"
        for key, items in entries.items()
        if items
    )
    return f'<dl class="claim-facts" data-search-exclude>{rows}</dl>'


def _items(items: Sequence[str], language: str) -> str:
    shown = "".join(f"<span>{item}</span>" for item in items[:_MOST_SHOWN])
    rest = items[_MOST_SHOWN:]
    if not rest:
        return shown
    hidden = "".join(f"<span>{item}</span>" for item in rest)
    more = escaped(word("more", language).format(len(rest)))
    return f"{shown}<details><summary>{more}</summary>{hidden}</details>"


def relation_html(
    relation: Relation, own: str, upstream: str, context: Context, language: str
) -> str:
    """A symbol at the other end of a call, and how the call is known."""
    path, _, qualname = relation.symbol.partition("::")
    # In its own module a name says enough; elsewhere the file is what tells namesakes apart.
    name = relation.symbol.removeprefix(own) if own else (qualname or path)
    href = context.links.symbol(upstream, _shown_part(relation.symbol))
    evidence = ", ".join(word(each, language) for each in relation.evidence)
    details = ", ".join(
        filter(
            None,
            [
                relation.why,
                str(relation.place) if relation.place else "",
                ", ".join(relation.experiments),
            ],
        )
    )
    return (
        f'{_code_link(name, href)} <small data-evidence="{escape(relation.evidence[0])}"'
        f' title="{escaped(details)}">{escaped(evidence)}</small>'
    )


def _changes(changes: Changes, language: str) -> str:
    day = datetime.fromtimestamp(changes.time, UTC).date().isoformat()
    said = word("changed", language).format(changes.count, changes.last[:8], day)
    return escaped(said)


def _ranges(first_line: int, lines: frozenset[int]) -> str:
    """Lines of a symbol as line numbers of its file: ``71-74, 80``."""
    ranges: list[list[int]] = []
    for line in sorted(line + first_line - 1 for line in lines):
        if ranges and ranges[-1][1] == line - 1:
            ranges[-1][1] = line
        else:
            ranges.append([line, line])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in ranges)


def _shown_part(symbol: str) -> str:
    """The symbol that a nameless lambda stands in."""
    return symbol.partition(".<")[0]


def _code_link(name: str, href: str | None) -> str:
    code = f"<code>{escaped(name)}</code>"
    return f'<a href="{escape(href)}">{code}</a>' if href else code


def _capture(capture: Capture, closure: Closure | None, language: str) -> str:
    where = escaped(word("bound on line", language).format(capture.line))
    if closure is not None:
        where += f"; {escaped(closure.function)}"
    return f"<code>{escaped(capture.name)}</code> <small>{where}</small>"


def _mentions(mentions: Iterable[Location], context: Context) -> list[str]:
    pages: dict[str, str] = {}
    for mention in mentions:
        found = context.links.claim(mention)
        if found is not None:
            title, href = found
            pages.setdefault(title, href)
    return [link(title, href) for title, href in pages.items()]
