"""A call table as HTML."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from annotate.claims.card import verdict_badge
from annotate.claims.context import Context
from annotate.claims.facts_html import relation_html
from annotate.claims.markup import escaped, inline, link, word
from annotate.claims.relations import Relation

_MOST_SHOWN = 6
"""Callers or callees of a row; the symbol's own page has them all."""


@dataclass(frozen=True, slots=True)
class Row:
    """One symbol of a call table; what it shares with `annotate.claims.card.Card` means the same.

    Attributes:
        signature: how the symbol is called, or "".
        role: the part it plays, in the page's language, or "".
        callers: who calls it.
        callees: what it calls.
        upstream: whose symbol it is.
        href: where the site shows it, or None.
    """

    subject: str
    place: str
    permalink: str | None
    signature: str
    role: str
    verdict: str
    severity: str
    message: str
    callers: Sequence[Relation] = ()
    callees: Sequence[Relation] = ()
    upstream: str = ""
    href: str | None = None


def render_table(rows: Sequence[Row], context: Context, language: str) -> str:
    """The table: symbol and signature, callers, callees, role, verdict."""
    head = "".join(
        f'<th scope="col">{word(key, language)}</th>'
        for key in ("symbol", "called by", "callees", "role", "verdict")
    )
    body = "\n".join(_row(row, context, language) for row in rows)
    caption = word("calls", language)
    return (
        f'<div class="claim-calls" tabindex="0" role="group" aria-label="{caption}">'
        f'<table class="claim-table"><caption>{caption}</caption>'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>"
    )


def _row(row: Row, context: Context, language: str) -> str:
    message = f"<span>{inline(row.message)}</span>" if row.severity != "ok" else ""
    return (
        f'<tr data-verdict="{escape(row.verdict)}" data-severity="{escape(row.severity)}">'
        f'<th scope="row">{_symbol(row)}</th>'
        f"{_relations('called by', row.callers, row, context, language)}"
        f"{_relations('callees', row.callees, row, context, language)}"
        f"<td>{inline(row.role)}{message}</td>"
        f"<td>{verdict_badge(row.verdict, language)}</td></tr>"
    )


def _symbol(row: Row) -> str:
    """A symbol's name, where it stands, and how it is called; an alias stands in another file."""
    path, separator, name = row.subject.partition("::")
    place = link(row.place, row.permalink) if row.place else ""
    if separator and not row.place.startswith(f"{path}:"):
        place = f"{escaped(path)} → {place}" if place else escaped(path)
    code = f'<code class="claim-subject">{escaped(name or path)}</code>'
    if row.href:
        code = f'<a href="{escape(row.href)}">{code}</a>'
    signature = f"<code>{escaped(row.signature)}</code>" if row.signature else ""
    return f"{code}<span>{place}</span>{signature}"


def _relations(
    heading: str, relations: Sequence[Relation], row: Row, context: Context, language: str
) -> str:
    """A cell of symbols; a narrow screen, which has no columns, puts its heading before it."""
    items = [
        f"<li>{relation_html(each, '', row.upstream, context, language)}</li>"
        for each in relations[:_MOST_SHOWN]
    ]
    if len(relations) > _MOST_SHOWN:
        more = word("more", language).format(len(relations) - _MOST_SHOWN)
        items.append(f"<li>{link(more, row.href)}</li>")
    listed = f"<ul>{''.join(items)}</ul>" if items else ""
    return f'<td data-label="{word(heading, language)}">{listed}</td>'
