"""The first process of a run: sets its limits, starts the script, waits, and says how it ended.

This file is never imported by annotate; the runner starts it as a program of its own, inside the
namespaces where the kernel grants them. There it is process 1, for which the kernel drops signals
that have no handler: the script is its child so that limits reach the script as they would by hand.

Arguments: the limits (JSON: name of a ``RLIMIT_`` constant → soft and hard limit), the file to
write the end into (JSON: ``status`` as in `subprocess`, ``cpu`` in seconds), the command.
Standard input is a pipe that the runner holds: when it closes, everything ends.
"""

import json
import os
import resource
import signal
import sys
import threading
from pathlib import Path


def end_with_the_runner() -> None:
    """Wait until the runner is gone, then end the script with it."""
    while os.read(0, 1):
        pass
    os.killpg(0, signal.SIGKILL)
    os._exit(1)  # process 1 cannot kill itself, but its end is the end of its namespace


def start(command: list[str]) -> int:
    """Start the script without the runner's pipe; returns its process id."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    return os.posix_spawn(
        command[0], command, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, nothing, 0)]
    )


def wait(script: int) -> int:
    """Wait for the script, burying whatever else ends meanwhile; returns its wait status."""
    while True:
        process, status = os.wait()
        if process == script:
            return os.waitstatus_to_exitcode(status)


def main(limits: str, report: str, *command: str) -> None:
    """Run the command under the limits."""
    for name, (soft, hard) in json.loads(limits).items():
        resource.setrlimit(getattr(resource, name), (soft, hard))
    script = start(list(command))
    threading.Thread(target=end_with_the_runner, daemon=True).start()
    status = wait(script)
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    end = {"status": status, "cpu": usage.ru_utime + usage.ru_stime}
    Path(report).write_text(json.dumps(end), encoding="utf-8")
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
