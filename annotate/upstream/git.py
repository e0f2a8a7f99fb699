"""A tree from git: one commit, fetched by its id at depth 1.

It comes into a bare repository that is thrown away, and its blobs are read from there by id.

git gets nothing but what stands in this file: none of the caller's ``GIT_…`` variables, no
configuration of the user or the machine, no hooks, submodules, filters or work tree, no prompt,
and only the one protocol that the configured repository uses. What comes back is checked: git
itself checks the form of every object (``transfer.fsckObjects``) and names objects by their
content; the commit and each blob are hashed here once more.
"""

import contextlib
import hashlib
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import SplitResult

from annotate.errors import AnnotateError, Exit
from annotate.location import is_safe_path
from annotate.pin import Pin, is_full_commit
from annotate.upstream.address import (
    refuse_missing_folder,
    refuse_unreachable,
    repository_address,
    unreachable,
)
from annotate.upstream.store import Entry, Progress, Store, object_algorithm, unavailable
from annotate.upstream.tree import MAX_FILE_BYTES, Tree, TreeFile

if TYPE_CHECKING:
    from git import RemoteProgress, Repo

OLDEST_GIT = (2, 32)
"""The first git that can be told to read no configuration (``GIT_CONFIG_GLOBAL``)."""

_REGULAR_MODES = ("100644", "100755")
_OTHER_MODES = {"120000": "a symbolic link", "160000": "a submodule"}

_ENVIRONMENT_LOCK = threading.RLock()


@dataclass(frozen=True, slots=True)
class Limits:
    """How long to wait, in seconds: for a connection, for the next byte, for all of it."""

    connect: float = 5
    stall: int = 10
    total: float = 600


def fetch(pin: Pin, store: Store, progress: Progress | None, limits: Limits | None = None) -> Tree:
    """Fetch the pinned commit and keep its plain files in the store.

    Symbolic links, submodules and unsafe paths are left out; `Store.left_out` lists them.

    Args:
        pin: its repository is an address over https, or a file:// or loopback http one.
        store: where the blobs go.
        progress: told how much has come, or None.
        limits: how long to wait.

    Raises:
        AnnotateError: the address or the id is refused (exit code ``USAGE``), or the commit
            cannot be had from there (exit code ``NOTHING_JUDGED``).
    """
    limits = limits or Limits()
    address = repository_address(pin)
    if not is_full_commit(pin.commit):
        raise AnnotateError(
            f"{pin.name}: “{pin.commit}” is not a full commit id",
            "Write all 40 (or 64) hex digits, in lower case; `git rev-parse NAME` prints them.",
        )
    if address.scheme == "file":
        refuse_missing_folder(pin, address)
    else:
        refuse_unreachable(pin, address, limits.connect)
    with (
        store.temporary() as folder,
        environment(folder / "repository.git", configuration(pin, address, limits)),
        _repository(pin, folder / "repository.git") as repository,
    ):
        _fetch_commit(pin, repository, address, progress, limits)
        _verify_commit(pin, repository)
        files, left_out = _list_files(repository, pin.commit)
        entries = _entries(repository, files, store, folder)
        return store.add_tree(pin, "git", f"commit {pin.commit}", entries, left_out)


def configuration(pin: Pin, address: SplitResult, limits: Limits) -> dict[str, str]:
    """All the configuration that git gets."""
    return {
        "remote.upstream.url": pin.repository,
        "protocol.allow": "never",
        f"protocol.{address.scheme}.allow": "always",
        "protocol.version": "2",
        "transfer.fsckObjects": "true",
        "fetch.unpackLimit": "1",
        "fetch.recurseSubmodules": "false",
        "core.hooksPath": os.devnull,
        "gc.auto": "0",
        "maintenance.auto": "false",
        "http.lowSpeedLimit": "1",
        "http.lowSpeedTime": str(limits.stall),
    }


@contextlib.contextmanager
def environment(path: Path, configuration: Mapping[str, str]) -> Iterator[None]:
    """Run git in a clean environment, on the repository at that path and on no other.

    GitPython hands every child a copy of this process's environment and can only add to it, so
    the variables are taken out here and put back afterwards, one fetch at a time. It also expands
    ``$NAME`` in paths and runs git in the current folder where the result does not exist; naming
    the repository in ``GIT_DIR`` keeps git off a repository that lies around there.

    Which certificates to trust is the machine's business and stays.
    """
    clean = {
        "GIT_ASKPASS": "",
        "GIT_CONFIG_COUNT": str(len(configuration)),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_DIR": str(path),
        "GIT_LFS_SKIP_SMUDGE": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_TEMPLATE_DIR": "",
        "GIT_TERMINAL_PROMPT": "0",
    }
    for number, (key, value) in enumerate(configuration.items()):
        clean[f"GIT_CONFIG_KEY_{number}"] = key
        clean[f"GIT_CONFIG_VALUE_{number}"] = value
    certificates = os.environ.get("GIT_SSL_CAINFO") or os.environ.get("SSL_CERT_FILE")
    if certificates:
        clean["GIT_SSL_CAINFO"] = certificates
    with _ENVIRONMENT_LOCK:
        inherited = {
            name: value
            for name, value in os.environ.items()
            if name.startswith("GIT_") and not name.startswith("GIT_PYTHON_")
        }
        for name in inherited:
            del os.environ[name]
        os.environ.update(clean)
        try:
            yield
        finally:
            for name in clean:
                os.environ.pop(name, None)
            os.environ.update(inherited)


def require_program(pin: Pin) -> None:
    """Raise `AnnotateError` if there is no git, or one older than `OLDEST_GIT`."""
    oldest = ".".join(map(str, OLDEST_GIT))
    try:
        import git

        version = git.Git().version_info
    except (ImportError, OSError) as error:  # importing GitPython fails where it finds no program
        raise unavailable(pin, "there is no git program here", f"Install git {oldest}.") from error
    if version[:2] < OLDEST_GIT:
        found = ".".join(map(str, version))
        raise unavailable(pin, f"git {found} is too old", f"Install git {oldest} or newer.")


@contextlib.contextmanager
def _repository(pin: Pin, path: Path) -> Iterator["Repo"]:
    """Make a bare repository, and end its child processes afterwards."""
    require_program(pin)
    import git

    path.mkdir()
    git.Git(path).init(bare=True, object_format=object_algorithm(pin.commit))
    with contextlib.closing(git.Repo(path, expand_vars=False)) as repository:
        yield repository


def _fetch_commit(
    pin: Pin, repository: "Repo", address: SplitResult, progress: Progress | None, limits: Limits
) -> None:
    import git

    try:
        git.Remote(repository, "upstream").fetch(
            pin.commit,
            progress=relay(pin, progress) if progress else None,
            verbose=False,
            kill_after_timeout=limits.total,
            depth=1,
            no_tags=True,
        )
    except git.GitCommandError as error:
        raise explain(pin, address, str(error.stderr), limits) from error
    finally:
        if progress:
            progress.stop()


def relay(pin: Pin, progress: Progress) -> "RemoteProgress":
    """Make what GitPython tells about git's progress, and have it tell ours."""
    import git

    class Relay(git.RemoteProgress):
        done = 0

        def update(
            self,
            op_code: int,
            cur_count: str | float,
            max_count: str | float | None = None,
            message: str = "",  # noqa: ARG002 (the signature is GitPython's)
        ) -> None:
            if op_code & self.BEGIN:
                what = "receiving" if op_code & self.RECEIVING else "waiting for"
                progress.stop()
                progress.start(f"{what} {pin.name}", int(max_count) if max_count else None)
                self.done = 0
            progress.advance(int(cur_count) - self.done)
            self.done = int(cur_count)

    return Relay()


def _verify_commit(pin: Pin, repository: "Repo") -> None:
    """Refuse anything but a commit with that very id: a tag or a tree has an id as well."""
    import git

    not_a_commit = unavailable(
        pin,
        f"the object {pin.commit} is not a commit",
        "Pin the commit itself; for a tag, `git rev-parse TAG^{commit}` prints it.",
    )
    try:
        data: bytes = repository.git.cat_file(
            "commit", pin.commit, stdout_as_string=False, strip_newline_in_stdout=False
        )
    except git.GitCommandError as error:
        raise not_a_commit from error
    digest = hashlib.new(object_algorithm(pin.commit), usedforsecurity=False)
    digest.update(b"commit %d\0" % len(data) + data)
    if digest.hexdigest() != pin.commit:
        raise not_a_commit


def _list_files(repository: "Repo", commit: str) -> tuple[dict[str, TreeFile], list[str]]:
    """List the plain files, and apart from them what else there is, with the reason."""
    output: bytes = repository.git.ls_tree(
        "-r", "-l", "-z", "--full-tree", commit, stdout_as_string=False
    )
    files: dict[str, TreeFile] = {}
    left_out: list[str] = []
    for line in output.split(b"\0")[:-1]:
        facts, _, name = line.partition(b"\t")
        mode, _, blob, size = facts.decode("ascii").split()
        path = name.decode("utf-8", "backslashreplace")  # no safe path has a backslash
        if mode not in _REGULAR_MODES:
            left_out.append(f"{path!a} ({_OTHER_MODES.get(mode, 'not a plain file')})")
        elif not is_safe_path(path):
            left_out.append(f"{path!a} (not a safe path)")
        else:
            files[path] = TreeFile(blob, int(size))
    return files, left_out


def _entries(
    repository: "Repo", files: Mapping[str, TreeFile], store: Store, folder: Path
) -> Iterator[Entry]:
    """Read the files, but not the bytes that the store has or that are too many to be read."""
    wanted: dict[TreeFile, str] = {}
    for path, file in files.items():
        if file.size > MAX_FILE_BYTES or file in wanted or store.has_blob(file.blob, file.size):
            yield path, file, None
        else:
            wanted[file] = path
    for file, data in _read_blobs(repository, list(wanted), folder):
        yield wanted[file], file, data


def _read_blobs(
    repository: "Repo", files: Sequence[TreeFile], folder: Path
) -> Iterator[tuple[TreeFile, bytes]]:
    """Read blobs by id, all through one process.

    Not through GitPython's object database: that costs half as much again, and takes no SHA-256.
    """
    names = folder / "wanted"
    names.write_text("".join(f"{file.blob}\n" for file in files), encoding="ascii")
    with names.open("rb") as wanted:
        process = repository.git.cat_file("--batch", istream=wanted, as_process=True)
        for file in files:
            header = process.stdout.readline()
            if header != b"%s blob %d\n" % (file.blob.encode(), file.size):
                raise AnnotateError(
                    f"git does not give blob {file.blob}", exit_code=Exit.NOTHING_JUDGED
                )
            yield file, process.stdout.read(file.size)
            process.stdout.read(1)
        process.wait()


def explain(pin: Pin, address: SplitResult, stderr: str, limits: Limits) -> AnnotateError:
    """Say what git's messages mean to the user."""
    host = address.hostname or "the repository"
    text = stderr.lower()

    def says(*fragments: str) -> bool:
        return any(fragment in text for fragment in fragments)

    if says("unadvertised object"):
        return unavailable(
            pin,
            f"{host} gives out no commit but those that a branch or a tag points at",
            "Put a tag on the commit there, or fetch from another copy of the repository.",
        )
    if says("not our ref", "couldn't find remote ref"):
        return unavailable(
            pin,
            f"{pin.repository} has no commit {pin.commit}",
            "Check the commit id, and that it was pushed.",
        )
    if says("could not read username", "authentication failed", "terminal prompts disabled"):
        return unavailable(
            pin,
            f"{host} asks for a login: {pin.repository} is private or does not exist",
            "Check the address; git finds a login for the host in ~/.netrc.",
        )
    if says("error: 403", "error: 401"):
        return unavailable(pin, f"{host} denies access to {pin.repository}", "Check the address.")
    if says("dubious ownership"):
        return unavailable(
            pin, f"git refuses {pin.repository}: another user owns it", "Make a copy of your own."
        )
    if says("mismatched algorithms"):
        return unavailable(
            pin,
            f"{pin.repository} has ids of another length than {pin.commit}",
            "Pin the id that `git rev-parse NAME` prints there.",
        )
    if says("not found", "does not appear to be a git repository", "not a git repository"):
        return unavailable(pin, f"there is no repository at {pin.repository}", "Check the address.")
    if says("certificate"):
        return unavailable(
            pin,
            f"the certificate of {host} is not trusted",
            "Name the file with your network's certificates in SSL_CERT_FILE.",
        )
    if says("operation too slow"):
        return unreachable(pin, host, f"it sent nothing for {limits.stall} s")
    if says("timed out. kill_after_timeout"):
        return unreachable(pin, host, f"not everything had come after {limits.total:g} s")
    if says("could not resolve", "failed to connect", "couldn't connect", "timed out", "refused"):
        return unreachable(pin, host, "no connection")
    if says("fsck", "index-pack", "bad pack header"):
        return unavailable(
            pin,
            f"git refuses what {host} sent: {_first_complaint(stderr)}",
            "Its objects are malformed; pin a commit of a sound repository.",
        )
    return unavailable(
        pin,
        f"git cannot fetch {pin.commit}: {_first_complaint(stderr)}",
        f"Try `git fetch --depth 1 {pin.repository} {pin.commit}` in an empty repository.",
    )


def _first_complaint(stderr: str) -> str:
    """Cut out git's first complaint, on one line and without what a terminal would obey."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    complaints = [line for line in lines if line.startswith(("error:", "fatal:"))] or lines
    first = complaints[0] if complaints else "no message"
    return "".join(character for character in first if character.isprintable())[:300]
