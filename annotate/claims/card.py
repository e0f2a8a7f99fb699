"""Claims as HTML: a quote as a card (header, numbered code, notes), a call table as a table."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

from annotate.claims.highlight import html_lines
from annotate.claims.markup import Link, escaped, inline, link, visible, word

_FULL_COMMIT = re.compile(r"\b([0-9a-f]{8})(?:[0-9a-f]{32}|[0-9a-f]{56})\b")


@dataclass(frozen=True, slots=True)
class Note:
    """A remark on one line of the code.

    ``line`` counts from 0; in ``text`` backticks mark code and nothing else is markup.
    """

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Card:
    """What a quote's card shows.

    Attributes:
        subject: the symbol id or file range.
        code: the source, LF line ends.
        first_line: the upstream line number of its first line; None numbers nothing.
        place: where it stands, as ``path:first-last``.
        permalink: the address of that place on the upstream's web host.
        verdict: a value of `annotate.verdict.Verdict`.
        severity: a value of `annotate.verdict.Severity`.
        message: what checking found; shown unless the severity is ``ok``.
        read: what was read, such as ``release autograd 1.9.1``; a commit is shown shortened.
        notes: remarks, in the order of their lines.
        footer: (label, address) pairs; an entry without an address is plain text.
        language: of the card's own words: a locale, such as ``en`` or ``zh-Hans``.
        title: a caption the author gave, or "".
        highlight: emphasised lines, counting from 1, as Material's ``hl_lines`` do.
        anchor: the id of the card's element, or "".
        links: (start, end) characters of the code → where they lead.
        linenums: whether to show the line numbers.
        ran: lines that an experiment ran, counting from 1; marked beside their numbers.
        body: HTML to show in the place of the code, or "".
    """

    subject: str
    code: str
    first_line: int | None
    place: str
    permalink: str | None
    verdict: str
    severity: str
    message: str
    read: str
    notes: Sequence[Note]
    footer: Sequence[tuple[str, str | None]]
    language: str
    title: str = ""
    highlight: frozenset[int] = frozenset()
    anchor: str = ""
    links: Mapping[tuple[int, int], Link] = field(default_factory=dict)
    linenums: bool = True
    ran: frozenset[int] = frozenset()
    body: str = ""


def render_card(card: Card) -> str:
    """The card as one HTML ``figure`` element."""
    language = card.language
    anchor = f' id="{escape(card.anchor)}"' if card.anchor else ""
    parts = [
        f'<figure class="claim"{anchor} data-verdict="{escape(card.verdict)}"'
        f' data-severity="{escape(card.severity)}">',
        _header(card),
    ]
    if card.message and card.severity != "ok":
        parts.append(f'<p class="claim-message">{inline(card.message)}</p>')
    if card.body:
        parts.append(card.body)
    elif card.code:
        label = escape(word("source", language).format(visible(card.subject)))
        parts.append(
            "<pre data-search-exclude>"
            f'<code tabindex="0" role="group" aria-label="{label}">{_code(card)}</code></pre>'
        )
    if card.notes:
        items = "".join(f"<li>{inline(note.text)}</li>" for note in card.notes)
        parts.append(f'<ol class="claim-notes" aria-label="{word("notes", language)}">{items}</ol>')
    if card.footer:
        items = "".join(f"<li>{link(label, href)}</li>" for label, href in card.footer)
        parts.append(f'<ul class="claim-footer">{items}</ul>')
    parts.append("</figure>")
    return "\n".join(parts)


def _header(card: Card) -> str:
    title = f'<span class="claim-title">{inline(card.title)}</span>' if card.title else ""
    read = _FULL_COMMIT.sub(r"\1", card.read)
    where = [link(card.place, card.permalink), inline(read)]
    return (
        f"<figcaption>{title}{_subject(card.subject, card.language)}"
        f"{verdict_badge(card.verdict, card.language)}"
        f'<span class="claim-place">{"".join(f"<span>{item}</span>" for item in where if item)}'
        "</span></figcaption>"
    )


def _subject(subject: str, language: str) -> str:
    """A symbol id with its file and the lines chosen of it set apart from its name."""
    path, separator, name = subject.partition("::")
    if not separator:
        return f'<code class="claim-subject">{escaped(path)}</code>'
    name, separator, lines = name.partition(" lines ")
    part = f" <span>{word('lines', language).format(escaped(lines))}</span>" if separator else ""
    return f'<code class="claim-subject"><span>{escaped(path)}::</span>{escaped(name)}{part}</code>'


def verdict_badge(verdict: str, language: str) -> str:
    """A verdict in words, if there is one; its colour comes from what it stands in."""
    if not verdict:
        return ""
    return (
        f'<span class="claim-verdict"><span>{word("verdict", language)}: </span>'
        f"{escaped(word(verdict, language))}</span>"
    )


def _code(card: Card) -> str:
    python = "::" in card.subject or card.subject.partition("#")[0].endswith((".py", ".pyi"))
    links = {span: tag for span, link in card.links.items() if (tag := link.tag())}
    lines = html_lines(card.code, escaped, python=python, links=links)
    noted: dict[int, list[int]] = {}
    for number, note in enumerate(card.notes):
        noted.setdefault(min(max(note.line, 0), len(lines) - 1), []).append(number)
    numbered = card.linenums and card.first_line is not None
    output = []
    for index, line in enumerate(lines):
        if numbered:
            ran = ' class="ran"' if index + 1 in card.ran else ""
            line = f'<i{ran} data-n="{(card.first_line or 0) + index}"></i>{line}'
        highlighted = index + 1 in card.highlight
        if index in noted or highlighted:
            name = "claim-line hl" if highlighted else "claim-line"
            marker = _marker(card, noted[index]) if index in noted else ""
            line = f'<span class="{name}">{line}{marker}</span>'
        output.append(line)
    return "\n".join(output)


def _marker(card: Card, numbers: Sequence[int]) -> str:
    """What opens the notes of one line, given as indexes into the card's notes."""
    # Opens in place without a script; on a narrow screen and on paper the list below the code
    # takes over. The numbers are drawn by the style sheet, so that copied code stays clean.
    shown = ", ".join(str(number + 1) for number in numbers)
    label = word("note", card.language).format(shown)
    notes = "".join(
        f'<span data-n="{number + 1}">{inline(card.notes[number].text)}</span>'
        for number in numbers
    )
    return f'<details><summary data-n="{shown}" aria-label="{label}"></summary>{notes}</details>'
