"""Reading a folder: regular files as they are, nothing followed, nothing read before its time."""

import os
from pathlib import Path

import pytest

from annotate.errors import AnnotateError, Exit
from annotate.pin import Pin
from annotate.upstream import folder
from annotate.upstream.tree import MAX_FILE_BYTES, blob_id
from tests.upstream.repositories import Repository

PIN = Pin("upstream", "https://example.org/upstream", "a" * 40)
FILES = {
    ".pre-commit-config.yaml": b"repos: []\n",
    "README.md": b"# Upstream\n",
    "pkg/__init__.py": b"",
    "pkg/core.py": b"x = 1\r\n",
    "pkg/sub/deep.py": b"\xff\x00",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "checkout"
    for path, data in FILES.items():
        write(root / path, data)
    return root


def write(path: Path, data: bytes = b"") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def test_the_regular_files(root: Path) -> None:
    tree = folder.read(PIN, root)
    assert {path: tree.read(path) for path in tree.files} == FILES
    assert list(tree.files) == sorted(FILES)
    assert len(tree.files) == len(FILES)
    assert (tree.source, tree.identity) == ("folder", f"folder {root}")
    assert not tree.is_pinned_commit
    assert not tree.is_stand_in
    assert tree.files["pkg/core.py"].blob == blob_id(b"x = 1\r\n")
    assert tree.files["pkg/core.py"].size == 7
    assert "pkg/none.py" not in tree.files
    with pytest.raises(AnnotateError, match=r"has no file pkg/none\.py"):
        tree.read("pkg/none.py")


def test_what_is_left_out(root: Path, tmp_path: Path) -> None:
    write(tmp_path / "secret", b"secret")
    for path in (
        ".git/HEAD",
        ".github/workflow.yml",
        ".venv/lib.py",
        "__pycache__/core.pyc",
        "pkg/__pycache__/core.pyc",
        "environment/pyvenv.cfg",
        "environment/lib/site.py",
        "back\\slash.py",
        "new\nline.py",
    ):
        write(root / path)
    (root / "link.py").symlink_to(tmp_path / "secret")
    (root / "linked").symlink_to(root / "pkg")
    (root / "loop").symlink_to(root)
    (root / "dangling").symlink_to(root / "nothing")
    os.mkfifo(root / "pipe")
    assert list(folder.read(PIN, root).files) == sorted(FILES)


def test_listing_reads_no_file(root: Path) -> None:
    for path in FILES:
        (root / path).chmod(0)
    tree = folder.read(PIN, root)
    (root / "pkg/core.py").unlink()
    assert list(tree.files) == sorted(FILES)
    assert "pkg/core.py" in tree.files
    with pytest.raises(AnnotateError, match=r"core\.py cannot be read: No such file") as caught:
        tree.read("pkg/core.py")
    assert caught.value.exit_code is Exit.NOTHING_JUDGED


def test_a_file_that_changes_between_looking_it_up_and_reading_it(root: Path) -> None:
    tree = folder.read(PIN, root)
    blob = tree.files["pkg/core.py"].blob
    write(root / "pkg/core.py", b"x = 2\n")
    with pytest.raises(AnnotateError, match="changed while it was being read"):
        tree.read_blob(blob)
    assert tree.read("pkg/core.py") == b"x = 2\n"


def test_two_files_of_one_content(root: Path) -> None:
    write(root / "copy.py", FILES["pkg/core.py"])
    tree = folder.read(PIN, root)
    assert tree.files["copy.py"] == tree.files["pkg/core.py"]
    assert tree.read("copy.py") == tree.read("pkg/core.py")


def test_a_large_file_is_listed(root: Path) -> None:
    large = bytes(MAX_FILE_BYTES + 1)
    write(root / "large", large)
    tree = folder.read(PIN, root)
    assert tree.files["large"].blob == blob_id(large)
    with pytest.raises(AnnotateError, match="are not read"):
        tree.read("large")


def test_no_folder(tmp_path: Path) -> None:
    write(tmp_path / "file")
    with pytest.raises(AnnotateError, match="none does not exist"):
        folder.read(PIN, tmp_path / "none")
    with pytest.raises(AnnotateError, match="file is not a folder") as caught:
        folder.read(PIN, tmp_path / "file")
    assert caught.value.exit_code is Exit.NOTHING_JUDGED


def test_a_git_directory_is_no_folder_of_sources(repository: Repository) -> None:
    with pytest.raises(AnnotateError, match="is a git directory") as caught:
        folder.read(PIN, repository.path)
    assert repository.url in caught.value.hint
