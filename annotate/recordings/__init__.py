"""Experiments: run a script against the pinned tree, and keep a small recording of what it did.

Running (`annotate.recordings.record`) is not imported here: judging recordings, which every check
of a project does, needs no process to be started.
"""

from annotate.recordings.calls import Call, Edge
from annotate.recordings.layout import EXPERIMENTS, experiments, recording_path, script_path
from annotate.recordings.marks import Graph, Moment, Node, State
from annotate.recordings.recording import Confirmation, Recording
from annotate.recordings.region import Region, regions
from annotate.recordings.validity import Reason, check

__all__ = [
    "EXPERIMENTS",
    "Call",
    "Confirmation",
    "Edge",
    "Graph",
    "Moment",
    "Node",
    "Reason",
    "Recording",
    "Region",
    "State",
    "check",
    "experiments",
    "recording_path",
    "regions",
    "script_path",
]
