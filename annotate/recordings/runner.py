"""Running one script in a child process that cannot outlive, outgrow or outtalk its limits.

The limits are for accidents and for the machine's sake. They are no wall against malice: where the
kernel grants namespaces, nothing escapes and the network is cut; where it does not, the script has
a session of its own and what it starts is looked for and ended. Files the user may write stay
writable in both.
"""

import contextlib
import functools
import json
import os
import re
import selectors
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

Sandbox = Literal["namespaces", "session"]

LAUNCHER = Path(__file__).with_name("launcher.py")
TRACER = Path(__file__).with_name("tracer.py")

UNSHARE = ("--map-root-user", "--net", "--pid", "--fork", "--kill-child", "--mount-proc")

PASSED_ON = ("LD_LIBRARY_PATH",)
"""What a script gets of the user's environment: where an interpreter finds its own libraries."""

POLL_SECONDS = 0.05
END_SECONDS = 5.0
MAX_TAIL_LINES = 8


@dataclass(frozen=True, slots=True)
class Limits:
    """What one run of a script may use.

    Attributes:
        seconds: wall clock.
        cpu_seconds: processor time of one process, in whole seconds.
        memory: address space of one process, in bytes.
        file_size: size of any file it writes, in bytes.
        output: standard output and standard error together, in bytes.
        processes: processes alive at once, the script included.
        calls: entries and exits of watched functions.
        recording: the recording, in bytes: it is committed and read in reviews. The deepest calls
            are left out of a larger one.
    """

    seconds: float = 60.0
    cpu_seconds: int = 45
    memory: int = 2_000_000_000
    file_size: int = 16_000_000
    output: int = 200_000
    processes: int = 16
    calls: int = 1_000_000
    recording: int = 200_000


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
    script = root / "script" / name
    end_file, notes_file = root / "end.json", root / "notes.json"
    command = [
        sys.executable,
        "-I",
        "-S",
        str(LAUNCHER),
        json.dumps(_resource_limits(limits)),
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
        watch = _Watch(process, str(root), limits, started)
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
    "network": "used the network, which an experiment does not have",
    "processes": "started another process, whose calls are not seen",
    "profile": "set a profile function of its own, which hides its calls",
    "threads": "called the upstream code from a thread: the order of such calls is not repeatable",
}


class _Watch:
    """Reads what a run prints, and ends the run when a limit is reached."""

    def __init__(
        self, process: subprocess.Popen[bytes], mark: str, limits: Limits, started: float
    ) -> None:
        self.process = process
        self.mark = mark
        self.limits = limits
        self.deadline = started + limits.seconds
        self.stdout = bytearray()
        self.stderr = bytearray()

    def until_it_ends(self) -> str:
        """Wait for the end of the run; returns the limit that was reached, or ""."""
        with selectors.DefaultSelector() as selector:
            for pipe, collected in (
                (self.process.stdout, self.stdout),
                (self.process.stderr, self.stderr),
            ):
                assert pipe is not None
                selector.register(pipe, selectors.EVENT_READ, collected)
            while selector.get_map():
                for key, _ in selector.select(POLL_SECONDS):
                    data = os.read(key.fd, 65_536)
                    if not data:
                        selector.unregister(key.fileobj)
                    key.data.extend(data)
                if exceeded := self.exceeded():
                    return exceeded
                if self.process.poll() is not None:
                    # What it left behind may hold the pipes open: end that, then read the rest.
                    self.end()
        while self.process.poll() is None:
            if exceeded := self.exceeded():
                return exceeded
            time.sleep(POLL_SECONDS)
        return ""

    def exceeded(self) -> str:
        """Which limit has been reached, in words, or ""."""
        limits = self.limits
        if len(self.stdout) + len(self.stderr) > limits.output:
            return f"printed more than {limits.output:,} bytes"
        if time.monotonic() > self.deadline:
            return f"ran for more than {limits.seconds:g} s"
        if len(_marked_processes(self.mark)) > limits.processes + _OWN_PROCESSES:
            return f"had more than {limits.processes} processes at once"
        return ""

    def end(self) -> None:
        """End every process of the run that is still alive; does nothing when none is."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait()
        patience = time.monotonic() + END_SECONDS
        while (alive := _marked_processes(self.mark)) and time.monotonic() < patience:
            for identifier in alive:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(identifier, signal.SIGKILL)
            time.sleep(0.01)


_OWN_PROCESSES = 2  # unshare and the launcher


def _marked_processes(mark: str) -> list[int]:
    """The processes whose environment names the run's folder, whatever session they are in.

    Empty where there is no ``/proc``.
    """
    found = []
    wanted = os.fsencode(mark)
    with contextlib.suppress(FileNotFoundError):
        for process in os.listdir("/proc"):  # noqa: PTH208 (many times a second)
            if process.isdecimal():
                with contextlib.suppress(OSError):
                    if wanted in Path("/proc", process, "environ").read_bytes():
                        found.append(int(process))
    return found


def _resource_limits(limits: Limits) -> dict[str, tuple[int, int]]:
    return {
        "RLIMIT_CPU": (limits.cpu_seconds, limits.cpu_seconds + 1),
        "RLIMIT_AS": (limits.memory, limits.memory),
        "RLIMIT_FSIZE": (limits.file_size, limits.file_size),
        "RLIMIT_CORE": (0, 0),
    }


def _environment(
    root: Path, scripts: Path, notes: Path, limits: Limits, hash_seed: int
) -> dict[str, str]:
    tree = root / "tree"
    path = [root / "hook", tree] + ([tree / "src"] if (tree / "src").is_dir() else [])
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
        message += "\n" + "\n".join(f"    {line}" for line in tail)
    return AnnotateError(
        message,
        "An experiment prints a few lines, asserts what it claims and exits with 0. "
        "Change the script, or raise the limit that was reached.",
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
