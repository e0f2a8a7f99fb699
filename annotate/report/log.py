"""The commits that changed a symbol, for people and for programs."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime

from annotate.upstream.lineage import Step

VERSION = 1


def render_text(symbol: str, steps: Iterable[Step]) -> str:
    """One line per commit, newest first; the symbol's id where it was another one then."""
    lines = [symbol]
    known = symbol
    for step in steps:
        day = datetime.fromtimestamp(step.commit.time, UTC).date().isoformat()
        renamed = f"  as {step.symbol}" if step.symbol != known else ""
        lines.append(f"{step.commit.id}  {day}  {step.kind}{renamed}  {step.commit.subject}")
        known = step.symbol
    return "\n".join(lines) + "\n"


def render_count(symbol: str, steps: Iterable[Step]) -> str:
    """One line: how many commits changed a symbol, and the newest that did."""
    found = list(steps)
    if not found:
        return f"{symbol}  no commit\n"
    newest = found[0].commit
    day = datetime.fromtimestamp(newest.time, UTC).date().isoformat()
    return f"{symbol}  changed {len(found) - 1}×, last in {newest.id[:12]} ({day})\n"


def render_json(symbol: str, steps: Iterable[Step]) -> str:
    """Keys: ``version``, ``symbol``, ``changes`` (``commit``, ``kind``, ``symbol``, ``path``)."""
    document = {
        "version": VERSION,
        "symbol": symbol,
        "changes": [
            {
                "commit": step.commit.id,
                "kind": step.kind,
                "symbol": step.symbol,
                "path": step.path,
            }
            for step in steps
        ],
    }
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"
