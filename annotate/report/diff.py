"""What two trees do not have in common, for people and for programs."""

import json
from collections import Counter
from typing import Any

from annotate.upstream.moves import Change, Move, Site
from annotate.upstream.moves.difference import Difference

VERSION = 1

_HEADINGS = {
    Change.DELETED: "removed",
    Change.SPLIT: "split",
    Change.MERGED: "merged",
    Change.AMBIGUOUS: "ambiguous",
    Change.UNVERIFIABLE: "unverifiable",
    Change.MOVED: "moved within their file",
    Change.MOVED_TO_FILE: "moved to another file",
    Change.RENAMED: "renamed",
    Change.MOVED_AND_RENAMED: "moved and renamed",
    Change.MOVED_AND_CHANGED: "moved and changed",
    Change.EDITED: "edited",
    Change.REFORMATTED: "reformatted",
}


def render_text(difference: Difference) -> str:
    """Sections by what happened; what went along with its container is counted, not listed."""
    parts = [f"from {difference.old} to {difference.new}"]
    added = {site.id for site in difference.added}
    listed = [site for site in difference.added if not _container_in(site, added)]
    parts += _section("added", [_added(site, difference.added) for site in listed], len(added))
    for verdict, heading in _HEADINGS.items():
        moves = [move for move in difference.changes if move.verdict is verdict]
        shown = [move for move in moves if not _goes_along(move, moves)]
        parts += _section(heading, [_line(move) for move in shown], len(moves))
    if len(parts) == 1:
        parts.append("no symbol differs")
    return "\n".join(parts) + "\n"


def render_json(difference: Difference) -> str:
    """Keys: ``version``, ``from``, ``to``, ``changes``, ``summary``.

    A change has ``verdict``, ``old`` and ``new`` (``symbol``, ``path``, ``start_line``,
    ``end_line``, or null), ``confidence``, ``reason`` and ``candidates``; what is new in the new
    tree has the verdict ``added``. ``summary`` counts them by verdict.
    """
    changes = [_change(move) for move in difference.changes]
    changes += [
        {
            "verdict": "added",
            "old": None,
            "new": _place(site),
            "confidence": 1.0,
            "reason": "Nothing in the old tree is enough like it.",
            "candidates": [],
        }
        for site in difference.added
    ]
    document = {
        "version": VERSION,
        "from": difference.old,
        "to": difference.new,
        "changes": changes,
        "summary": dict(sorted(Counter(change["verdict"] for change in changes).items())),
    }
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def _section(heading: str, lines: list[str], count: int) -> list[str]:
    if not count:
        return []
    return ["", f"{heading} ({count})", *(f"  {line}" for line in lines)]


def _added(site: Site, added: tuple[Site, ...]) -> str:
    inside = sum(other.id.startswith(f"{site.id}.") for other in added)
    return site.id + (f"  and {inside} inside it" if inside else "")


def _container_in(site: Site, ids: set[str]) -> bool:
    """Whether a definition around this one is among some others."""
    around = site.id
    while "." in around.partition("::")[2]:
        around = around.rpartition(".")[0]
        if around in ids:
            return True
    return False


def _goes_along(move: Move, moves: list[Move]) -> bool:
    """Whether its container went the same way, so that it need not be listed."""
    if move.verdict in (Change.EDITED, Change.MOVED_AND_CHANGED, Change.AMBIGUOUS):
        return False
    return _container_in(move.old, {other.old.id for other in moves})


def _line(move: Move) -> str:
    if move.new is None:
        where = "".join(f"  → perhaps {site.id}" for site in move.candidates[:2])
    else:
        where = f"  → {move.new.id}" if move.has_moved else ""
    similar = f"  ({move.confidence:.2f})" if move.confidence < 1 else ""
    return f"{move.old.id}{where}{similar}"


def _change(move: Move) -> dict[str, Any]:
    return {
        "verdict": move.verdict.value,
        "old": _place(move.old),
        "new": _place(move.new),
        "confidence": round(move.confidence, 2),
        "reason": move.reason,
        "candidates": [_place(site) for site in move.candidates],
    }


def _place(site: Site | None) -> dict[str, Any] | None:
    if site is None:
        return None
    return {
        "symbol": site.id if site.qualname else None,
        "path": site.path,
        "start_line": site.first_line,
        "end_line": site.last_line,
    }
