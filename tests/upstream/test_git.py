"""Fetching one commit by id, over file:// and over git's smart HTTP, from sound and bad servers."""

import os
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from annotate.errors import AnnotateError, Exit
from annotate.pin import Pin
from annotate.upstream import git
from annotate.upstream.store import Store
from annotate.upstream.tree import MAX_FILE_BYTES, blob_id
from tests.upstream.repositories import (
    GitServer,
    Repository,
    closed_port,
    full_port,
    serving,
    silent_port,
)

FILES = {
    "README.md": b"# Upstream\n",
    "pkg/__init__.py": b"",
    "pkg/core.py": b"def f():\n    return 1\n",
    "pkg/copy.py": b"def f():\n    return 1\n",
    "pkg/data/table.bin": bytes(range(256)),
    "pkg/no_newline.py": b"x = 1",
    "pkg/\N{LATIN SMALL LETTER E WITH ACUTE}t\N{LATIN SMALL LETTER E WITH ACUTE}.py": b"y = 2\r\n",
}
QUICK = git.Limits(connect=1, stall=1, total=30)


def pin(repository: str, commit: str) -> Pin:
    return Pin("upstream", repository, commit)


class Recorder:
    """Notes what progress was told."""

    def __init__(self) -> None:
        self.started: list[tuple[str, int | None]] = []
        self.advanced = 0
        self.is_running = False

    def start(self, description: str, total: int | None) -> None:
        assert not self.is_running
        self.started.append((description, total))
        self.advanced = 0
        self.is_running = True

    def advance(self, amount: int) -> None:
        assert self.is_running
        self.advanced += amount

    def stop(self) -> None:
        self.is_running = False


@pytest.fixture(params=["file", "http"])
def url(request: pytest.FixtureRequest, repository: Repository) -> Iterator[str]:
    if request.param == "file":
        yield repository.url
    else:
        server = GitServer(repository.path.parent)
        with serving(server):
            yield server.url("upstream.git")


class TestSound:
    def test_a_commit_that_no_branch_points_at_any_more(
        self, url: str, repository: Repository, store: Store
    ) -> None:
        left = repository.commit(repository.files(FILES))
        repository.branch("main", left)
        repository.branch(
            "main", repository.commit(repository.files({"other": b"1"}), "Start over")
        )

        tree = git.fetch(pin(url, left), store, None)

        assert {path: tree.read(path) for path in tree.files} == FILES
        assert list(tree.files) == sorted(FILES)
        assert (tree.source, tree.identity) == ("git", f"commit {left}")
        assert tree.is_pinned_commit
        assert not tree.from_store
        assert store.left_out(tree) == ()

    def test_the_blob_ids_are_those_of_git(self, repository: Repository, store: Store) -> None:
        commit = repository.commit(repository.files(FILES))
        tree = git.fetch(pin(repository.url, commit), store, None)
        for path, file in tree.files.items():
            assert file.blob == repository.git("rev-parse", f"{commit}:{path}")
            assert file.size == len(FILES[path])

    def test_only_the_commit_comes_not_its_history(
        self, repository: Repository, server: GitServer, store: Store
    ) -> None:
        old = repository.commit(repository.files({"old": os.urandom(300_000)}))
        tree = repository.files({"new": b"small"})
        commit = repository.git("commit-tree", "-m", "New", "-p", old, tree)
        repository.branch("main", commit)
        git.fetch(pin(server.url("upstream.git"), commit), store, None)
        assert server.bytes_sent < 10_000

    def test_no_more_comes_than_a_plain_fetch_brings(
        self, repository: Repository, server: GitServer, store: Store, tmp_path: Path
    ) -> None:
        commit = repository.commit(repository.files(FILES | {"big": os.urandom(100_000)}))
        repository.branch("main", commit)
        address = server.url("upstream.git")
        plain = Repository(tmp_path / "plain")
        plain.git("fetch", "--quiet", "--depth", "1", address, commit)
        plain_cost = (len(server.requests), server.bytes_sent + server.bytes_received)
        server.requests.clear()
        server.bytes_sent = server.bytes_received = 0

        git.fetch(pin(address, commit), store, None)

        assert len(server.requests) == 2 <= plain_cost[0]
        assert server.bytes_sent + server.bytes_received <= plain_cost[1]

    def test_a_second_commit_writes_only_its_new_blobs(
        self, repository: Repository, store: Store
    ) -> None:
        first = repository.commit(repository.files(FILES))
        git.fetch(pin(repository.url, first), store, None)
        before = {path: path.stat().st_mtime_ns for path in store.root.glob("blobs/*/*")}
        second = repository.commit(repository.files(FILES | {"new.py": b"z = 3\n"}))

        tree = git.fetch(pin(repository.url, second), store, None)

        after = {path: path.stat().st_mtime_ns for path in store.root.glob("blobs/*/*")}
        assert tree.read("pkg/core.py") == FILES["pkg/core.py"]
        assert len(after) == len(before) + 1
        assert before.items() <= after.items()

    def test_a_file_too_large_to_read_is_listed_but_not_kept(
        self, repository: Repository, store: Store
    ) -> None:
        large = bytes(MAX_FILE_BYTES + 1)
        commit = repository.commit(repository.files({"large": large, "small": b"s"}))
        tree = git.fetch(pin(repository.url, commit), store, None)
        assert tree.files["large"].size == len(large)
        assert tree.files["large"].blob == blob_id(large)
        assert not store.has_blob(blob_id(large), len(large))
        reopened = store.tree(tree.pin)
        assert reopened is not None
        assert reopened.files == tree.files

    def test_sha256_repositories(self, tmp_path: Path, store: Store) -> None:
        repository = Repository(tmp_path / "sha256", "sha256")
        commit = repository.commit(repository.files(FILES))
        assert len(commit) == 64
        tree = git.fetch(pin(repository.url, commit), store, None)
        assert {path: tree.read(path) for path in tree.files} == FILES
        reopened = store.tree(tree.pin)
        assert reopened is not None
        assert reopened.read("README.md") == FILES["README.md"]

    def test_an_executable_file_is_a_plain_file(self, repository: Repository, store: Store) -> None:
        tree_id = repository.tree([("100755", b"run", repository.blob(b"#!/bin/sh\n"))])
        tree = git.fetch(pin(repository.url, repository.commit(tree_id)), store, None)
        assert tree.read("run") == b"#!/bin/sh\n"

    def test_a_commit_without_files(self, repository: Repository, store: Store) -> None:
        tree = git.fetch(pin(repository.url, repository.commit(repository.tree([]))), store, None)
        assert tree.files == {}

    def test_progress_is_told_what_came(
        self, url: str, repository: Repository, store: Store
    ) -> None:
        commit = repository.commit(repository.files(FILES))
        progress = Recorder()
        git.fetch(pin(url, commit), store, progress)
        description, total = progress.started[-1]
        objects = int(repository.git("rev-list", "--objects", "--count", commit))
        assert description == "receiving upstream"
        assert total == progress.advanced == objects
        assert not progress.is_running

    def test_paths_with_a_space_a_dollar_and_a_tilde(self, tmp_path: Path) -> None:
        repository = Repository(tmp_path / "a $HOME b" / "~up stream")
        commit = repository.commit(repository.files(FILES))
        store = Store(tmp_path / "~s $HOME t")
        tree = git.fetch(pin(repository.url, commit), store, None)
        assert {path: tree.read(path) for path in tree.files} == FILES
        assert {child.name for child in store.root.iterdir()} == {"blobs", "tmp", "trees"}

    def test_a_store_under_a_relative_path(self, repository: Repository) -> None:
        store = Store(Path("here"))
        commit = repository.commit(repository.files(FILES))
        tree = git.fetch(pin(repository.url, commit), store, None)
        assert tree.read("pkg/core.py") == FILES["pkg/core.py"]

    @pytest.mark.parametrize("store_name", ["store", "s $HOME t"])
    def test_the_repository_of_the_current_folder_is_not_touched(
        self,
        store_name: str,
        repository: Repository,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        project = Repository(tmp_path / "project" / ".git")
        monkeypatch.chdir(project.path.parent)
        before = sorted(project.path.rglob("*"))
        commit = repository.commit(repository.files(FILES))
        git.fetch(pin(repository.url, commit), Store(tmp_path / store_name), None)
        with pytest.raises(AnnotateError):
            git.fetch(pin(repository.url, "a" * 40), Store(tmp_path / store_name), None)
        assert sorted(project.path.rglob("*")) == before

    def test_nothing_temporary_stays(self, repository: Repository, store: Store) -> None:
        commit = repository.commit(repository.files(FILES))
        git.fetch(pin(repository.url, commit), store, None)
        assert list((store.root / "tmp").iterdir()) == []


class TestHostileTrees:
    """What git lets through is left out here; what git refuses must be refused for a reason."""

    def test_links_submodules_and_unsafe_names_are_left_out(
        self, url: str, repository: Repository, store: Store
    ) -> None:
        data = repository.blob(b"plain\n")
        entries = [
            ("100644", b"--upload-pack=touch pwned", data),
            ("100644", b"back\\slash", data),
            ("100644", b"latin\xe9", data),
            ("120000", b"link", repository.blob(b"/etc/passwd")),
            ("160000", b"module", "1" * 40),
            ("100644", b"new\nline", data),
            ("100644", b"plain", data),
        ]
        tree = git.fetch(pin(url, repository.commit(repository.tree(entries))), store, None)
        assert list(tree.files) == ["--upload-pack=touch pwned", "plain"]
        assert tree.read("--upload-pack=touch pwned") == b"plain\n"
        assert store.left_out(tree) == (
            r"'back\\slash' (not a safe path)",
            r"'latin\\xe9' (not a safe path)",
            "'link' (a symbolic link)",
            "'module' (a submodule)",
            r"'new\nline' (not a safe path)",
        )

    @pytest.mark.parametrize(
        "names",
        [
            (b"README", b"readme"),
            ("é.py".encode(), "e\N{COMBINING ACUTE ACCENT}.py".encode()),
            ("stra\N{LATIN SMALL LETTER SHARP S}e".encode(), b"strasse"),
        ],
    )
    def test_names_that_some_file_systems_mix_up_are_left_out(
        self, names: tuple[bytes, bytes], repository: Repository, store: Store
    ) -> None:
        entries = [("100644", name, repository.blob(name)) for name in (*names, b"safe")]
        commit = repository.commit(repository.tree(sorted(entries, key=lambda entry: entry[1])))
        tree = git.fetch(pin(repository.url, commit), store, None)
        assert list(tree.files) == ["safe"]
        assert len(store.left_out(tree)) == 2

    def test_a_file_with_the_name_of_a_folder_in_other_case(
        self, repository: Repository, store: Store
    ) -> None:
        commit = repository.commit(repository.files({"pkg/a.py": b"a", "PKG": b"b"}))
        tree = git.fetch(pin(repository.url, commit), store, None)
        assert list(tree.files) == ["pkg/a.py"]

    @pytest.mark.parametrize("name", [b"..", b".", b".git", b".GIT", b"a/b", b""])
    def test_names_that_leave_the_tree_are_refused_by_git(
        self, name: bytes, repository: Repository, store: Store
    ) -> None:
        commit = repository.commit(
            repository.tree([("40000", name, repository.files({"hooks": b"x"}))])
        )
        with pytest.raises(AnnotateError, match=r"git refuses what .* sent") as caught:
            git.fetch(pin(repository.url, commit), store, None)
        assert caught.value.exit_code is Exit.NOTHING_JUDGED
        assert store.tree(pin(repository.url, commit)) is None

    def test_replacements_are_not_followed(
        self, url: str, repository: Repository, store: Store
    ) -> None:
        commit = repository.commit(repository.files({"f": b"true\n"}))
        repository.branch("main", commit)
        repository.git("replace", repository.blob(b"true\n"), repository.blob(b"false\n"))
        repository.git("replace", commit, repository.commit(repository.files({"g": b"false\n"})))
        tree = git.fetch(pin(url, commit), store, None)
        assert {path: tree.read(path) for path in tree.files} == {"f": b"true\n"}

    def test_attributes_change_no_byte(self, repository: Repository, store: Store) -> None:
        files = {".gitattributes": b"* text eol=crlf ident filter=lfs\n", "f": b"$Id$\na\n"}
        commit = repository.commit(repository.files(files))
        tree = git.fetch(pin(repository.url, commit), store, None)
        assert {path: tree.read(path) for path in tree.files} == files

    def test_a_tag_or_a_tree_is_no_commit(self, repository: Repository, store: Store) -> None:
        tree_id = repository.files(FILES)
        commit = repository.commit(tree_id)
        repository.git("tag", "-a", "-m", "A tag", "v1", commit)
        for object_id in (repository.git("rev-parse", "v1"), tree_id, repository.blob(b"plain\n")):
            with pytest.raises(AnnotateError, match=f"{object_id} is not a commit"):
                git.fetch(pin(repository.url, object_id), store, None)


class TestUnavailable:
    """Each way not to get a commit has its own message, and nothing is kept."""

    @pytest.fixture
    def address(self, server: GitServer) -> str:
        return server.url("upstream.git")

    def refused(
        self,
        address: str,
        store: Store,
        commit: str = "a" * 40,
        limits: git.Limits | None = None,
    ) -> str:
        wanted = pin(address, commit)
        with pytest.raises(AnnotateError) as caught:
            git.fetch(wanted, store, None, limits)
        assert caught.value.exit_code is Exit.NOTHING_JUDGED
        assert caught.value.hint
        assert store.tree(wanted) is None
        assert not list(store.root.glob("tmp/*"))
        assert "\n" not in caught.value.message
        return caught.value.message

    def test_no_such_commit(self, url: str, store: Store) -> None:
        assert self.refused(url, store) == f"upstream: {url} has no commit {'a' * 40}"

    def test_no_such_repository(self, server: GitServer, tmp_path: Path, store: Store) -> None:
        for address in (server.url("other.git"), tmp_path.as_uri(), (tmp_path / "no").as_uri()):
            assert self.refused(address, store) == f"upstream: there is no repository at {address}"

    def test_a_login_is_demanded(self, address: str, server: GitServer, store: Store) -> None:
        server.status = 401
        message = self.refused(address, store)
        assert "asks for a login" in message

    def test_access_is_denied(self, address: str, server: GitServer, store: Store) -> None:
        server.status = 403
        assert "denies access" in self.refused(address, store)

    def test_a_broken_server(self, address: str, server: GitServer, store: Store) -> None:
        server.status = 500
        assert "The requested URL returned error: 500" in self.refused(address, store)

    def test_a_server_of_the_old_protocol_gives_no_loose_commit(
        self, address: str, server: GitServer, repository: Repository, store: Store
    ) -> None:
        server.with_protocol_2 = False
        loose = repository.commit(repository.files(FILES))
        tip = repository.commit(repository.files(FILES), "The tip")
        repository.branch("main", tip)
        assert "gives out no commit but those" in self.refused(address, store, loose)
        assert len(git.fetch(pin(address, tip), store, None).files) == len(FILES)

    def test_ids_of_another_length(self, repository: Repository, store: Store) -> None:
        assert "ids of another length" in self.refused(repository.url, store, "a" * 64)

    def test_nothing_listens(self, store: Store) -> None:
        with closed_port() as port:
            message = self.refused(f"http://127.0.0.1:{port}/r", store)
        assert message == "upstream: 127.0.0.1 cannot be reached (connection refused)"

    def test_a_black_hole(self, store: Store) -> None:
        with full_port() as port:
            message = self.refused(f"http://127.0.0.1:{port}/r", store, limits=QUICK)
        assert message == "upstream: 127.0.0.1 cannot be reached (it does not answer)"

    def test_an_unknown_name(self, store: Store) -> None:
        message = self.refused("https://upstream.invalid/r", store)
        assert message.startswith("upstream: upstream.invalid cannot be reached (")

    def test_a_name_that_no_host_can_have(self, store: Store) -> None:
        message = self.refused(f"https://{'x' * 70}.example/r", store)
        assert message.endswith("cannot be reached (its name is not known here)")

    @pytest.mark.parametrize("scheme", ["http", "https"])
    def test_a_server_that_takes_everything_and_says_nothing(
        self, scheme: str, store: Store
    ) -> None:
        with silent_port() as port:
            message = self.refused(f"{scheme}://127.0.0.1:{port}/r", store, limits=QUICK)
        assert message.startswith("upstream: 127.0.0.1 cannot be reached (it ")

    def test_a_fetch_that_takes_too_long_is_ended(
        self, address: str, repository: Repository, server: GitServer, store: Store
    ) -> None:
        commit = repository.commit(repository.files(FILES))
        server.pause = threading.Event()
        with pytest.raises(AnnotateError, match="not everything had come after 1 s"):
            git.fetch(pin(address, commit), store, None, git.Limits(total=1))
        server.pause.set()

    def test_the_probe_is_left_to_a_proxy(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with closed_port() as port:
            monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{port}")
            message = self.refused("https://upstream.invalid/r", store)
        assert message == "upstream: upstream.invalid cannot be reached (no connection)"

    def test_no_git_program(self, repository: Repository, store: Store, tmp_path: Path) -> None:
        script = (
            "import sys; from pathlib import Path; from annotate.pin import Pin;"
            "from annotate.upstream import git; from annotate.upstream.store import Store;"
            "from annotate.errors import AnnotateError\n"
            "try: git.fetch(Pin('u', sys.argv[1], 'a' * 40), Store(Path(sys.argv[2])), None)\n"
            "except AnnotateError as error: print(error.message)"
        )
        done = subprocess.run(
            [sys.executable, "-c", script, repository.url, str(store.root)],
            env={"PATH": str(tmp_path)},
            capture_output=True,
            text=True,
        )
        assert done.stdout == "u: there is no git program here\n"

    def test_an_old_git(
        self, repository: Repository, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(git, "OLDEST_GIT", (99, 0))
        assert "is too old" in self.refused(repository.url, store)


class TestEnvironment:
    def test_no_setting_of_the_caller_reaches_git(
        self,
        url: str,
        repository: Repository,
        store: Store,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        hook = tmp_path / "hooks" / "reference-transaction"
        hook.parent.mkdir()
        pwned = tmp_path / "pwned"
        hook.write_text(f"#!/bin/sh\ntouch '{pwned}'\n")
        hook.chmod(hook.stat().st_mode | stat.S_IXUSR)
        settings = (
            f"[core]\n hooksPath = {hook.parent}\n"
            f"[init]\n templateDir = {hook.parent.parent}\n"
            f'[url "file:///nowhere/"]\n insteadOf = {url}\n'
            "[protocol]\n allow = always\n[fetch]\n fsckObjects = false\n"
        )
        (tmp_path / "home" / ".gitconfig").write_text(settings)
        (tmp_path / "settings").write_text(settings)
        inherited = {
            "GIT_CONFIG_GLOBAL": str(tmp_path / "settings"),
            "GIT_CONFIG_SYSTEM": str(tmp_path / "settings"),
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "core.hooksPath",
            "GIT_CONFIG_VALUE_0": str(hook.parent),
            "GIT_CONFIG_PARAMETERS": f"'core.hooksPath'='{hook.parent}'",
            "GIT_TEMPLATE_DIR": str(hook.parent.parent),
            "GIT_DIR": str(tmp_path / "elsewhere"),
            "GIT_WORK_TREE": str(tmp_path),
            "GIT_INDEX_FILE": str(tmp_path / "index"),
            "GIT_OBJECT_DIRECTORY": str(tmp_path / "objects"),
            "GIT_NAMESPACE": "other",
            "GIT_TRACE": str(tmp_path / "trace"),
            "GIT_ALLOW_PROTOCOL": "ext",
            "GIT_ASKPASS": str(hook),
            "SSH_ASKPASS": str(hook),
        }
        for name, value in inherited.items():
            monkeypatch.setenv(name, value)
        before = dict(os.environ)
        commit = repository.commit(repository.files(FILES))

        tree = git.fetch(pin(url, commit), store, None)

        assert set(tree.files) == set(FILES)
        assert not pwned.exists()
        assert not (tmp_path / "trace").exists()
        assert not (tmp_path / "objects").exists()
        assert dict(os.environ) == before

    def test_no_program_is_asked_for_a_password(
        self, server: GitServer, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        program = tmp_path / "askpass"
        program.write_text(f"#!/bin/sh\ntouch '{tmp_path / 'asked'}'\necho secret\n")
        program.chmod(0o755)
        for name in ("GIT_ASKPASS", "SSH_ASKPASS"):
            monkeypatch.setenv(name, str(program))
        server.status = 401
        with pytest.raises(AnnotateError, match="asks for a login"):
            git.fetch(pin(server.url("upstream.git"), "a" * 40), store, None)
        assert not (tmp_path / "asked").exists()

    def test_a_login_from_netrc_is_used(
        self, repository: Repository, server: GitServer, store: Store, tmp_path: Path
    ) -> None:
        netrc = tmp_path / "home" / ".netrc"
        netrc.write_text("machine 127.0.0.1 login ada password secret\n")
        server.login = "Basic YWRhOnNlY3JldA=="
        commit = repository.commit(repository.files(FILES))
        tree = git.fetch(pin(server.url("upstream.git"), commit), store, None)
        assert set(tree.files) == set(FILES)

    def test_home_is_not_needed(
        self, url: str, repository: Repository, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("HOME")
        commit = repository.commit(repository.files(FILES))
        assert set(git.fetch(pin(url, commit), store, None).files) == set(FILES)

    def test_the_environment_is_restored_after_a_failure(
        self, repository: Repository, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("GIT_DIR", "elsewhere")
        before = dict(os.environ)
        with pytest.raises(AnnotateError):
            git.fetch(pin(repository.url, "a" * 40), store, None)
        assert dict(os.environ) == before

    def test_the_machines_certificates_stay(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SSL_CERT_FILE", "/certificates.pem")
        with git.environment(tmp_path, {}):
            assert os.environ["GIT_SSL_CAINFO"] == "/certificates.pem"
        assert "GIT_SSL_CAINFO" not in os.environ


class TestRefused:
    @pytest.mark.parametrize(
        "commit", ["main", "HEAD", "f53a217", "A" * 40, "a" * 41, ":/text", ""]
    )
    def test_only_full_commit_ids(self, commit: str, repository: Repository, store: Store) -> None:
        with pytest.raises(AnnotateError, match="is not a full commit id") as caught:
            git.fetch(pin(repository.url, commit), store, None)
        assert caught.value.exit_code is Exit.USAGE

    @pytest.mark.parametrize("protocol", ["file", "https", "ftp"])
    def test_a_redirection_to_another_protocol_is_not_followed(
        self, protocol: str, server: GitServer, repository: Repository, store: Store
    ) -> None:
        place = "" if protocol == "file" else f"127.0.0.1:{server.server_port}"
        server.redirect = f"{protocol}://{place}{repository.path}/info/refs"
        with pytest.raises(AnnotateError, match=rf'Protocol "?{protocol}"? .*disabled'):
            git.fetch(pin(server.url("upstream.git"), "a" * 40), store, None)
        assert len(server.requests) == 1
