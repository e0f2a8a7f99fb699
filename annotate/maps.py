"""Across versions of one upstream, without any article: where something went, what changed it."""

from collections.abc import Callable, Iterator
from pathlib import Path

from annotate import config
from annotate.errors import AnnotateError
from annotate.location import SymbolReference, parse_reference
from annotate.pin import Pin, is_full_commit
from annotate.upstream.changes import keeping
from annotate.upstream.index import Index
from annotate.upstream.lineage import Lineage, Step
from annotate.upstream.moves import Facts, Move, Moves, Ranges
from annotate.upstream.moves.difference import Difference, difference
from annotate.upstream.store import Progress, Store
from annotate.upstream.trail import Trail
from annotate.upstream.versions import Versions

_PLAIN = 0.9
"""Confidence from which two trees are enough; below, their history is asked, if it is at hand."""


class Upstream:
    """One upstream whose versions are compared; a project need not exist.

    Attributes:
        versions: its trees by name; a context manager that closes what they opened.
        pinned: the pinned commit, or "" where nothing pins one.
    """

    def __init__(
        self,
        start: Path,
        *,
        repository: str,
        package: str,
        upstream: str,
        say: Callable[[str], None],
        progress: Progress | None,
    ) -> None:
        """Find out which upstream is meant.

        Args:
            start: a folder in the project, if there is one.
            repository: an address or a path that is used instead of the configured one, or "".
            package: the name its releases are published under, or "" for the configured one.
            upstream: the name of the configured upstream, where there are several, or "".
            say: told what names were resolved to.
            progress: told how far a fetch has come, or None.

        Raises:
            AnnotateError: the configuration is malformed, or has no upstream of that name.
        """
        self.store = Store()
        self._facts = Facts(self.store)
        pin = _pin(start, repository, package, upstream)
        self.pinned = pin.commit
        self.versions = Versions(pin, package, self.store, say, progress)

    def map(self, source: str, old: str, new: str) -> Move:
        """Where a symbol or a range of lines of one version is in another.

        Args:
            source: ``file::symbol`` or ``file#L10-L20``.
            old: the version it is named in; it may be the later one.
            new: the version it is looked for in.

        Raises:
            AnnotateError: a version cannot be had, or the old one has no such source.
        """
        before, after = self.versions.tree(old), self.versions.tree(new)
        moves = Moves(before, after, self._facts)
        place = Index(before, self.store).named(source)
        if place.qualname:
            move = moves.of(place.path, place.qualname)
        else:
            move = Ranges(moves).of(place.path, place.first_line, place.last_line)
        if move.confidence >= _PLAIN and move.new is not None:
            return move
        history = self.versions.history_of(before, after)
        if history is None:
            return move
        followed = Trail(history, self._facts).follow(before.pin.commit, after.pin.commit, move.old)
        return move if followed is None else followed

    def log(self, symbol: str, start: str) -> tuple[str, Iterator[Step]]:
        """The id of a symbol at a commit, and the commits that changed it, newest first.

        Args:
            symbol: ``file::symbol``, as it is called at ``start``.
            start: a commit, by id or by name; "" for the pinned one, or else the newest.

        Raises:
            AnnotateError: there is no such commit or symbol, or no repository with its history.
        """
        reference = parse_reference(symbol)
        if not isinstance(reference, SymbolReference):
            raise AnnotateError(f"“{symbol}” names no symbol", "Write path/to/file.py::name.")
        wanted = start or self.pinned
        if is_full_commit(wanted):
            history, commit = self.versions.history(wanted), wanted
        else:
            commit = self.versions.resolve(wanted or "latest")
            history = self.versions.history()
        place = Index(history.tree(commit), self.store).named(symbol)
        steps = Lineage(history, self._facts).of(commit, place.path, place.qualname)
        return place.id, keeping(self.store, commit, place.id, steps)

    def difference(self, old: str, new: str) -> Difference:
        """What two versions do not have in common.

        Raises:
            AnnotateError: a version cannot be had.
        """
        return difference(Moves(self.versions.tree(old), self.versions.tree(new), self._facts))


def _pin(start: Path, repository: str, package: str, upstream: str) -> Pin:
    if repository:
        name = repository.rstrip("/").rpartition("/")[2].removesuffix(".git")
        return Pin(name or "upstream", repository, "")
    try:
        configuration = config.load(start)
    except AnnotateError as error:
        if upstream or not error.message.startswith("no annotate configuration"):
            raise
        # Folders and releases can be compared without a project.
        return Pin(package or "upstream", "", "")
    return configuration.pin(upstream) if upstream else configuration.pins[0]
