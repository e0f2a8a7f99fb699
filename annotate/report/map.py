"""Where a symbol or a range of lines went, for people and for programs."""

import json
from typing import Any

from annotate.upstream.moves import Move, Site

VERSION = 1


def render_text(move: Move) -> str:
    """The verdict, both places, and why."""
    lines = [f"{move.old.id}  {_span(move.old)}"]
    if move.new is not None:
        lines.append(f"{move.verdict}: {move.new.id}  {_span(move.new)}")
    else:
        lines.append(f"{move.verdict}")
        lines += [f"    perhaps {site.id}  {_span(site)}" for site in move.candidates]
    lines.append(f"    {move.reason} Confidence {move.confidence:.2f}.")
    return "\n".join(lines) + "\n"


def render_json(move: Move) -> str:
    """Keys: ``version``, ``path``, ``start_line``, ``end_line``, ``verdict``, ``confidence``, ….

    ``path``, the lines and ``symbol`` are null where there is no place; ``symbol`` also for lines
    of a file. ``candidates`` has the places that were not chosen among.
    """
    document = {
        "version": VERSION,
        **_place(move.new),
        "verdict": move.verdict.value,
        "confidence": round(move.confidence, 2),
        "reason": move.reason,
        "candidates": [_place(site) for site in move.candidates],
    }
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def _place(site: Site | None) -> dict[str, Any]:
    return {
        "path": site.path if site else None,
        "start_line": site.first_line if site else None,
        "end_line": site.last_line if site else None,
        "symbol": site.id if site and site.qualname else None,
    }


def _span(site: Site) -> str:
    return f"{site.path}:{site.first_line}-{site.last_line}"
