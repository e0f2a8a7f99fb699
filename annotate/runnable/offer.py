"""Everything the site carries so that its experiments can be downloaded, and run in a browser."""

import json
from collections import defaultdict
from pathlib import Path

from annotate.project import Project
from annotate.recordings import Recording, script_path
from annotate.runnable.archive import archive, folder_name
from annotate.runnable.runtime import Runtime
from annotate.upstream.tree import Tree

ASSETS = Path(__file__).parents[1] / "assets" / "run"
FOLDER = "assets/run"
"""Where the site has what *Run* needs."""
PYODIDE = "pyodide/"
"""Where in `FOLDER` the site has Pyodide, if it carries it."""
DOWNLOADS = "experiments"
"""Where the site has what readers download."""

VERSION = 1


def files(project: Project, runtime: Runtime | None, title: str) -> dict[str, bytes | Path]:
    """Path in the site → content, or the file to copy; nothing for a project without experiments.

    Args:
        project: whose experiments; those without a readable recording are left out.
        runtime: the Python to run them with; None offers the downloads alone.
        title: the site's name.

    Raises:
        AnnotateError: a file of the tree cannot be read.
    """
    root = project.config.root
    found: dict[str, bytes | Path] = {}
    for upstream, recordings in _by_upstream(project).items():
        tree = project.indexes[upstream].tree
        found[_archive(tree)] = archive(root, tree, recordings, title)
        found |= {_script(name): root / script_path(name) for name in recordings}
    if runtime is not None and found:
        found |= {f"{FOLDER}/{path.name}": path for path in sorted(ASSETS.iterdir())}
        found |= {f"{FOLDER}/{runtime.base}{name}": path for name, path in runtime.files.items()}
        found[f"{FOLDER}/experiments.json"] = _manifest(project, runtime)
    return found


def downloads(project: Project) -> dict[str, tuple[str, ...]]:
    """Experiment → the paths in the site of its script and of the archive it is in."""
    return {
        name: (_script(name), _archive(project.indexes[upstream].tree))
        for upstream, recordings in _by_upstream(project).items()
        for name in recordings
    }


def _script(name: str) -> str:
    return f"{DOWNLOADS}/{name}.py"


def _archive(tree: Tree) -> str:
    return f"{DOWNLOADS}/{folder_name(tree)}.zip"


def _by_upstream(project: Project) -> dict[str, dict[str, Recording]]:
    grouped: dict[str, dict[str, Recording]] = defaultdict(dict)
    for name, recording in project.recordings.items():
        upstream = recording.confirmed[0].tree.get("upstream", "")
        if upstream in project.indexes:
            grouped[upstream][name] = recording
    return grouped


def _manifest(project: Project, runtime: Runtime) -> bytes:
    """What `run.js` asks for first; addresses are relative to it."""
    experiments = {}
    for upstream, recordings in _by_upstream(project).items():
        tree = project.indexes[upstream].tree
        for name, recording in recordings.items():
            script = project.config.root / script_path(name)
            experiments[name] = {
                "code": script.read_text("utf-8", "replace"),
                "stdout": "".join(f"{line}\n" for line in recording.stdout),
                "stderr": "".join(f"{line}\n" for line in recording.stderr),
                "archive": f"../../{_archive(tree)}",
                "folder": folder_name(tree),
            }
    manifest = {
        "version": VERSION,
        "pyodide": {
            "version": runtime.version,
            "base": runtime.base,
            "wheels": runtime.wheels,
            "integrity": dict(runtime.integrity),
        },
        "experiments": experiments,
    }
    return (json.dumps(manifest, ensure_ascii=False, indent=1) + "\n").encode()
