"""Watching a run: reading what it prints, and ending all of it when it ends or reaches a limit."""

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

POLL_SECONDS = 0.05
END_SECONDS = 5.0

_OWN_PROCESSES = 2  # unshare and the launcher


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


class Watch:
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
        if len(marked_processes(self.mark)) > limits.processes + _OWN_PROCESSES:
            return f"had more than {limits.processes} processes at once"
        return ""

    def end(self) -> None:
        """End every process of the run that is still alive; does nothing when none is."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait()
        patience = time.monotonic() + END_SECONDS
        while marked_processes(self.mark) and time.monotonic() < patience:
            # Stopped first, all of them: what is stopped cannot fork while the others are killed.
            stopped: set[int] = set()
            while new := [each for each in marked_processes(self.mark) if each not in stopped]:
                _signal(new, signal.SIGSTOP)
                stopped.update(new)
            _signal(stopped, signal.SIGKILL)
            time.sleep(0.01)


def _signal(processes: Iterable[int], number: signal.Signals) -> None:
    for process in processes:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(process, number)


def marked_processes(mark: str) -> list[int]:
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


def tasks_of_this_user() -> int:
    """How many processes and threads this user has; 0 where there is no ``/proc``."""
    count = 0
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if process.stat().st_uid == os.getuid():
                count += sum(1 for _ in (process / "task").iterdir())
    return count
