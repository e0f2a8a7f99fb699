"""Running commands in turn and keeping what each run cost."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import ParamSpec, TypeVar


@dataclass(frozen=True, slots=True)
class Sample:
    """What one run cost.

    CPU and memory are those of the process and the children it waited for; the memory is that of
    the largest one of them.

    Attributes:
        wall: seconds on the clock.
        cpu: seconds of CPU.
        peak: bytes of memory.
        output: what it printed.
        received: bytes that a server of the benchmarks sent to it.
    """

    wall: float
    cpu: float
    peak: int
    output: str
    received: int = 0


@dataclass(frozen=True, slots=True)
class Spread:
    """The median of some values, with the least and the greatest."""

    median: float
    low: float
    high: float

    @staticmethod
    def of(values: Sequence[float]) -> "Spread":
        """The spread of one value or more."""
        return Spread(statistics.median(values), min(values), max(values))


Run = Callable[[], Sample]
"""A run that is made when it is called."""

Given = ParamSpec("Given")
Result = TypeVar("Result")


def apart(prepare: Callable[Given, Result], *args: Given.args, **kwargs: Given.kwargs) -> Result:
    """Call a function in another process.

    What this process ever occupied counts as peak memory of the processes it starts (Linux keeps
    it across ``exec``), so whatever takes memory is done elsewhere.
    """
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(prepare, *args, **kwargs).result()


def run(
    command: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str] | None = None,
) -> Sample:
    """Run one command to its end.

    Raises:
        RuntimeError: it ended with another exit code than 0.
    """
    with tempfile.TemporaryFile() as output:
        start = time.perf_counter()
        process = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        # wait4 and not wait: it is what tells the memory of this one process.
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode("utf-8", "replace")
    if process.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}:\n{text[-2000:]}")
    return Sample(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, text)


def python(*arguments: str, folder: Path, environment: Mapping[str, str] | None = None) -> Run:
    """A run of this Python with these arguments."""
    return partial(run, [sys.executable, *arguments], folder=folder, environment=environment)


def in_turn(rounds: int, runs: Mapping[str, Run]) -> dict[str, list[Sample]]:
    """Run each once without counting it, then all of them in turn: A, B, C, A, B, C.

    What else the machine does meanwhile falls on neighbours alike, so that the ratios of one
    round hold where the times themselves do not.
    """
    for warm_up in runs.values():
        warm_up()
    samples: dict[str, list[Sample]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, each in runs.items():
            samples[name].append(each())
    return samples
