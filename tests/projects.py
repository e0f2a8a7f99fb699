"""Projects for tests: a folder with pages, and trees made of folders, without any fetching."""

from collections.abc import Mapping
from pathlib import Path

from annotate import config
from annotate.pin import Pin
from annotate.project import Project
from annotate.upstream.index import Index
from annotate.upstream.store import Store
from annotate.upstream.tree import SourceName, Tree, TreeFile, blob_id

COMMIT = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
RELEASE_SHA256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
CONFIGURATION = f"""\
[upstream.kettle]
repository = "https://git.example.org/kettle"
commit = "{COMMIT}"
release = {{ name = "kettle", version = "1.0", sha256 = "{RELEASE_SHA256}" }}
"""


def tree_of(pin: Pin, files: Mapping[str, bytes], source: SourceName = "git") -> Tree:
    """A tree of these files, as if it had been read from that source."""
    blobs = {blob_id(data): data for data in files.values()}
    identity = {
        "git": f"commit {pin.commit}",
        "release": f"release {pin.release}",
        "folder": "folder checkout",
    }[source]
    listed = {path: TreeFile(blob_id(files[path]), len(files[path])) for path in sorted(files)}
    return Tree(pin, source, identity, listed, blobs.__getitem__)


def files_below(folder: Path) -> dict[str, bytes]:
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and "__pycache__" not in file.parts
    }


def open_project(
    root: Path,
    upstreams: Mapping[str, Mapping[str, bytes]],
    store: Path,
    source: SourceName = "git",
) -> Project:
    """The project of a folder, its configuration written unless it has one.

    Args:
        root: the project's folder.
        upstreams: upstream name → path → bytes.
        store: a folder for what is derived from files.
        source: where the trees are said to come from.
    """
    if not any((root / name).exists() for name in config.FILE_NAMES):
        (root / "annotate.toml").write_text(CONFIGURATION)
    configuration = config.load(root)
    kept = Store(store)
    indexes = {
        pin.name: Index(tree_of(pin, upstreams[pin.name], source), kept)
        for pin in configuration.pins
    }
    return Project(configuration, indexes, kept)
