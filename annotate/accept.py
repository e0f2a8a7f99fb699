"""Accepting: record the text of symbols as it is now, after its prose has been read again."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from annotate import records
from annotate.errors import AnnotateError
from annotate.location import SymbolReference, parse_reference
from annotate.pin import is_full_commit
from annotate.project import Project, Report
from annotate.upstream import syntax
from annotate.upstream.index import Index, Place
from annotate.verdict import Verdict

_NOT_RECORDABLE = frozenset(
    {Verdict.MISSING, Verdict.MOVED, Verdict.AMBIGUOUS, Verdict.UNVERIFIABLE}
)
_LINES = re.compile(r" lines [0-9]+(?:-[0-9]+)?\Z")


@dataclass(frozen=True, slots=True)
class Accepted:
    """One symbol whose record was written."""

    symbol: str
    recorded: str
    file: Path
    changed: bool


def unrecorded(project: Project, report: Report, upstream: str = "") -> list[str]:
    """The symbols that pages quote or table and that have no record yet, sorted.

    Left out are those that cannot be recorded: what is not there, or not judged, or has moved.
    """
    index = project.index(upstream)
    symbols = set()
    for judgement in report.judgements:
        if judgement.kind not in ("quote", "calls") or judgement.verdict in _NOT_RECORDABLE:
            continue
        if judgement.found is None:
            # Of a hand-written table, the call that a row names is no symbol.
            continue
        path, separator, qualname = _LINES.sub("", judgement.subject).partition("::")
        if not separator or project.records.get(index.tree.pin.name, path, qualname):
            continue
        # With several upstreams, a symbol may be another one's.
        if index.file_of(SymbolReference(path, qualname)) is not None:
            symbols.add(f"{path}::{qualname}")
    return sorted(symbols)


def accept(project: Project, symbols: Iterable[str], upstream: str = "") -> list[Accepted]:
    """Record symbols as they are in the tree.

    Args:
        project: the project, its tree at hand.
        symbols: symbol ids; all are looked up before anything is written.
        upstream: the upstream's name, where several are pinned.

    Raises:
        AnnotateError: a symbol is not there or cannot be judged, or a stand-in would overwrite
            what was recorded from a commit. Nothing is written then.
    """
    index = project.index(upstream)
    name = index.tree.pin.name
    recorded = index.tree.recorded_as
    files = _record_files(project, name)
    modules: dict[tuple[Path, str], dict[str, tuple[str, str]]] = {}
    accepted = []
    for symbol in symbols:
        reference, place = _find(index, symbol)
        path = index.file_of(reference) or place.path
        prints = (syntax.text_fingerprint(place.text), syntax.token_fingerprint(place.text))
        old = project.records.get(name, path, reference.qualname)
        if old is not None and index.tree.is_stand_in and is_full_commit(old.recorded):
            raise AnnotateError(
                f"{symbol} was recorded from commit {old.recorded[:12]}, "
                f"and only {index.tree.identity} is at hand",
                "Fetch the commit first, or name a source that holds it with --source.",
            )
        if old is not None:
            file = project.config.root / old.location.path
        else:
            default = records.record_file(project.config.records, name, path)
            file = files.get(path, default)
        modules.setdefault((file, path), {})[reference.qualname] = prints
        changed = old is None or (old.text, old.tokens) != prints
        accepted.append(Accepted(f"{path}::{reference.qualname}", recorded, file, changed))
    for (file, path), fingerprints in modules.items():
        records.write(file, path, fingerprints, recorded)
    return accepted


def _record_files(project: Project, upstream: str) -> dict[str, Path]:
    """Module → the first file that holds a record of it."""
    files: dict[str, Path] = {}
    for name, record in project.records:
        if name == upstream:
            files.setdefault(record.path, project.config.root / record.location.path)
    return files


def _find(index: Index, symbol: str) -> tuple[SymbolReference, Place]:
    reference = parse_reference(symbol)
    if not isinstance(reference, SymbolReference):
        raise AnnotateError(f"“{symbol}” names no symbol", "Records are kept for symbols.")
    place = index.find(reference)
    if place is None:
        nearest = ", ".join(index.nearest(reference))
        raise AnnotateError(
            f"{index.tree.identity} has no symbol {symbol}",
            f"Nearest: {nearest}." if nearest else "`annotate symbols` lists all.",
        )
    if place.doubt:
        raise AnnotateError(
            f"{symbol} cannot be judged: {place.doubt}",
            f"Quote lines of the file instead: {place.path}#L1-L2.",
        )
    return reference, place
