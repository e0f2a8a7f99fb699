"""A repository with its whole history: commits, their trees, and names that stand for commits.

A folder is read where it is; an address is cloned into the store first, bare, under the same rules
as a single commit (`annotate.upstream.git`). Only plumbing runs that neither configuration nor
attributes of the repository can turn into another program: ``cat-file``, ``rev-list``,
``rev-parse``, ``for-each-ref``.
"""

import contextlib
import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, unquote

from annotate.errors import AnnotateError, Exit
from annotate.location import is_safe_path
from annotate.pin import Pin, is_full_commit
from annotate.upstream import git as fetching
from annotate.upstream.address import (
    refuse_missing_folder,
    refuse_unreachable,
    repository_address,
)
from annotate.upstream.store import Progress, Store, object_algorithm, unavailable
from annotate.upstream.tree import Tree, TreeFile, blob_id

if TYPE_CHECKING:
    from git import Git, Repo

_REGULAR_MODES = (b"100644", b"100755")
_FOLDER_MODE = b"40000"
_OBJECT_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_NAME = re.compile(r"[\w][\w./+-]*(?:[~^][0-9]*)*")
_FORMAT = "%H%x00%T%x00%P%x00%ct%x00%s%x00"


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit: full ids, the committer's time in seconds since 1970, and the first line."""

    id: str
    tree: str
    parents: tuple[str, ...]
    time: int
    subject: str


class History:
    """A repository open for reading; made by `open_history`."""

    def __init__(self, pin: Pin, path: Path, repository: "Repo", objects: "_ObjectReader") -> None:
        self._pin = pin
        self._path = path
        self._repository = repository
        self._objects = objects
        self._trees: dict[str, dict[str, str]] = {}
        self._sizes: dict[str, int] = {}
        self._commits: dict[str, Commit] = {}

    def resolve(self, name: str) -> str:
        """The full id of the commit that a name stands for.

        Args:
            name: an id, whole or its beginning, a tag, a branch, any of them with ``~2``, or
                ``latest`` for the newest commit of the default branch.

        Raises:
            AnnotateError: nothing has that name.
        """
        if not _NAME.fullmatch(name):
            raise AnnotateError(
                f"“{name}” is no name of a commit", "Give a commit id, a tag or a branch."
            )
        wanted = "HEAD" if name == "latest" else name
        try:
            with self._git():
                found: str = self._repository.git.rev_parse(
                    "--verify", "--quiet", "--end-of-options", f"{wanted}^{{commit}}"
                )
        except self._git_error() as error:
            raise AnnotateError(
                f"{self._pin.repository} has no commit called “{name}”",
                "Check the spelling, and that it was pushed.",
                exit_code=Exit.NOTHING_JUDGED,
            ) from error
        return found

    def tags(self) -> dict[str, str]:
        """Every tag that stands for a commit, oldest commit first, and the commit's full id."""
        with self._git():
            listed: str = self._repository.git.for_each_ref(
                "--sort=creatordate",
                "--format=%(refname:strip=2) %(objecttype) %(objectname)"
                " %(*objecttype) %(*objectname)",
                "refs/tags",
            )
        tags = {}
        for line in listed.splitlines():
            name, *facts = line.split()
            if "commit" in facts:
                tags[name] = facts[facts.index("commit") + 1]
        return tags

    def has(self, commit: str) -> bool:
        """Whether the repository has a commit of that full id."""
        return self._objects.header(commit)[0] == "commit"

    def commit(self, commit: str) -> Commit:
        """One commit by its full id.

        Raises:
            AnnotateError: the repository does not have it.
        """
        if commit not in self._commits:
            self._read_commits(commit, "--max-count=1")
        return self._commits[commit]

    def ancestors(self, commit: str, *, first_parents: bool = False) -> list[Commit]:
        """A commit and all it descends from, no parent before its child, newest first.

        With ``first_parents`` only the line of first parents.

        Raises:
            AnnotateError: the repository does not have it, or has only part of its history.
        """
        with self._git():
            shallow: str = self._repository.git.rev_parse("--is-shallow-repository")
        if shallow == "true":
            raise unavailable(
                self._pin,
                f"{self._pin.repository} has only part of its history",
                "Complete it with `git fetch --unshallow`.",
            )
        options = ["--first-parent"] if first_parents else []
        return self._read_commits(commit, "--topo-order", *options)

    def tree(self, commit: str) -> Tree:
        """The files at a commit; their bytes are read when they are asked for.

        Raises:
            AnnotateError: the repository does not have the commit.
        """
        files = _Files(self._list(self.commit(commit).tree), self._size)
        pin = Pin(self._pin.name, self._pin.repository, commit, self._pin.release)
        return Tree(pin, "git", f"commit {commit}", files, self._read_blob)

    def files(self, commit: Commit) -> Mapping[str, str]:
        """The paths of the plain files at a commit, sorted, and their blob ids."""
        return self._list(commit.tree)

    def _read_commits(self, commit: str, *options: str) -> list[Commit]:
        if not is_full_commit(commit):
            raise ValueError(f"not a full commit id: {commit!r}")
        try:
            with self._git():
                data: bytes = self._repository.git.rev_list(
                    *options,
                    f"--format={_FORMAT}",
                    "--end-of-options",
                    commit,
                    stdout_as_string=False,
                )
        except self._git_error() as error:
            raise unavailable(
                self._pin,
                f"{self._pin.repository} has no commit {commit}",
                "Check the commit id, and that it was pushed.",
            ) from error
        found = []
        fields = data.decode("utf-8", "replace").split("\0")
        for start in range(0, len(fields) - 5, 5):
            head, tree, parents, time, subject = fields[start : start + 5]
            # rev-list puts a line of its own before each commit.
            entry = head.rpartition("\n")[2]
            each = Commit(entry, tree, tuple(parents.split()), int(time), subject)
            self._commits[each.id] = each
            found.append(each)
        return found

    def _list(self, tree: str) -> dict[str, str]:
        """Path → blob of a tree; each distinct tree is read once."""
        if tree not in self._trees:
            found: dict[str, str] = {}
            for mode, name, entry in self._entries(tree):
                if mode == _FOLDER_MODE:
                    found.update(
                        (f"{name}/{path}", blob) for path, blob in self._list(entry).items()
                    )
                elif mode in _REGULAR_MODES:
                    found[name] = entry
            self._trees[tree] = dict(sorted(found.items()))
        return self._trees[tree]

    def _entries(self, tree: str) -> Iterator[tuple[bytes, str, str]]:
        """Mode, name and id of what lies directly in a tree; unsafe names left out.

        After "Tree Objects" in the Git book, chapter 10.2.
        """
        data = self._object(tree, "tree")
        length = hashlib.new(object_algorithm(tree), usedforsecurity=False).digest_size
        position = 0
        while position < len(data):
            space = data.index(b" ", position)
            zero = data.index(b"\0", space)
            name = data[space + 1 : zero].decode("utf-8", "backslashreplace")
            if is_safe_path(name) and "/" not in name:
                yield data[position:space], name, data[zero + 1 : zero + 1 + length].hex()
            position = zero + 1 + length

    def _object(self, object_id: str, kind: str) -> bytes:
        found, data = self._objects.read(object_id)
        if found != kind:
            raise self._damaged(object_id)
        return data

    def _size(self, blob: str) -> int:
        if blob not in self._sizes:
            # A partial clone lists files that it does not have; reading one raises.
            self._sizes[blob] = self._objects.header(blob)[1]
        return self._sizes[blob]

    def _read_blob(self, blob: str) -> bytes:
        data = self._object(blob, "blob")
        if blob_id(data, algorithm=object_algorithm(blob)) != blob:
            raise self._damaged(blob)
        return data

    def _damaged(self, object_id: str) -> AnnotateError:
        return unavailable(
            self._pin,
            f"{self._path} does not have object {object_id} as it should be",
            "`git fsck` tells what is wrong with a repository.",
        )

    @contextlib.contextmanager
    def _git(self) -> Iterator[None]:
        with fetching.environment(self._path, _READING):
            yield

    @staticmethod
    def _git_error() -> type[Exception]:
        import git

        error: type[Exception] = git.GitCommandError
        return error


_READING = {"protocol.allow": "never", "i18n.logOutputEncoding": "UTF-8", "gc.auto": "0"}


class _ObjectReader:
    """Reads objects by id through two processes that stay open.

    Not through GitPython's own, which read no repository with SHA-256 ids.
    """

    def __init__(self, repository: "Repo") -> None:
        start = repository.git.cat_file
        self._contents = start("--batch", as_process=True, istream=PIPE)
        self._headers = start("--batch-check", as_process=True, istream=PIPE)

    def header(self, object_id: str) -> tuple[str, int]:
        """Kind and size; an absent object is of kind ``missing``."""
        return self._ask(self._headers, object_id)

    def read(self, object_id: str) -> tuple[str, bytes]:
        """Kind and content; an absent object is of kind ``missing``."""
        kind, size = self._ask(self._contents, object_id)
        if kind == "missing":
            return kind, b""
        data: bytes = self._contents.stdout.read(size)
        self._contents.stdout.read(1)
        return kind, data

    def close(self) -> None:
        """End both processes."""
        for process in (self._contents, self._headers):
            process.stdin.close()
            process.wait()
            for stream in (process.stdout, process.stderr):
                if stream is not None:
                    stream.close()

    @staticmethod
    def _ask(process: "Git.AutoInterrupt", object_id: str) -> tuple[str, int]:
        if not _OBJECT_ID.fullmatch(object_id):
            raise ValueError(f"not an object id: {object_id!r}")
        process.stdin.write(f"{object_id}\n".encode())
        process.stdin.flush()
        facts = process.stdout.readline().decode("ascii", "replace").split()
        if len(facts) != 3:
            return "missing", 0
        return facts[1], int(facts[2])


class _Files(Mapping[str, TreeFile]):
    """Path → file; the size of a blob is asked for when the file is looked up."""

    def __init__(self, blobs: Mapping[str, str], size: Callable[[str], int]) -> None:
        self._blobs = blobs
        self._size = size

    def __getitem__(self, path: str) -> TreeFile:
        blob = self._blobs[path]
        return TreeFile(blob, self._size(blob))

    def __iter__(self) -> Iterator[str]:
        return iter(self._blobs)

    def __len__(self) -> int:
        return len(self._blobs)

    def __contains__(self, path: object) -> bool:
        return path in self._blobs


@contextlib.contextmanager
def open_history(
    pin: Pin,
    store: Store,
    progress: Progress | None,
    *,
    refresh: bool = False,
    say: Callable[[str], None] = lambda _: None,
    limits: fetching.Limits | None = None,
) -> Iterator[History]:
    """Open the repository of a pin with its whole history, for as long as the block runs.

    Args:
        pin: its repository is the path of a local one, or an address that `git.fetch` takes; its
            commit, unless it is "", is fetched as well where no branch or tag leads to it.
        store: where a clone of an address is kept, and brought up to date where the commit is
            missing.
        progress: told how far a fetch has come, or None.
        refresh: bring a clone up to date although it has the commit, if that can be done.
        say: told in one line where a clone could not be brought up to date.
        limits: how long to wait.

    Raises:
        AnnotateError: there is no such repository, it cannot be fetched, or git is missing.
    """
    fetching.require_program(pin)
    import git

    path = local_repository(pin.repository)
    if path is None:
        try:
            path = _clone(pin, store, progress, limits or fetching.Limits(), refresh, say)
        except AnnotateError as error:
            path = _where_it_lies(pin)
            if path is None or error.exit_code is not Exit.NOTHING_JUDGED:
                raise
            # A partial clone, say, gives out no whole history but can be read itself.
            say(f"{error.message}; reading it where it lies")
    with fetching.environment(path, _READING):
        repository = git.Repo(path, expand_vars=False)
        objects = _ObjectReader(repository)
    with contextlib.closing(repository), contextlib.closing(objects):
        yield History(pin, path, repository, objects)


def local_repository(repository: str) -> Path | None:
    """The git directory of a repository that is named by its path; None for an address."""
    if "://" in repository:
        return None
    path = Path(repository).expanduser().absolute()
    dot_git = path / ".git"
    if dot_git.is_file():
        # A worktree or a submodule (gitrepository-layout).
        target = dot_git.read_text(encoding="utf-8", errors="replace").strip()
        path = path / target.removeprefix("gitdir: ")
        common = path / "commondir"
        if common.is_file():
            path = path / common.read_text(encoding="utf-8", errors="replace").strip()
    elif dot_git.is_dir():
        path = dot_git
    if not ((path / "HEAD").is_file() and (path / "objects").is_dir()):
        raise AnnotateError(
            f"there is no git repository at {repository}",
            "Give the path of one, or an address: https://HOST/OWNER/NAME.",
            exit_code=Exit.NOTHING_JUDGED,
        )
    return path.resolve()


def _where_it_lies(pin: Pin) -> Path | None:
    """The git directory that a file address names, or None."""
    address = repository_address(pin)
    if address.scheme != "file":
        return None
    with contextlib.suppress(AnnotateError):
        return local_repository(unquote(address.path))
    return None


def _clone(
    pin: Pin,
    store: Store,
    progress: Progress | None,
    limits: fetching.Limits,
    refresh: bool,
    say: Callable[[str], None],
) -> Path:
    """The clone of an address in the store, made or brought up to date where need be."""
    address = repository_address(pin)
    name = pin.repository.rstrip("/").removesuffix(".git")
    path = store.root / "histories" / f"{hashlib.sha256(name.encode()).hexdigest()}.git"
    if not path.is_dir():
        with store.temporary() as folder:
            _fetch(pin, folder / "repository.git", address, progress, limits)
            path.parent.mkdir(parents=True, exist_ok=True)
            # Where another process was faster, its clone is as good.
            with contextlib.suppress(OSError):
                (folder / "repository.git").replace(path)
    elif pin.commit and not _has_commit(path, pin.commit):
        _fetch(pin, path, address, progress, limits)
    elif refresh:
        try:
            _fetch(pin, path, address, progress, limits)
        except AnnotateError as error:
            say(f"{error.message}; names are as they were when it was last asked")
    return path


def _has_commit(path: Path, commit: str) -> bool:
    import git

    with fetching.environment(path, _READING):
        try:
            return bool(git.Git(path).cat_file("-t", commit) == "commit")
        except git.GitCommandError:
            return False


def _fetch(
    pin: Pin,
    path: Path,
    address: SplitResult,
    progress: Progress | None,
    limits: fetching.Limits,
) -> None:
    """Bring all branches and tags into a bare repository, and the pinned commit besides."""
    import git

    if address.scheme == "file":
        refuse_missing_folder(pin, address)
    else:
        refuse_unreachable(pin, address, limits.connect)
    configuration = fetching.configuration(pin, address, limits)
    with fetching.environment(path, configuration):
        if not path.is_dir():
            path.mkdir()
            algorithm = object_algorithm(pin.commit) if pin.commit else "sha1"
            git.Git(path).init(bare=True, object_format=algorithm)
        with contextlib.closing(git.Repo(path, expand_vars=False)) as repository:
            remote = git.Remote(repository, "upstream")
            relayed = fetching.relay(pin, progress) if progress else None
            try:
                remote.fetch(
                    ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"],
                    progress=relayed,
                    verbose=False,
                    kill_after_timeout=limits.total,
                    no_tags=True,
                    prune=True,
                )
                if pin.commit and not _has_commit(path, pin.commit):
                    remote.fetch(
                        pin.commit, verbose=False, kill_after_timeout=limits.total, no_tags=True
                    )
                _point_head(repository)
            except git.GitCommandError as error:
                raise fetching.explain(pin, address, str(error.stderr), limits) from error
            finally:
                if progress:
                    progress.stop()


def _point_head(repository: "Repo") -> None:
    """Let HEAD name the branch that the remote's HEAD names."""
    listed = repository.git.ls_remote("--symref", "upstream", "HEAD")
    match = re.match(r"ref: (refs/heads/\S+)\tHEAD", str(listed))
    if match:
        repository.git.symbolic_ref("HEAD", match[1])
