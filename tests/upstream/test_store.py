"""The store: what comes out is what went in, or nothing, or a clear error."""

import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotate.errors import AnnotateError, Exit
from annotate.pin import Pin, Release
from annotate.upstream.store import Entry, Store
from annotate.upstream.tree import MAX_FILE_BYTES, Tree, TreeFile, blob_id

RELEASE = Release("upstream", "1.0", "c" * 64)
PIN = Pin("upstream", "https://example.org/owner/upstream", "a" * 40, RELEASE)
FILES = {"README.md": b"# Upstream\n", "pkg/__init__.py": b"", "pkg/core.py": b"x = 1\n"}


def entries(files: dict[str, bytes]) -> Iterator[Entry]:
    for path, data in files.items():
        yield path, TreeFile(blob_id(data), len(data)), data


def add(store: Store, files: dict[str, bytes], pin: Pin = PIN) -> Tree:
    return store.add_tree(pin, "git", f"commit {pin.commit}", entries(files))


def contents(tree: Tree | None) -> dict[str, bytes]:
    assert tree is not None
    return {path: tree.read(path) for path in tree.files}


class TestTrees:
    def test_an_empty_store_has_nothing(self, store: Store) -> None:
        assert store.tree(PIN) is None
        assert store.release_tree(PIN) is None
        assert not store.root.exists()

    def test_a_tree_comes_back_as_it_went_in(self, store: Store) -> None:
        added = add(store, FILES)
        reopened = Store(store.root).tree(PIN)
        assert reopened is not None
        assert contents(added) == contents(reopened) == FILES
        assert not added.from_store
        assert reopened.from_store
        assert reopened.files == added.files
        assert (reopened.source, reopened.identity) == ("git", f"commit {PIN.commit}")
        assert list(reopened.files) == sorted(FILES)

    def test_a_stand_in_is_found_by_its_release(self, store: Store) -> None:
        store.add_tree(PIN, "release", "release upstream 1.0", entries(FILES))
        other_commit = Pin(PIN.name, PIN.repository, "b" * 40, RELEASE)
        found = store.release_tree(other_commit)
        assert found is not None
        assert found.is_stand_in
        assert found.pin == other_commit
        assert contents(found) == FILES
        assert store.tree(PIN) is None

    @pytest.mark.parametrize(
        "release",
        [
            None,
            Release("other", "1.0", RELEASE.sha256),
            Release("upstream", "1.1", RELEASE.sha256),
            Release("upstream", "1.0", "d" * 64),
        ],
    )
    def test_a_stand_in_is_not_found_by_another_release(
        self, release: Release | None, store: Store
    ) -> None:
        store.add_tree(PIN, "release", "release upstream 1.0", entries(FILES))
        assert store.release_tree(Pin(PIN.name, PIN.repository, PIN.commit, release)) is None

    def test_a_tree_belongs_to_its_repository_and_commit(self, store: Store) -> None:
        add(store, FILES)
        assert store.tree(Pin("renamed", PIN.repository + ".git", PIN.commit)) is not None
        assert store.tree(Pin("renamed", PIN.repository + "/", PIN.commit)) is not None
        assert store.tree(Pin(PIN.name, "https://example.org/fork", PIN.commit)) is None
        assert store.tree(Pin(PIN.name, PIN.repository, "b" * 40)) is None

    def test_what_was_left_out_is_remembered(self, store: Store) -> None:
        tree = store.add_tree(PIN, "git", "commit", entries(FILES), ["link (a symbolic link)"])
        assert store.left_out(tree) == ("link (a symbolic link)",)

    def test_bytes_under_a_wrong_id_are_refused(self, store: Store) -> None:
        wrong = [("f", TreeFile(blob_id(b"other"), 5), b"bytes")]
        with pytest.raises(AnnotateError, match="f of commit x does not have the bytes of blob"):
            store.add_tree(PIN, "git", "commit x", wrong)
        assert store.tree(PIN) is None

    def test_nothing_is_kept_when_reading_the_source_fails(self, store: Store) -> None:
        def broken() -> Iterator[Entry]:
            yield from entries(FILES)
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            store.add_tree(PIN, "git", "commit", broken())
        assert store.tree(PIN) is None
        assert [path for path in store.root.rglob("*") if path.is_file()] == []

    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
    @given(
        st.dictionaries(st.from_regex(r"[a-z]{1,3}(/[a-z]{1,2})?\.py", fullmatch=True), st.binary())
    )
    def test_any_files_survive(self, store: Store, files: dict[str, bytes]) -> None:
        assert contents(add(store, files)) == files
        assert contents(store.tree(PIN)) == files

    @pytest.mark.parametrize(
        ("paths", "kept"),
        [
            (["a.py", "A.py", "b.py"], ["b.py"]),
            (["pkg/a.py", "PKG/a.py"], []),
            (["pkg/a.py", "PKG/b.py"], ["PKG/b.py", "pkg/a.py"]),
            (["pkg/a.py", "Pkg"], ["pkg/a.py"]),
            (["\N{LATIN SMALL LETTER E WITH ACUTE}", "e\N{COMBINING ACUTE ACCENT}"], []),
        ],
    )
    def test_paths_that_some_file_systems_mix_up(
        self, paths: list[str], kept: list[str], store: Store
    ) -> None:
        tree = add(store, {path: path.encode() for path in paths})
        assert list(tree.files) == kept
        assert [line.partition(" (")[0] for line in store.left_out(tree)] == sorted(
            set(paths) - set(kept)
        )
        assert contents(store.tree(PIN)) == contents(tree)


class TestDamage:
    def blob_path(self, store: Store, data: bytes) -> Path:
        blob = blob_id(data)
        return store.root / "blobs" / blob[:2] / blob[2:]

    def test_changed_bytes_are_an_error_that_says_what_to_do(self, store: Store) -> None:
        add(store, FILES)
        path = self.blob_path(store, b"x = 1\n")
        path.write_bytes(b"x = 2\n")
        tree = store.tree(PIN)
        assert tree is not None
        assert tree.read("README.md") == FILES["README.md"]
        with pytest.raises(AnnotateError, match="is damaged") as caught:
            tree.read("pkg/core.py")
        assert str(path) in caught.value.message
        assert "Delete that file" in caught.value.hint
        assert caught.value.exit_code is Exit.NOTHING_JUDGED

        path.unlink()
        assert store.tree(PIN) is None
        add(store, FILES)
        assert contents(store.tree(PIN)) == FILES

    @pytest.mark.parametrize("left", [b"", b"x = 1", b"x = 1\n\n"])
    def test_a_blob_of_another_size_makes_the_tree_absent(self, left: bytes, store: Store) -> None:
        add(store, FILES)
        self.blob_path(store, b"x = 1\n").write_bytes(left)
        assert store.tree(PIN) is None
        add(store, FILES)
        assert contents(store.tree(PIN)) == FILES

    @pytest.mark.parametrize(
        "manifest", [b"", b"{", b"[]", b"null", b"{}", b'{"format": 1}', b"\xff", b'{"format": 0}']
    )
    def test_a_damaged_manifest_makes_the_tree_absent(self, manifest: bytes, store: Store) -> None:
        add(store, FILES)
        [path] = store.root.glob("trees/*.json")
        path.write_bytes(manifest)
        assert store.tree(PIN) is None

    def test_a_manifest_of_another_format_makes_the_tree_absent(self, store: Store) -> None:
        add(store, FILES)
        [path] = store.root.glob("trees/*.json")
        content = json.loads(path.read_bytes())
        path.write_text(json.dumps(content | {"format": content["format"] + 1}))
        assert store.tree(PIN) is None
        path.write_text(json.dumps(content))
        assert store.tree(PIN) is not None

    def test_a_blob_that_went_away_is_an_error(self, store: Store) -> None:
        tree = add(store, FILES)
        self.blob_path(store, b"x = 1\n").unlink()
        with pytest.raises(AnnotateError, match="cannot be read from the store") as caught:
            tree.read("pkg/core.py")
        assert "annotate fetch" in caught.value.hint

    @pytest.mark.parametrize("blob", ["", "a" * 39, "../" * 13 + "x", "A" * 40, "a" * 64 + "\n"])
    def test_only_ids_name_blobs(self, blob: str, store: Store) -> None:
        with pytest.raises(ValueError, match="not a blob id"):
            store.read_blob(blob)

    def test_a_store_that_cannot_be_written(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_bytes(b"")
        store = Store(tmp_path / "file" / "store")
        with pytest.raises(AnnotateError, match="cannot be written: Not a directory") as caught:
            add(store, FILES)
        assert "ANNOTATE_CACHE" in caught.value.hint
        store.put_derived("symbols", "key", b"value")
        assert store.derived("symbols", "key") is None


class TestDerived:
    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
    @given(st.text(), st.binary())
    def test_what_was_put_comes_back(self, store: Store, key: str, data: bytes) -> None:
        store.put_derived("symbols", key, data)
        assert store.derived("symbols", key) == data
        assert store.derived("calls", key) is None
        assert store.derived("symbols", key + "'") is None
        assert list((store.root / "tmp").iterdir()) == []

    @pytest.mark.parametrize("damage", [b"", b"short", bytes(32), bytes(40)])
    def test_damaged_entries_are_absent(self, damage: bytes, store: Store) -> None:
        store.put_derived("symbols", "key", b"value")
        [path] = [path for path in store.root.glob("derived/*/*/*") if path.is_file()]
        path.write_bytes(damage)
        assert store.derived("symbols", "key") is None
        store.put_derived("symbols", "key", b"value")
        assert store.derived("symbols", "key") == b"value"

    def test_an_entry_cut_short_is_absent(self, store: Store) -> None:
        store.put_derived("symbols", "key", b"value")
        [path] = [path for path in store.root.glob("derived/*/*/*") if path.is_file()]
        path.write_bytes(path.read_bytes()[:-1])
        assert store.derived("symbols", "key") is None

    @pytest.mark.parametrize("kind", ["", "..", "a/b", "../x", "A", "a\n"])
    def test_a_kind_is_one_plain_name(self, kind: str, store: Store) -> None:
        with pytest.raises(ValueError, match="not a kind"):
            store.put_derived(kind, "key", b"")


class TestRoot:
    def test_the_environment_names_it(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("ANNOTATE_CACHE", str(tmp_path / "named"))
        assert Store().root == tmp_path / "named"
        monkeypatch.setenv("ANNOTATE_CACHE", "~/named")
        assert Store().root == Path.home() / "named"

    def test_else_it_is_the_users_cache(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("ANNOTATE_CACHE")
        monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
        assert Store().root.name == "annotate"


class TestAbandoned:
    def test_only_what_is_a_day_old_is_removed(self, store: Store) -> None:
        with store.temporary() as running:
            killed = running.parent / "killed"
            killed.mkdir()
            (killed / "blob").write_bytes(b"half")
            file = running.parent / "derived"
            file.write_bytes(b"half")
            yesterday = time.time() - 25 * 3600
            os.utime(killed, (yesterday, yesterday))
            os.utime(file, (yesterday, yesterday))
            store.remove_abandoned()
            assert not killed.exists()
            assert not file.exists()
            assert running.exists()

    def test_an_empty_store_has_nothing_to_remove(self, store: Store) -> None:
        store.remove_abandoned()
        assert not store.root.exists()


class TestProcesses:
    def test_reading_imports_neither_git_nor_a_package_index_client(self, store: Store) -> None:
        add(store, FILES)
        script = (
            "import sys; from pathlib import Path; from annotate.pin import Pin;"
            "from annotate.upstream.sources import obtain;"
            "from annotate.upstream.store import Store;"
            "tree = obtain(Pin('u', *sys.argv[2:]), source=None, exact=True,"
            " store=Store(Path(sys.argv[1])), say=print, progress=None);"
            "print(tree.read('pkg/core.py'));"
            "print({'git', 'requests', 'pypi_simple', 'urllib3', 'ssl'} & set(sys.modules))"
        )
        done = subprocess.run(
            [sys.executable, "-c", script, str(store.root), PIN.repository, PIN.commit],
            capture_output=True,
            text=True,
        )
        assert done.stderr == ""
        assert done.stdout.splitlines()[1:] == [repr(b"x = 1\n"), "set()"]

    def test_two_writers_at_once(self, store: Store) -> None:
        script = (
            "import sys; from pathlib import Path; from annotate.pin import Pin;"
            "from annotate.upstream.store import Store;"
            "from annotate.upstream.tree import TreeFile, blob_id\n"
            "def entries():\n"
            "    for number in range(300):\n"
            "        data = b'%d' % number\n"
            "        yield f'{number}.py', TreeFile(blob_id(data), len(data)), data\n"
            "print('ready', flush=True); sys.stdin.readline()\n"
            "for _ in range(3):\n"
            "    Store(Path(sys.argv[1])).add_tree(Pin('u', *sys.argv[2:]), 'git', 'c', entries())"
        )
        writers = [
            subprocess.Popen(
                [sys.executable, "-c", script, str(store.root), PIN.repository, PIN.commit],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            for _ in range(2)
        ]
        for writer in writers:
            assert writer.stdout is not None
            writer.stdout.readline()
        outputs = [writer.communicate(b"go\n") for writer in writers]
        assert [writer.returncode for writer in writers] == [0, 0], outputs
        assert len(contents(store.tree(PIN))) == 300
        assert list((store.root / "tmp").iterdir()) == []


def test_a_file_too_large_to_be_read_needs_no_blob(store: Store) -> None:
    size = MAX_FILE_BYTES + 1
    large = TreeFile(hashlib.sha1(b"any").hexdigest(), size)
    store.add_tree(PIN, "git", "commit", [("large", large, None)])
    tree = store.tree(PIN)
    assert tree is not None
    assert tree.files["large"] == large
    with pytest.raises(AnnotateError, match=f"{size:,} bytes"):
        tree.read("large")
