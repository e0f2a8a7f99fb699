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
_SHOWN_PATHS = 3


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
                raise _nothing(
                    pin, ["the store does not have it"], exact, "Run `annotate fetch` once."
                )
            say(f"{pin.name}: reading {_short(tree)} from the store")
            return tree
        case "git":
            tree = store.tree(pin) or _fetch_commit(pin, store, progress)
            say(_what_was_read(tree, store))
            return tree
        case "release":
            if exact and pin.commit:
                raise _nothing(
                    pin, ["--exact refuses a release"], exact, "Leave out --source release."
                )
            tree = store.release_tree(pin) or _fetch_release(pin, store, progress)
            say(_what_was_read(tree, store))
            return tree
    path = source.removeprefix("folder:")
    is_path = path != source or os.sep in source or "/" in source or Path(source).is_dir()
    if not path or not is_path:
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
    if not pin.commit:
        pinned = store.release_tree(pin) or _fetch_release(pin, store, progress)
        say(_what_was_read(pinned, store))
        return pinned
    tree = store.tree(pin)
    if tree is not None:
        say(_what_was_read(tree, store))
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
        say(_what_was_read(tree, store))
        return tree
    if exact or pin.release is None:
        raise _nothing(pin, [why_not_git.message], exact, why_not_git.hint) from why_not_git
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
        reasons = [why_not_git.message, error.message]
        hints = dict.fromkeys(filter(None, (why_not_git.hint, error.hint)))
        raise _nothing(pin, reasons, exact=False, hint=" ".join(hints)) from error


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


def _what_was_read(tree: Tree, store: Store) -> str:
    if tree.from_store:
        return f"{tree.pin.name}: reading {_short(tree)} from the store"
    origin = tree.pin.repository if tree.is_pinned_commit else "the package index"
    return f"{tree.pin.name}: fetched {_short(tree)} from {origin}{_left_out(tree, store)}"


def _left_out(tree: Tree, store: Store) -> str:
    paths = store.left_out(tree)
    if not paths:
        return ""
    shown = ", ".join(paths[:_SHOWN_PATHS])
    more = len(paths) - _SHOWN_PATHS
    return f", without {shown}" + (f" and {more} more" if more > 0 else "")


def _nothing(pin: Pin, reasons: list[str], exact: bool, hint: str) -> AnnotateError:
    what = f"commit {pin.commit}"
    if pin.release is not None:
        what += f" cannot be had, and release {pin.release}"
        what += " may not stand in for it" if exact else " neither"
    else:
        what += " cannot be had, and no release stands in for it"
    lines = "".join(f"\n  {reason.removeprefix(f'{pin.name}: ')}" for reason in reasons)
    return AnnotateError(f"{pin.name}: {what}:{lines}", hint, exit_code=Exit.NOTHING_JUDGED)
