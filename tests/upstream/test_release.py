"""The stand-in: found on an index by its hash, checked before it is opened, kept by release."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from annotate.errors import AnnotateError, Exit
from annotate.pin import Pin, Release
from annotate.upstream import release
from annotate.upstream.store import Store
from tests.upstream.archives import (
    IndexServer,
    file,
    other,
    release_of,
    sdist,
    sha256,
    tar_gz,
    truncated_tar_gz,
    zip_of,
)
from tests.upstream.repositories import closed_port, full_port, serving, silent_port
from tests.upstream.test_git import Recorder

FILES = {"PKG-INFO": b"Name: upstream\n", "pkg/core.py": b"x = 1\n"}
ARCHIVE = sdist(FILES)
NAME = "upstream-1.0.tar.gz"
QUICK = release.Limits(connect=0.5, read=0.5, total=20)


def pin(stand_in: Release | None) -> Pin:
    return Pin("upstream", "https://example.org/upstream", "a" * 40, stand_in)


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Iterator[IndexServer]:
    """The only package index that pip is set to, holding the release."""
    server = IndexServer()
    server.archives[NAME] = ARCHIVE
    monkeypatch.setenv("PIP_INDEX_URL", server.url)
    with serving(server):
        yield server


def refused(store: Store, stand_in: Release, limits: release.Limits | None = None) -> str:
    with pytest.raises(AnnotateError) as caught:
        release.fetch(pin(stand_in), store, None, limits)
    assert caught.value.exit_code is Exit.NOTHING_JUDGED
    assert caught.value.hint
    assert store.release_tree(pin(stand_in)) is None
    assert not [path for path in store.root.rglob("*") if path.is_file()]
    return caught.value.message


class TestSound:
    def test_a_source_distribution(self, index: IndexServer, store: Store) -> None:
        wanted = pin(release_of(ARCHIVE))
        tree = release.fetch(wanted, store, None)
        assert {path: tree.read(path) for path in tree.files} == FILES
        assert (tree.source, tree.identity) == ("release", "release upstream 1.0")
        assert tree.is_stand_in
        assert not tree.is_pinned_commit
        assert index.requests == ["/simple/upstream/", f"/files/{NAME}"]
        kept = store.release_tree(wanted)
        assert kept is not None
        assert {path: kept.read(path) for path in kept.files} == FILES
        assert store.tree(wanted) is None

    def test_the_hash_decides_not_the_name_or_the_order(
        self, index: IndexServer, store: Store
    ) -> None:
        index.archives = {
            "upstream-1.0-py3-none-any.whl": zip_of({"pkg/core.py": b"wheel"}),
            "upstream-1.0.zip": zip_of({"upstream-1.0/pkg/core.py": b"zip"}),
            NAME: ARCHIVE,
            "upstream-0.9.tar.gz": sdist({"old": b""}),
        }
        zipped = index.archives["upstream-1.0.zip"]
        tree = release.fetch(pin(release_of(zipped)), store, None)
        assert {path: tree.read(path) for path in tree.files} == {"pkg/core.py": b"zip"}

    def test_an_index_without_hashes(self, index: IndexServer, store: Store) -> None:
        index.hashes = False
        assert len(release.fetch(pin(release_of(ARCHIVE)), store, None).files) == len(FILES)

    def test_the_archive_arrives_as_it_is(self, index: IndexServer, store: Store) -> None:
        index.labels = True
        assert len(release.fetch(pin(release_of(ARCHIVE)), store, None).files) == len(FILES)

    def test_what_is_left_out_is_listed(self, index: IndexServer, store: Store) -> None:
        archive = tar_gz(
            [
                file("u/../../outside", b"evil"),
                other("u/link", b"2", "/etc/passwd"),
                file("u/a.py", b"1"),
                file("u/A.py", b"2"),
                file("u/good", b"3"),
            ]
        )
        index.archives[NAME] = archive
        tree = release.fetch(pin(release_of(archive)), store, None)
        assert list(tree.files) == ["good"]
        assert [line.partition(" (")[0] for line in store.left_out(tree)] == [
            "'link'",
            "'u/../../outside'",
            "A.py",
            "a.py",
        ]

    def test_progress_is_told_the_size(self, index: IndexServer, store: Store) -> None:
        progress = Recorder()
        release.fetch(pin(release_of(ARCHIVE)), store, progress)
        assert progress.started == [("downloading upstream 1.0", len(ARCHIVE))]
        assert progress.advanced == len(ARCHIVE)
        assert not progress.is_running

    def test_no_build_backend_runs(self, index: IndexServer, store: Store, tmp_path: Path) -> None:
        marker = tmp_path / "ran"
        archive = sdist({"setup.py": f"open({str(marker)!r}, 'w')".encode()})
        index.archives[NAME] = archive
        release.fetch(pin(release_of(archive)), store, None)
        assert not marker.exists()


class TestUnavailable:
    def test_no_release_is_pinned(self, store: Store) -> None:
        with pytest.raises(AnnotateError, match="no release stands in") as caught:
            release.fetch(pin(None), store, None)
        assert caught.value.exit_code is Exit.USAGE

    def test_other_bytes_under_the_right_name(self, index: IndexServer, store: Store) -> None:
        wanted = Release("upstream", "1.0", "0" * 64)
        message = refused(store, wanted)
        assert sha256(ARCHIVE) in message
        assert "0" * 64 in message
        assert index.requests == ["/simple/upstream/"]
        index.hashes = False
        assert "is not the pinned archive" in refused(store, wanted)

    def test_an_index_that_lies_about_the_hash(self, index: IndexServer, store: Store) -> None:
        wanted = sha256(sdist({"other": b""}))
        index.page = f'<a href="/files/{NAME}#sha256={wanted}">{NAME}</a>'.encode()
        assert "is not the pinned archive" in refused(store, Release("upstream", "1.0", wanted))

    @pytest.mark.parametrize(
        "archive",
        [
            truncated_tar_gz(ARCHIVE, 700),
            ARCHIVE[:-10],
            b"no archive",
            tar_gz([file("setup.py", b"no folder")]),
        ],
    )
    def test_the_pinned_archive_is_no_source_distribution(
        self, archive: bytes, index: IndexServer, store: Store
    ) -> None:
        index.archives[NAME] = archive
        assert NAME in refused(store, release_of(archive))

    def test_a_download_that_breaks_off(self, index: IndexServer, store: Store) -> None:
        index.missing = 10
        assert "the download broke off" in refused(store, release_of(ARCHIVE))

    def test_an_archive_beyond_the_limit(self, index: IndexServer, store: Store) -> None:
        limits = release.Limits(archive_bytes=len(ARCHIVE) - 1)
        assert "has more than" in refused(store, release_of(ARCHIVE), limits)
        limits = release.Limits(archive_bytes=len(ARCHIVE))
        assert release.fetch(pin(release_of(ARCHIVE)), store, None, limits).files

    def test_a_download_beyond_the_time(self, index: IndexServer, store: Store) -> None:
        message = refused(store, release_of(ARCHIVE), release.Limits(total=-1))
        assert "had not all come" in message

    def test_no_such_project(self, index: IndexServer, store: Store) -> None:
        message = refused(store, Release("unknown", "1.0", "0" * 64))
        assert message.endswith("has no project unknown")

    def test_no_such_version(self, index: IndexServer, store: Store) -> None:
        message = refused(store, Release("upstream", "9.9", "0" * 64))
        assert message.endswith("has no source distribution of upstream 9.9")

    def test_a_version_published_as_a_wheel_only(self, index: IndexServer, store: Store) -> None:
        wheel = zip_of({"pkg/core.py": b"wheel"})
        index.archives = {"upstream-1.0-py3-none-any.whl": wheel}
        assert "no source distribution" in refused(store, Release("upstream", "1.0", "0" * 64))
        with pytest.raises(AnnotateError, match="which is not a source distribution") as caught:
            release.fetch(pin(release_of(wheel)), store, None)
        assert caught.value.exit_code is Exit.USAGE

    def test_the_hash_of_another_version(self, index: IndexServer, store: Store) -> None:
        with pytest.raises(AnnotateError, match=rf"upstream 1\.1 is that of {NAME}") as caught:
            release.fetch(pin(release_of(ARCHIVE, "1.1")), store, None)
        assert caught.value.exit_code is Exit.USAGE

    @pytest.mark.parametrize("status", [401, 403, 500, 503])
    def test_an_index_that_refuses(self, status: int, index: IndexServer, store: Store) -> None:
        index.status = status
        assert refused(store, release_of(ARCHIVE)).endswith(f"it answered {status}")

    @pytest.mark.parametrize("page", [b"", b"<html>Please log in</html>", b"\xff\xfe"])
    def test_an_answer_of_something_else(
        self, page: bytes, index: IndexServer, store: Store
    ) -> None:
        index.page = page
        assert "has no source distribution" in refused(store, release_of(ARCHIVE))

    def test_nothing_listens(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        with closed_port() as port:
            monkeypatch.setenv("PIP_INDEX_URL", f"http://ada:secret@127.0.0.1:{port}/simple")
            message = refused(store, release_of(ARCHIVE))
        assert message.endswith("from the package index 127.0.0.1: no connection")

    def test_a_black_hole(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        with full_port() as port:
            monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{port}/simple")
            assert refused(store, release_of(ARCHIVE), QUICK).endswith("no answer in time")

    @pytest.mark.parametrize("scheme", ["http", "https"])
    def test_an_index_that_says_nothing(
        self, scheme: str, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with silent_port() as port:
            monkeypatch.setenv("PIP_INDEX_URL", f"{scheme}://127.0.0.1:{port}/simple")
            assert refused(store, release_of(ARCHIVE), QUICK).endswith("no answer in time")

    @pytest.mark.parametrize("address", ["file:///srv/simple", "srv/simple", "https:///simple"])
    def test_an_index_that_is_not_on_the_web(
        self, address: str, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("PIP_INDEX_URL", address)
        assert refused(store, release_of(ARCHIVE)).endswith("is not one over https or http")

    def test_a_missing_file_of_certificates(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("PIP_INDEX_URL", "https://127.0.0.1:1/simple")
        monkeypatch.setenv("PIP_CERT", "/no/such.pem")
        assert "/no/such.pem" in refused(store, release_of(ARCHIVE))


class TestSettings:
    @pytest.fixture
    def files(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
        """Stand in for the files that pip would read here, this machine's own left aside."""
        files = [tmp_path / name for name in ("machine", "user", "environment")]
        monkeypatch.setattr(release, "_pip_files", lambda: files)
        return files

    def test_a_later_file_overrules_and_a_variable_overrules_all(
        self, files: list[Path], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert release._pip_setting("index-url") is None
        for path in files:
            path.write_text(f"[global]\nindex-url = {path.name}\n[install]\nindex-url = other\n")
            assert release._pip_setting("index-url") == path.name
        files[-1].write_text("[global]\ncert = certificates.pem\n")
        assert release._pip_setting("index-url") == "user"
        assert release._pip_setting("cert") == "certificates.pem"
        monkeypatch.setenv("PIP_INDEX_URL", "variable")
        assert release._pip_setting("index-url") == "variable"

    def test_a_percent_sign_is_no_placeholder(self, files: list[Path]) -> None:
        files[0].write_text("[global]\nindex-url = https://ada:p%40ss@example.org/simple\n")
        assert release._pip_setting("index-url") == "https://ada:p%40ss@example.org/simple"

    def test_a_malformed_file_is_named_but_not_repeated(self, files: list[Path]) -> None:
        files[1].write_text("index-url = https://ada:secret@example.org\n")
        with pytest.raises(AnnotateError, match="user is malformed") as caught:
            release._pip_setting("index-url")
        assert "secret" not in caught.value.message

    def test_the_files_and_their_order(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert release._pip_files() == []
        monkeypatch.delenv("PIP_CONFIG_FILE")
        monkeypatch.setattr("sys.prefix", str(tmp_path / "environment"))
        home = tmp_path / "home"
        machine = [home / "site" / "pip" / "pip.conf", Path("/etc/pip.conf")]
        user = [home / ".pip" / "pip.conf", home / "config" / "pip" / "pip.conf"]
        environment = tmp_path / "environment" / "pip.conf"
        assert release._pip_files() == [*machine, *user, environment]
        monkeypatch.setenv("PIP_CONFIG_FILE", "/named.conf")
        assert release._pip_files() == [*machine, environment, Path("/named.conf")]
