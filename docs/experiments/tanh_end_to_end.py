"""One gradient from the first call to the number: tanh, written with exp, at 1.

Shows every call between `grad(tanh)` and the slope, then does the same once more with a look at the
graph: which nodes there are, which values stand in them, and which g reaches each on the way back.
Needs NumPy and autograd. Run by hand:

    python -B docs/experiments/tanh_end_to_end.py

`snapshot` and `graph` note states when `annotate run` records this script; by hand they do nothing.
"""

import autograd.numpy as np
from autograd import grad

from annotate.experiment import graph, snapshot, step


# region: tanh
def tanh(x):
    y = np.exp(-2.0 * x)
    return (1.0 - y) / (1.0 + y)


# endregion

# region: value
print(f"tanh(1.0) = {tanh(1.0):.6f}")
assert abs(tanh(1.0) - 0.761594) < 1e-6
# endregion

# region: grad
slope_of_tanh = grad(tanh)
print(f"grad(tanh) is a function: {slope_of_tanh.__name__}")
# endregion
step("grad(tanh) is made")

# region: gradient
slope = slope_of_tanh(1.0)
print(f"grad(tanh)(1.0) = {slope:.6f}")
print(f"1 - tanh(1.0)**2 = {1.0 - tanh(1.0) ** 2:.6f}")
assert abs(slope - (1.0 - tanh(1.0) ** 2)) < 1e-12
# endregion


# region: watched
def watched(x):
    """`tanh` step by step, with a look at the node that each step leaves."""
    doubled = -2.0 * x
    y = np.exp(doubled)
    top = 1.0 - y
    bottom = 1.0 + y
    answer = top / bottom
    boxes = {"x": x, "-2x": doubled, "y": y, "1-y": top, "1+y": bottom, "tanh": answer}
    for name, box in boxes.items():
        snapshot(f"forward: {name}", value=box._value, node=box._node)
    watch({box._node: (name, box._value) for name, box in boxes.items()}, answer._node)
    return answer


def watch(nodes, end):
    """Let each node tell which g the way back brings it, and what it hands on."""
    arrived = {}

    def show():
        graph(
            "tanh",
            end,
            parents=lambda node: node.parents,
            label=lambda node: nodes[node][0],
            values=lambda node: {"value": nodes[node][1], "g": arrived.get(node, "not yet")},
        )

    def telling(node):
        pullback = node.vjp

        def vjp(g):
            arrived[node] = g
            show()
            parts = tuple(pullback(g))
            snapshot(f"backward: {nodes[node][0]}", g=g, parts=parts)
            return parts

        return vjp

    show()
    for node in nodes:
        node.vjp = telling(node)


again = grad(watched)(1.0)
print(f"the same, watched: {again:.6f}")
assert again == slope
# endregion
