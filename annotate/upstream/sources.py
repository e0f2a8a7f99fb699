"""Which source fills the tree of a pin: the store, git, a release or a folder, in that order.

git and the package index client are imported only when they are needed: reading what the store
has takes neither.
"""

import os
from collections.abc import Callable
from pathlib import Path

from annotate.errors import AnnotateError, Exit
from annotate.pin import Pin
from annotate.upstream import folder
from annotate.upstream.store import Progress, Store
from annotate.upstream.tree import Tree

__all__ = ["Progress", "obtain"]

_SHOWN_DIGITS = 7


def obtain(
    pin: Pin,
    *,
    source: str | None,
    exact: bool,
    store: Store,
    say: Callable[[str], None],
    progress: Progress | None,
    refresh: bool = False,
) -> Tree:
    """Read the tree of a pin from the first source that has it.

    Args:
        pin: what is wanted.
        source: None for store → git → release, or the one to use: ``store``, ``git``,
            ``release``, ``folder:PATH``, or the path of a folder.
        exact: refuse a release in the commit's place.
        store: where trees are kept.
        say: told once, in one line, what was used and, where it is a stand-in, why.
        progress: told how far a fetch has come, or None.
        refresh: try git again although the store has a stand-in.

    Raises:
        AnnotateError: ``source`` is none of these or the repository's address is refused (exit
            code ``USAGE``), or nothing fitting can be had (exit code ``NOTHING_JUDGED``).
    """
    match source:
        case None:
            return _first_available(pin, exact, store, say, progress, refresh)
        case "store":
            tree = store.tree(pin) or (None if exact else store.release_tree(pin))
            if tree is None:
                raise _nothing(pin, ["the store does not have it"], exact)
            say(f"{pin.name}: reading {_short(tree)} from the store")
            return tree
        case "git":
            tree = store.tree(pin) or _fetch_commit(pin, store, progress)
            say(_fetched(tree))
            return tree
        case "release":
            if exact:
                raise _nothing(pin, ["a release was asked for"], exact)
            tree = store.release_tree(pin) or _fetch_release(pin, store, progress)
            say(_fetched(tree))
            return tree
    path = source.removeprefix("folder:")
    if path == source and not (os.sep in source or "/" in source or Path(source).is_dir()):
        raise AnnotateError(
            f"there is no source “{source}”", "Choose store, git, release or folder:PATH."
        )
    tree = folder.read(pin, Path(path).expanduser())
    say(f"{pin.name}: reading {tree.identity}")
    return tree


def _first_available(
    pin: Pin,
    exact: bool,
    store: Store,
    say: Callable[[str], None],
    progress: Progress | None,
    refresh: bool,
) -> Tree:
    tree = store.tree(pin)
    if tree is not None:
        say(_fetched(tree))
        return tree
    stand_in = None if exact else store.release_tree(pin)
    if stand_in is not None and not refresh:
        say(
            f"{pin.name}: reading {stand_in.identity} from the store instead of commit"
            f" {pin.commit[:_SHOWN_DIGITS]}; `annotate fetch` tries for the commit again"
        )
        return stand_in
    try:
        tree = _fetch_commit(pin, store, progress)
    except AnnotateError as error:
        if error.exit_code is not Exit.NOTHING_JUDGED:
            raise
        why_not_git = error
    else:
        say(_fetched(tree))
        return tree
    if exact:
        raise _nothing(pin, [why_not_git.message], exact) from why_not_git
    if stand_in is None:
        stand_in = _release_instead(pin, store, progress, why_not_git)
    reason = why_not_git.message.removeprefix(f"{pin.name}: ")
    say(
        f"{pin.name}: {reason}; reading {stand_in.identity} instead of commit"
        f" {pin.commit[:_SHOWN_DIGITS]}"
    )
    return stand_in


def _release_instead(
    pin: Pin, store: Store, progress: Progress | None, why_not_git: AnnotateError
) -> Tree:
    try:
        return _fetch_release(pin, store, progress)
    except AnnotateError as error:
        raise _nothing(pin, [why_not_git.message, error.message], exact=False) from error


def _fetch_commit(pin: Pin, store: Store, progress: Progress | None) -> Tree:
    from annotate.upstream import git

    store.remove_abandoned()
    return git.fetch(pin, store, progress)


def _fetch_release(pin: Pin, store: Store, progress: Progress | None) -> Tree:
    from annotate.upstream import release

    store.remove_abandoned()
    return release.fetch(pin, store, progress)


def _short(tree: Tree) -> str:
    if tree.is_pinned_commit:
        return f"commit {tree.pin.commit[:_SHOWN_DIGITS]}"
    return tree.identity


def _fetched(tree: Tree) -> str:
    if tree.from_store:
        return f"{tree.pin.name}: reading {_short(tree)} from the store"
    origin = tree.pin.repository if tree.is_pinned_commit else "the package index"
    return f"{tree.pin.name}: fetched {_short(tree)} from {origin}"


def _nothing(pin: Pin, reasons: list[str], exact: bool) -> AnnotateError:
    what = f"commit {pin.commit}" + ("" if exact or pin.release is None else " or its stand-in")
    lines = "".join(f"\n  {reason.removeprefix(f'{pin.name}: ')}" for reason in reasons)
    hint = "Run `annotate fetch` where the repository can be reached"
    if exact and pin.release is not None:
        hint += f", or leave out --exact to read release {pin.release} instead"
    return AnnotateError(
        f"{pin.name}: {what} cannot be had:{lines}", f"{hint}.", exit_code=Exit.NOTHING_JUDGED
    )
