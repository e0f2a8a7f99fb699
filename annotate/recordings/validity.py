"""Whether a recording still holds for a script and a tree. Nothing is run."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from annotate.recordings.calls import fingerprint
from annotate.recordings.recording import Confirmation, Recording, executed_on
from annotate.upstream.index import Index


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a recording no longer holds: the script or symbol it is about, and a sentence."""

    subject: str
    message: str


def check(recording: Recording, script: bytes, index: Index) -> list[Reason]:
    """Why a recording no longer holds for a script and a tree; empty if it does. Runs nothing.

    The symbols that ran must all be, token for token, those of one tree of ``confirmed``; the
    reasons name what differs from the tree that comes nearest.

    Raises:
        AnnotateError: a file of the tree cannot be judged.
    """
    reasons = []
    if hashlib.sha256(script).hexdigest() != recording.sha256:
        reasons.append(
            Reason(recording.script, f"{recording.script} has changed since it was recorded")
        )
    found: dict[str, str | None] = {}
    for confirmation in recording.confirmed:
        for symbol in executed_on(recording, confirmation):
            if symbol not in found:
                found[symbol] = _fingerprint_at(index, symbol)
    candidates = [
        _changed(confirmation, executed_on(recording, confirmation), found)
        for confirmation in recording.confirmed
    ]
    return reasons + min(candidates, key=len)


def _changed(
    confirmation: Confirmation, executed: Mapping[str, str], found: Mapping[str, str | None]
) -> list[Reason]:
    reasons = []
    for symbol, recorded in executed.items():
        if found[symbol] is None:
            message = f"{symbol}, which ran on {confirmation}, does not exist"
            reasons.append(Reason(symbol, message))
        elif found[symbol] != recorded:
            message = f"{symbol} is not the code that ran on {confirmation}"
            reasons.append(Reason(symbol, message))
    return reasons


def _fingerprint_at(index: Index, identifier: str) -> str | None:
    path, _, qualname = identifier.partition("::")
    if path not in index.tree.files:
        return None
    table = index.module(path)
    if not qualname:
        return fingerprint(table.text)
    symbol = table.symbols.get(qualname)
    return None if symbol is None else fingerprint(table.place(symbol).text)
