"""The one error type, and the exit codes of the command line."""

from enum import IntEnum


class Exit(IntEnum):
    """What a run ends with; a run that checked nothing is never ``CLEAN``."""

    CLEAN = 0
    FAILED = 1
    USAGE = 2
    NOTHING_JUDGED = 3


class AnnotateError(Exception):
    """Something the user can act on: what went wrong, where, and what to do about it.

    A stale quote is not an error but a verdict; this is for input that cannot be judged at all.
    ``cli.py`` is the only place that catches it.
    """

    def __init__(self, message: str, hint: str = "", *, exit_code: Exit = Exit.USAGE) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.exit_code = exit_code
