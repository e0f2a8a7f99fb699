"""The experiments of one upstream as a zip that runs by itself: scripts, pinned files, a README."""

import importlib.metadata
import io
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from annotate.recordings import EXPERIMENTS, Recording, recording_path
from annotate.runnable.needed import needed, without_root
from annotate.upstream.tree import Tree

PYTHON = "3.11"
"""The oldest Python that the scripts run on; annotate itself runs them on no older one."""

_RECORDINGS = PurePosixPath(recording_path("any")).parent.name
_LICENCE = re.compile(r"(?:licen[cs]e|copying|notice)(?:\.\w+)?", re.IGNORECASE)
_FIRST_DATE = (1980, 1, 1, 0, 0, 0)
_REGULAR_FILE = 0o100644 << 16
_UNIX = 3


def archive(root: Path, tree: Tree, recordings: Mapping[str, Recording], title: str) -> bytes:
    """The zip; the same files always give the same bytes.

    Nothing in it is compressed: how small a file gets differs between builds of zlib.

    Args:
        root: the project's folder.
        tree: what the scripts run against.
        recordings: the recordings of this upstream's experiments, by name.
        title: what the experiments belong to.
    """
    folder = folder_name(tree)
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_STORED) as zipped:
        for path, content in sorted(contents(root, tree, recordings, title).items()):
            entry = zipfile.ZipInfo(f"{folder}/{path}", _FIRST_DATE)
            entry.external_attr = _REGULAR_FILE
            entry.create_system = _UNIX
            zipped.writestr(entry, content)
    return data.getvalue()


def folder_name(tree: Tree) -> str:
    """What the archive of an upstream unpacks to; also its own name, without ``.zip``."""
    return f"{tree.pin.name}-experiments"


def contents(
    root: Path, tree: Tree, recordings: Mapping[str, Recording], title: str
) -> dict[str, bytes]:
    """Path in the archive → content.

    Upstream files stand beside the scripts, where Python looks first.
    """
    beside = _beside(root)
    sources = [content for path, content in beside.items() if path.endswith(".py")]
    executed = {symbol for recording in recordings.values() for symbol in recording.executed}
    upstream = needed(tree, sources, executed)
    licences = [path for path in tree.files if _LICENCE.fullmatch(path)]
    files = {without_root(path): tree.read(path) for path in (*upstream, *licences)}
    files |= beside
    for name, recording in recordings.items():
        files[f"recorded/{name}.txt"] = "".join(f"{line}\n" for line in recording.stdout).encode()
    files["requirements.txt"] = f"numpy=={importlib.metadata.version('numpy')}\n".encode()
    files["README.md"] = _readme(tree, recordings, licences, title).encode()
    return files


def _beside(root: Path) -> dict[str, bytes]:
    """The scripts and what lies with them, except for the recordings."""
    folder = root / EXPERIMENTS
    found = {}
    for path in folder.rglob("*"):
        parts = path.relative_to(folder).parts
        hidden = any(part.startswith(".") or part == "__pycache__" for part in parts)
        if path.is_file() and not hidden and parts[0] != _RECORDINGS:
            found["/".join(parts)] = path.read_bytes()
    return found


def _readme(
    tree: Tree, recordings: Mapping[str, Recording], licences: list[str], title: str
) -> str:
    name = tree.pin.name
    scripts = "\n".join(
        f"| `{script}.py` | {', '.join(map(str, recording.confirmed))} |"
        for script, recording in sorted(recordings.items())
    )
    first = min(recordings)
    licence = "".join(f" Its licence is in `{path}`." for path in licences)
    licence_zh = "".join(f"其许可证见 `{path}`。" for path in licences)
    if tree.is_stand_in:
        honest = (
            f"They are those of {tree.identity}, which stood in for the commit when this archive "
            "was made, and are not the same code."
        )
        honest_zh = f"它们取自 {tree.identity}：制作时取不到该提交，以此替代，两者的代码并不相同。"
    elif tree.is_pinned_commit:
        honest, honest_zh = (
            "They are those of that commit, unchanged.",
            "它们取自该提交，未作改动。",
        )
    else:
        # Its name says where it lies on one machine.
        honest = "They are those of a folder that was read instead of the commit."
        honest_zh = "它们取自一个文件夹，而不是该提交。"
    return f"""\
# Experiments of “{title}”

Scripts about {name}, pinned at commit `{tree.pin.commit}` of {tree.pin.repository}.
The files of {name} that they need lie beside them, where Python looks first: {name} itself need not
be installed. {honest}{licence}

With Python {PYTHON} or later, in this folder:

```sh
python3 -m venv .venv
.venv/bin/pip install -r requirements.txt
.venv/bin/python -B {first}.py
```

(On Windows: `py -m venv .venv`, `.venv\\Scripts\\pip`, `.venv\\Scripts\\python`.)

`recorded/` holds what each script printed when it was recorded; it did so on each of these:

| script | confirmed on |
|---|---|
{scripts}

## 中文

关于 {name} 的实验脚本，锁定在 {tree.pin.repository} 的提交 `{tree.pin.commit}`。
所需的 {name} 文件就在脚本旁边，Python 会最先找到它们，不必另装 {name}。{honest_zh}{licence_zh}
需要 Python {PYTHON} 或更新版本，命令同上。
`recorded/` 是录制时各脚本的输出，上表列出它们在哪些版本上得到过确认。
"""
