"""From what a user calls a version to the plan of going there."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from annotate.errors import AnnotateError
from annotate.pin import Pin, is_full_commit
from annotate.project import Project
from annotate.regenerate.plan import Plan, make_plan
from annotate.upstream import folder
from annotate.upstream.store import Progress, Store
from annotate.upstream.tree import Tree
from annotate.upstream.versions import Versions


def carry_over(
    project: Project,
    version: str,
    upstream: str = "",
    *,
    source: str | None = None,
    say: Callable[[str], None],
    progress: Progress | None,
) -> Plan:
    """Plan to carry a project to a version; nothing is written.

    Args:
        project: the project, opened at what it pins.
        version: a full commit id, a tag, a branch, ``latest``, or ``release:VERSION``.
        upstream: which upstream, where several are pinned.
        source: a folder that holds the files of ``version``, which is a full commit id then.
        say: told what the version was resolved to.
        progress: told how far a fetch has come, or None.

    Raises:
        AnnotateError: there is no such version, or it cannot be had or pinned.
    """
    old = project.index(upstream).tree.pin
    store = Store()
    if source is not None:
        return make_plan(project, *_from_folder(old, version, source), store)
    with Versions(old, "", store, say, progress) as versions:
        tree = versions.tree(version)
        return make_plan(project, _pin(old, tree, version), tree, store)


def _pin(old: Pin, tree: Tree, version: str) -> Pin:
    """What is pinned by going to a tree: a commit with the old stand-in, or a release."""
    match tree.source:
        case "git":
            return replace(old, commit=tree.pin.commit)
        case "release":
            return replace(old, commit="", release=tree.pin.release)
        case _:
            raise AnnotateError(
                f"a folder is not a version that can be pinned: {version}",
                "Name the commit it is a checkout of, and the folder with --source.",
            )


def _from_folder(old: Pin, version: str, source: str) -> tuple[Pin, Tree]:
    if not is_full_commit(version):
        raise AnnotateError(
            f"“{version}” is not a full commit id",
            "With --source, name the commit that the folder is a checkout of, all its digits.",
        )
    pin = replace(old, commit=version)
    return pin, folder.read(pin, Path(source.removeprefix("folder:")).expanduser())
