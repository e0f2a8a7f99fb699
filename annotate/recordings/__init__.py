"""Experiments: run a script against the pinned tree, and keep a small recording of what it did."""

from annotate.recordings.calls import Call, Edge
from annotate.recordings.layout import EXPERIMENTS, experiments, recording_path, script_path
from annotate.recordings.record import Recorded, record
from annotate.recordings.recording import Confirmation, Recording
from annotate.recordings.region import Region, regions
from annotate.recordings.runner import sandbox
from annotate.recordings.validity import Reason, check
from annotate.recordings.watch import Limits

__all__ = [
    "EXPERIMENTS",
    "Call",
    "Confirmation",
    "Edge",
    "Limits",
    "Reason",
    "Recorded",
    "Recording",
    "Region",
    "check",
    "experiments",
    "record",
    "recording_path",
    "regions",
    "sandbox",
    "script_path",
]
