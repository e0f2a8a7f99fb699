"""Several files change as one, wherever the process is killed."""

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from annotate import journal
from annotate.errors import AnnotateError
from tests.projects import files_below

OLD = {f"docs/page{number}.md": f"old {number}\n".encode() for number in range(12)} | {
    "gone.toml": b"old\n"
}
CHANGES: dict[str, bytes | None] = {
    **{f"docs/page{number}.md": f"new {number}\n".encode() for number in range(12)},
    "gone.toml": None,
    "fresh/made.toml": b"new\n",
}
NEW = {path: data for path, data in CHANGES.items() if data is not None}

WATCHED = ("open", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "shutil.rmtree")
"""What the journal does to the disk, as Python's audit events name it."""


def make(root: Path) -> None:
    for path, data in OLD.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)


def killed_at(step: int, act: Callable[[], object]) -> bool:
    """Do it in a process that is killed before its n-th step; says whether it came so far."""
    child = os.fork()
    if child == 0:
        steps = 0

        def count(event: str, _: object) -> None:
            nonlocal steps
            if event in WATCHED:
                steps += 1
                if steps == step:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(count)
        try:
            act()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def test_applied_at_once(tmp_path: Path) -> None:
    make(tmp_path)
    journal.apply(tmp_path, CHANGES)
    assert files_below(tmp_path) == NEW


def test_killed_anywhere_the_project_is_wholly_old_or_wholly_new(tmp_path: Path) -> None:
    outcomes = set()
    step = 1
    while True:
        root = tmp_path / str(step)
        make(root)
        if not killed_at(step, lambda root=root: journal.apply(root, CHANGES)):  # type: ignore[misc]
            break
        journal.finish(root)
        after = files_below(root)
        assert after in (OLD, NEW), f"killed before step {step}"
        outcomes.add("new" if after == NEW else "old")
        step += 1
    assert step > 40
    assert outcomes == {"old", "new"}


def test_finishing_can_be_interrupted_as_well(tmp_path: Path) -> None:
    step = 1
    while True:
        root = tmp_path / str(step)
        make(root)
        staged = root / journal.FOLDER
        staged.mkdir()
        entries = {}
        for number, (path, data) in enumerate(CHANGES.items()):
            entries[path] = None if data is None else "x"
            if data is not None:
                (staged / str(number)).write_bytes(data)
        (staged / "journal.json").write_text(json.dumps(entries))
        alive = not killed_at(step, lambda root=root: journal.finish(root))  # type: ignore[misc]
        journal.finish(root)
        assert files_below(root) == NEW, f"killed before step {step}"
        if alive:
            break
        step += 1
    assert step > 8


def test_what_cannot_be_written_changes_nothing(tmp_path: Path) -> None:
    make(tmp_path)
    (tmp_path / "file").write_bytes(b"x")
    with pytest.raises(AnnotateError, match="cannot be"):
        journal.apply(tmp_path / "file", CHANGES)
    assert files_below(tmp_path) == OLD | {"file": b"x"}


def test_modes_and_links_are_kept(tmp_path: Path) -> None:
    make(tmp_path)
    (tmp_path / "docs/page0.md").chmod(0o750)
    (tmp_path / "docs/page1.md").rename(tmp_path / "real.md")
    (tmp_path / "docs/page1.md").symlink_to(tmp_path / "real.md")
    journal.apply(tmp_path, CHANGES)
    assert (tmp_path / "docs/page0.md").stat().st_mode & 0o777 == 0o750
    assert (tmp_path / "docs/page1.md").is_symlink()
    assert (tmp_path / "real.md").read_bytes() == b"new 1\n"


def test_a_link_out_of_the_project_is_not_followed(tmp_path: Path) -> None:
    root = tmp_path / "project"
    make(root)
    (tmp_path / "outside.md").write_bytes(b"mine\n")
    (root / "docs/page2.md").unlink()
    (root / "docs/page2.md").symlink_to(tmp_path / "outside.md")
    with pytest.raises(AnnotateError, match="leads out of the project"):
        journal.apply(root, CHANGES)
    assert (tmp_path / "outside.md").read_bytes() == b"mine\n"
    assert (root / "gone.toml").exists()
