"""States, named moments and graphs, with values of every sort, between calls and inside of them."""

import functools

import numpy as np
from tiny.core import Box, checked, double, gathered, stage

from annotate.experiment import graph, snapshot, step

step("before anything")
snapshot("plain", nothing=None, flag=True, whole=3, text="as it is", nested=("a", b"b"))
snapshot("floats", third=1 / 3, nearly=9 - 1e-13, large=1e300, odd=float("nan"), both=1 + 2j)
snapshot(
    "arrays", small=np.arange(3.0), large=np.zeros((4, 5)), scalar=np.float64(2), bits=np.int8([1])
)
snapshot(
    "containers", empty=(), one=(1,), set={"b", "a", "c"}, map={"k": [1, 2]}, long=list(range(9))
)
snapshot("classes and modules", a_class=Box, module=functools, builtin=len, method="".join)
snapshot(
    "functions", wrapper=double, rule=stage, pullback=stage(2), partial=functools.partial(max, 1)
)
snapshot("failure", error=ValueError("no such thing"), silent=KeyError())


class Node:
    __slots__ = ["_parents", "missing", "value"]

    def __init__(self, value, *parents):
        self.value = value
        self._parents = parents

    def __repr__(self):
        raise AssertionError("a repr was run")

    @property
    def trap(self):
        raise AssertionError("a property was run")


x = Node(2.0)
y = Node(3.0, x)
loop = Box(1)
loop.value = loop
snapshot("objects", node=x, child=Node(4.0, y), box=Box(Node(1.0)), loop=loop)


def inner(number):
    checked(number)
    snapshot("inside", number=number)
    for _ in range(2):
        checked(number)
    return number


print(gathered(map(inner, [1, 2])))
out = {y: 1.0}
graph("chain", y, parents=lambda node: node._parents)
for node in (y, x):
    out[node] = 1.0
    graph(
        "chain",
        y,
        parents=lambda node: node._parents,
        label=lambda node: {x: "x", y: "y"}[node],
        values=lambda node: {"value": node.value, "g": out.get(node)},
    )
