"""Changing several files as one: all of them are old, or all of them are new.

The new contents are written beside the project's files first. Then one rename makes the journal
appear: from then on the change has happened, and what is left to do, replacing file by file, is
finished by whoever opens the project next, should this process be killed in between.
"""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from annotate.errors import AnnotateError

FOLDER = ".annotate-journal"


def apply(root: Path, changes: Mapping[str, bytes | None]) -> None:
    """Write files, and remove those whose content is None, as one change.

    Args:
        root: the project.
        changes: path relative to it → new content.

    Raises:
        AnnotateError: something cannot be written; nothing has changed then.
    """
    finish(root)
    if not changes:
        return
    for path in changes:
        if not (root / path).resolve().is_relative_to(root.resolve()):
            raise AnnotateError(
                f"{path} leads out of the project", "Nothing was changed; take the link away."
            )
    try:
        staging = Path(tempfile.mkdtemp(prefix=f"{FOLDER}-", dir=root))
        try:
            _stage(staging, root, changes)
            staging.rename(root / FOLDER)
        except BaseException:
            shutil.rmtree(staging, ignore_errors=True)
            raise
    except OSError as error:
        raise AnnotateError(
            f"{root} cannot be written: {error.strerror}", "Nothing was changed."
        ) from error
    finish(root)


def finish(root: Path) -> bool:
    """Finish a change that was interrupted after it had happened; says whether there was one.

    Raises:
        AnnotateError: it cannot be finished: a file cannot be written.
    """
    journal = root / FOLDER
    _remove_abandoned(root)
    if not journal.is_dir():
        return False
    try:
        entries = json.loads((journal / "journal.json").read_bytes())
        for number, path in enumerate(entries):
            # Through a link to the file it names: the link itself is the author's.
            target = (root / path).resolve()
            content = journal / str(number)
            if entries[path] is None:
                target.unlink(missing_ok=True)
            elif content.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                content.replace(target)
        # From one moment to the next it is no journal any more: half of one could not be read.
        done = root / f"{FOLDER}-done-{os.getpid()}"
        journal.rename(done)
        shutil.rmtree(done, ignore_errors=True)
    except OSError as error:
        raise AnnotateError(
            f"a change in {root} was interrupted and cannot be finished: {error.strerror}",
            f"Make the project's files writable; what is missing lies in {FOLDER}.",
        ) from error
    return True


def _stage(staging: Path, root: Path, changes: Mapping[str, bytes | None]) -> None:
    entries: dict[str, str | None] = {}
    for number, (path, data) in enumerate(changes.items()):
        entries[path] = None if data is None else hashlib.sha256(data).hexdigest()
        if data is not None:
            _write(staging / str(number), data)
            if (root / path).exists():
                shutil.copymode(root / path, staging / str(number))
    _write(staging / "journal.json", json.dumps(entries).encode())


def _write(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _remove_abandoned(root: Path) -> None:
    """Remove what was staged by processes that were killed before anything had happened."""
    for staging in root.glob(f"{FOLDER}-*"):
        shutil.rmtree(staging, ignore_errors=True)
