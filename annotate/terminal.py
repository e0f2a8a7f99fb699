"""How far a fetch has come: a bar on a terminal, plain lines elsewhere; always on stderr."""

import sys
from typing import Any


class Lines:
    """Progress as one line when a task begins, for logs."""

    def start(self, description: str, total: int | None) -> None:
        """Say that a task begins."""
        size = f" ({total:,})" if total else ""
        print(f"{description}{size} …", file=sys.stderr, flush=True)

    def advance(self, amount: int) -> None:
        """Nothing: a log needs no percentages."""

    def stop(self) -> None:
        """Nothing: the next line follows."""


class Bar:
    """Progress as a bar that disappears when its task has ended."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._task: Any = None

    def start(self, description: str, total: int | None) -> None:
        """Show the bar."""
        # Only a terminal that waits for a fetch needs this import.
        from rich.console import Console
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        self.stop()
        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %"),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._bar.start()
        self._task = self._bar.add_task(description, total=total)

    def advance(self, amount: int) -> None:
        """Move the bar."""
        if self._bar is not None:
            self._bar.advance(self._task, amount)

    def stop(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def progress() -> Lines | Bar:
    """A bar if stderr is a terminal, else lines."""
    return Bar() if sys.stderr.isatty() else Lines()
