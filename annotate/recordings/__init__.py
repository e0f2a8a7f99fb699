"""Experiments: run a script against the pinned tree, and keep a small recording of what it did."""

from annotate.recordings.calls import Call, Edge
from annotate.recordings.record import Recorded, record
from annotate.recordings.recording import Confirmation, Reason, Recording, check
from annotate.recordings.regions import Region, regions
from annotate.recordings.runner import Limits, sandbox

__all__ = [
    "Call",
    "Confirmation",
    "Edge",
    "Limits",
    "Reason",
    "Recorded",
    "Recording",
    "Region",
    "check",
    "record",
    "regions",
    "sandbox",
]
