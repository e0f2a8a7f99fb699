"""Running one script in a child process that cannot outlive, outgrow or outtalk its limits.

The limits are for accidents and for the machine's sake. They are no wall against malice: where the
kernel grants namespaces, nothing escapes and the network is cut; where it does not, the script has
a session of its own and what it starts is looked for and ended. Files the user may write stay
writable in both.
"""

import functools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from annotate.errors import AnnotateError, Exit
from annotate.recordings.watch import Limits, Watch, tasks_of_this_user
from annotate.upstream.index import SOURCE_ROOTS

Sandbox = Literal["namespaces", "session"]

LAUNCHER = Path(__file__).with_name("launcher.py")
TRACER = Path(__file__).with_name("tracer.py")
OBSERVER = Path(__file__).with_name("observer.py")

UNSHARE = ("--map-root-user", "--net", "--pid", "--fork", "--kill-child", "--mount-proc")

PASSED_ON = ("LD_LIBRARY_PATH",)
"""What a script gets of the user's environment: where an interpreter finds its own libraries."""

MAX_TAIL_LINES = 8
MAX_TAIL_COLUMNS = 200


@dataclass(frozen=True, slots=True)
class Run:
    """What one run left behind.

    Attributes:
        stdout: what it printed, as `readable` gives it.
        stderr: what it printed to standard error, likewise.
        notes: the tracer's notes (see `annotate.recordings.tracer`).
        sandbox: what held the script.
        seconds: wall clock, start of the interpreter included.
        cpu_seconds: processor time.
    """

    stdout: str
    stderr: str
    notes: dict[str, Any]
    sandbox: Sandbox
    seconds: float
    cpu_seconds: float


@functools.cache
def sandbox() -> Sandbox:
    """What this machine's kernel grants: ``namespaces`` (no network, nothing escapes) or less."""
    unshare = shutil.which("unshare")
    if unshare is None:
        return "session"
    try:
        probe = subprocess.run(
            [unshare, *UNSHARE, "true"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return "session"
    return "namespaces" if probe.returncode == 0 else "session"


def run(name: str, root: Path, limits: Limits, *, hash_seed: int, within: Sandbox) -> Run:
    """Run ``root/script/NAME`` with ``root/tree`` ahead of the installed packages.

    ``root`` is a fresh folder, resolved, that the caller removes; ``hash_seed`` is the child's
    ``PYTHONHASHSEED``.

    Raises:
        AnnotateError: the script reached a limit, did not exit with 0, or did something that its
            recording could not show.
    """
    work = root / "work"
    hook = root / "hook"
    work.mkdir()
    hook.mkdir()
    shutil.copyfile(TRACER, hook / "sitecustomize.py")
    helper = hook / "annotate"
    helper.mkdir()
    (helper / "__init__.py").touch()
    shutil.copyfile(OBSERVER, helper / "experiment.py")
    script = root / "script" / name
    end_file, notes_file = root / "end.json", root / "notes.json"
    command = [
        sys.executable,
        "-I",
        "-S",
        str(LAUNCHER),
        json.dumps(_resource_limits(limits, within)),
        str(end_file),
        *(sys.executable, "-P", "-s", "-B", str(script)),
    ]
    if within == "namespaces":
        command = [str(shutil.which("unshare")), *UNSHARE, *command]
    started = time.monotonic()
    with subprocess.Popen(
        command,
        cwd=work,
        env=_environment(root, script.parent, notes_file, limits, hash_seed),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        watch = Watch(process, str(root), limits, started)
        try:
            exceeded = watch.until_it_ends()
        finally:
            watch.end()
    seconds = time.monotonic() - started
    stdout, stderr = readable(watch.stdout, root), readable(watch.stderr, root)
    if exceeded:
        raise _refusal(name, exceeded, stderr)
    if not end_file.exists():
        raise _refusal(name, "could not be started", stderr)
    end = json.loads(end_file.read_text(encoding="utf-8"))
    if end["status"] != 0:
        raise _refusal(name, _ending(end, stderr, limits), stderr)
    if not notes_file.exists():
        raise _refusal(name, "ended without running its exit handlers (os._exit)", stderr)
    notes = json.loads(notes_file.read_text(encoding="utf-8"))
    if notes["trouble"]:
        reasons = ", and ".join(_TROUBLE[trouble] for trouble in notes["trouble"])
        raise _refusal(name, reasons.format(limits=limits), "")
    return Run(stdout, stderr, notes, within, seconds, float(end["cpu"]))


_TROUBLE = {
    "calls": "made more than {limits.calls:,} calls and returns of watched functions",
    "graph": "showed a graph of more than 200 nodes",
    "marks": "took more than 500 snapshots",
    "network": "used the network, which an experiment does not have",
    "processes": "started another process, whose calls are not seen",
    "profile": "set a profile or trace function of its own, which hides its calls",
    "threads": "called the upstream code from a thread: the order of such calls is not repeatable",
}


def _resource_limits(limits: Limits, within: Sandbox) -> dict[str, tuple[int, int]]:
    resources = {
        "RLIMIT_CPU": (limits.cpu_seconds, limits.cpu_seconds + 1),
        "RLIMIT_AS": (limits.memory, limits.memory),
        "RLIMIT_FSIZE": (limits.file_size, limits.file_size),
        "RLIMIT_CORE": (0, 0),
    }
    if within == "session" and (tasks := tasks_of_this_user()):
        # The kernel counts all of a user's tasks (and exempts root): leave room for other programs.
        most = tasks + limits.processes + _ROOM_FOR_OTHERS
        resources["RLIMIT_NPROC"] = (most, most)
    return resources


_ROOM_FOR_OTHERS = 64


def _environment(
    root: Path, scripts: Path, notes: Path, limits: Limits, hash_seed: int
) -> dict[str, str]:
    tree = root / "tree"
    path = [root / "hook", *(tree / source for source in SOURCE_ROOTS if (tree / source).is_dir())]
    request = {
        "tree": f"{tree}{os.sep}",
        "script": f"{scripts}{os.sep}",
        "notes": str(notes),
        "max_events": limits.calls,
    }
    passed_on = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    return passed_on | {
        "ANNOTATE_TRACE": json.dumps(request),
        "HOME": str(root / "work"),
        "LANG": "C.UTF-8",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "PATH": os.defpath,
        "PYTHONHASHSEED": str(hash_seed),
        "PYTHONIOENCODING": "utf-8",
        "PYTHONPATH": os.pathsep.join(map(str, path)),
        "TMPDIR": str(root / "work"),
        "TZ": "UTC",
    }


def _ending(end: dict[str, Any], stderr: str, limits: Limits) -> str:
    """How a script that did not exit with 0 ended, in words."""
    status = int(end["status"])
    last = stderr.rstrip().rpartition("\n")[2]
    too_long = -status == signal.SIGKILL and end["cpu"] >= limits.cpu_seconds
    if -status == signal.SIGXCPU or too_long:
        return f"used more than {limits.cpu_seconds} s of processor time"
    if last.startswith("MemoryError") or "ArrayMemoryError" in last:
        return f"needed more than {limits.memory / 1e6:,.0f} MB of memory"
    if last.startswith("OSError: [Errno 27]"):
        return f"wrote a file larger than {limits.file_size / 1e6:,.0f} MB"
    if status < 0:
        return f"was ended by {signal.Signals(-status).name}"
    return f"ended with exit status {status}"


def _refusal(name: str, what: str, stderr: str) -> AnnotateError:
    """Why there is no recording, with the last lines of standard error."""
    tail = stderr.rstrip().splitlines()[-MAX_TAIL_LINES:]
    message = f"the script {name} {what}; nothing was recorded"
    if tail:
        message += "\n" + "\n".join(f"    {line[:MAX_TAIL_COLUMNS]}" for line in tail)
    return AnnotateError(
        message,
        "An experiment prints a few lines, asserts what it claims and exits with 0.",
        exit_code=Exit.FAILED,
    )


_ADDRESS = re.compile(r"(?<= at )0x[0-9a-fA-F]{6,16}\b")


def readable(output: bytes | bytearray, root: Path) -> str:
    """What was printed, with what differs between runs and machines replaced.

    That is the address in a default ``repr`` (`` at 0x…``), and the names of the run's folders and
    of the installation's.
    """
    installed = sysconfig.get_paths()
    hidden = {
        str(root / "tree"): "<tree>",
        str(root / "script"): "<script>",
        str(root): "<run>",
        installed["purelib"]: "<site-packages>",
        installed["platlib"]: "<site-packages>",
        installed["stdlib"]: "<stdlib>",
    }
    text = output.decode("utf-8", "backslashreplace")
    for path in sorted(hidden, key=len, reverse=True):
        text = text.replace(path, hidden[path])
    return _ADDRESS.sub("0x…", text)
