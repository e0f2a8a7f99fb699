"""Where a project keeps its experiments and their recordings."""

import re
from pathlib import Path

from annotate.config import EXPERIMENTS as EXPERIMENTS
from annotate.errors import AnnotateError

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")


def script_path(name: str) -> str:
    """The path of an experiment's script in the project.

    Raises:
        AnnotateError: the name is none an experiment can have.
    """
    return f"{EXPERIMENTS}/{_checked(name)}.py"


def recording_path(name: str) -> str:
    """The path of an experiment's recording in the project.

    Raises:
        AnnotateError: the name is none an experiment can have.
    """
    return f"{EXPERIMENTS}/recordings/{_checked(name)}.json"


def experiments(project: Path) -> list[str]:
    """The names of a project's experiments, sorted."""
    return sorted(
        path.stem for path in (project / EXPERIMENTS).glob("*.py") if _NAME.fullmatch(path.stem)
    )


def _checked(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise AnnotateError(
            f"“{name}” is not the name of an experiment",
            f"Give the name of a script in {EXPERIMENTS} without .py: letters, digits, _ and -.",
        )
    return name
