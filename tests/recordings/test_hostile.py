"""Every script in hostile/ must end within its limits, unrecorded, with nothing left running.

Its first line says what the refusal says: ``# refused: REGULAR EXPRESSION``. A second line
``# seconds: NUMBER`` sets the wall clock limit.
"""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from annotate.errors import AnnotateError, Exit
from annotate.recordings.record import Recorded
from annotate.recordings.runner import Sandbox
from tests.recordings.material import HERE

HOSTILE = sorted((HERE / "hostile").glob("*.py"))


def running(mark: str) -> list[str]:
    """The command lines that contain the mark; those of processes that have ended are empty."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = path.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue
        if mark in command:
            found.append(command)
    return found


@pytest.mark.parametrize("script", HOSTILE, ids=lambda script: script.stem)
def test_is_refused(script: Path, within: Sandbox, run: Callable[..., Recorded]) -> None:
    source = script.read_bytes()
    first, second, _ = source.decode().split("\n", 2)
    refused = first.removeprefix("# refused: ")
    seconds = re.fullmatch(r"# seconds: (\d+)", second)
    limit = {"seconds": float(seconds[1])} if seconds else {}
    with pytest.raises(AnnotateError) as caught:
        run(f"hostile_{script.stem}", source, within=within, **limit)
    expected = refused.replace(f"{script.stem}.py", f"hostile_{script.stem}.py")
    assert re.search(expected, caught.value.message)
    assert "nothing was recorded" in caught.value.message
    assert caught.value.exit_code == Exit.FAILED
    assert running(f"hostile_{script.stem}") == []
    assert running("hostile/program.py") == []


def test_the_network_is_cut_below_python(within: Sandbox, run: Callable[..., Recorded]) -> None:
    if within != "namespaces":
        pytest.skip("a session of its own does not cut the network")
    script = b"""from pathlib import Path
print([line.split(":")[0].strip() for line in Path("/proc/net/dev").read_text().splitlines()[2:]])
"""
    assert run("interfaces", script, within=within).recording.stdout == ("['lo']",)
