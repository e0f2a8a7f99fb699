"""Static call graphs of a tree, and what its functions capture.

A file is lowered to plain tuples (`lower`), a tree of them is run on abstract values (`analysis`):
module bodies as Python imports them, calls into the functions they reach, then what nobody called.
"""

from annotate.upstream.calls.build import call_graph, dotted_graph
from annotate.upstream.calls.captures import Capture, Closure, captures
from annotate.upstream.calls.graph import CallGraph, Edge, Evidence, Unresolved

__all__ = [
    "CallGraph",
    "Capture",
    "Closure",
    "Edge",
    "Evidence",
    "Unresolved",
    "call_graph",
    "captures",
    "dotted_graph",
]
