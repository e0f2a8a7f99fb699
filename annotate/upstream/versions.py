"""What a user calls a version of upstream → its tree.

``release:1.9.1``, a folder, a full commit id, or any name that the repository has for a commit.
"""

import contextlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from annotate.errors import AnnotateError
from annotate.pin import Pin, Release, is_full_commit
from annotate.upstream import folder
from annotate.upstream.store import Progress, Store
from annotate.upstream.tree import Tree

if TYPE_CHECKING:
    from annotate.upstream.history import History

_PUBLISHED = "published-1"


class Versions:
    """The trees of one upstream, opened by name; a context manager.

    Args:
        pin: the upstream: its name, its repository (an address, the path of a local one, or "")
            and the release that stands in for its commit, if any.
        package: the name under which its releases are published; "" for that of the pin's
            release, or else the pin's own name.
        store: where trees and the clone are kept.
        say: told what a name was resolved to, in one line.
        progress: told how far a fetch has come, or None.
    """

    def __init__(
        self,
        pin: Pin,
        package: str,
        store: Store,
        say: Callable[[str], None],
        progress: Progress | None,
    ) -> None:
        self._pin = pin
        self._package = package or (pin.release.name if pin.release else pin.name)
        self._store = store
        self._say = say
        self._progress = progress
        self._open = contextlib.ExitStack()
        self._history: History | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._open.close()

    def tree(self, version: str) -> Tree:
        """Open a version.

        Raises:
            AnnotateError: there is none of that name, or it cannot be had.
        """
        kind, _, rest = version.partition(":")
        if kind == "release" and rest:
            return self._release(rest)
        if kind == "folder" and rest:
            return folder.read(self._named(""), Path(rest).expanduser())
        if is_full_commit(version):
            return self._commit(version)
        if _is_folder(version, has_repository=bool(self._pin.repository)):
            return folder.read(self._named(""), Path(version).expanduser())
        return self._commit(self.resolve(version))

    def resolve(self, name: str) -> str:
        """The full id of the commit that a name stands for now; it is said.

        Raises:
            AnnotateError: there is none of that name, or no repository to ask.
        """
        if is_full_commit(name):
            return name
        commit = self.history(refresh=True).resolve(name)
        self._say(f"{self._pin.name}: {name} is commit {commit}")
        return commit

    def history(self, commit: str = "", *, refresh: bool = False) -> "History":
        """The repository with its whole history, opened once.

        Args:
            commit: a full id that must be in it, or "".
            refresh: whether to ask for what has changed since it was cloned; where that cannot
                be had, what is here is used, and it is said.

        Raises:
            AnnotateError: there is no repository, or it cannot be had.
        """
        if self._history is None:
            from annotate.upstream.history import open_history

            if not self._pin.repository:
                raise AnnotateError(
                    "no repository is known here",
                    "Name one with --repository, or configure it.",
                )
            opened = open_history(
                self._named(commit),
                self._store,
                self._progress,
                refresh=refresh,
                say=self._say,
            )
            self._history = self._open.enter_context(opened)
        return self._history

    def history_of(self, *trees: Tree) -> "History | None":
        """The history that has the commits of all these trees, if it is at hand already."""
        if self._history is None or not all(tree.is_pinned_commit for tree in trees):
            return None
        commits = [tree.pin.commit for tree in trees]
        return self._history if all(map(self._history.has, commits)) else None

    def _named(self, commit: str) -> Pin:
        return Pin(self._pin.name, self._pin.repository, commit, self._pin.release)

    def _commit(self, commit: str) -> Tree:
        pin = self._named(commit)
        if "://" not in pin.repository:
            return self.history(commit).tree(commit)
        if self._history is not None and self._history.has(commit):
            return self._history.tree(commit)
        tree = self._store.tree(pin)
        if tree is None:
            from annotate.upstream import git

            self._store.remove_abandoned()
            try:
                tree = git.fetch(pin, self._store, self._progress)
            except AnnotateError:
                if not pin.repository.startswith("file:"):
                    raise
                # A repository on this machine that gives out no commit may still have it.
                tree = self.history(commit).tree(commit)
        return tree

    def _release(self, version: str) -> Tree:
        known = self._pin.release
        release = known if known and known.version == version else self._published(version)
        pin = Pin(self._pin.name, self._pin.repository, self._pin.commit, release)
        tree = self._store.release_tree(pin)
        if tree is None:
            from annotate.upstream import release as fetching

            self._store.remove_abandoned()
            tree = fetching.fetch(pin, self._store, self._progress)
        return tree

    def _published(self, version: str) -> Release:
        """The release of that version, its sha256 as the index gave it when it was first asked."""
        key = f"{self._package}=={version}"
        kept = self._store.derived(_PUBLISHED, key)
        if kept is not None:
            return Release(**json.loads(kept))
        from annotate.upstream import release as fetching

        found = fetching.published(self._pin.name, self._package, version)
        self._say(f"{self._pin.name}: release {found} has the sha256 {found.sha256}")
        facts = {"name": found.name, "version": found.version, "sha256": found.sha256}
        self._store.put_derived(_PUBLISHED, key, json.dumps(facts).encode())
        return found


def _is_folder(text: str, *, has_repository: bool) -> bool:
    """Whether a version is the path of a folder: it looks like one, or can be nothing else."""
    looks_like_one = text in (".", "..") or "/" in text or os.sep in text
    return (looks_like_one or not has_repository) and Path(text).expanduser().is_dir()
