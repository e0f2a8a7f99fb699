"""A diamond: one input on two ways to one output, walked back with its accounts open.

Shows in which order `backward_pass` visits the nodes, what `outgrads` holds at each visit, and how
the two contributions that reach the input are added up before it is visited. Needs NumPy and
autograd. Run by hand:

    python -B docs/experiments/diamond.py

`snapshot` and `graph` note states when `annotate run` records this script; by hand they do nothing.
"""

import sys

from autograd import grad
from autograd.util import toposort

from annotate.experiment import graph, snapshot

names = {}
values = {}
arrived = {}


def name_of(node):
    """What the script calls a node."""
    return names[node]


def account(entry):
    """One entry of `outgrads`: a gradient, and whether it may be added to in place."""
    gradient, mutable = entry
    return f"{gradient} (in place)" if mutable else str(gradient)


# region: watch
def watch(end, **boxes):
    """Note each node's name and value, and let each tell when the way back comes to it."""
    for name, box in boxes.items():
        names[box._node] = name
        values[box._node] = box._value
        box._node.vjp = telling(box._node, end._node)


def telling(node, end):
    """A node's pullback, which first tells what `backward_pass` holds at this moment."""
    pullback = node.vjp

    def vjp(g):
        outgrads = sys._getframe(1).f_locals["outgrads"]
        rest = {name_of(other): account(entry) for other, entry in outgrads.items()}
        arrived[node] = g
        print(f"visit {name_of(node)}: g = {g}, left in outgrads: {rest}")
        graph(
            "diamond",
            end,
            parents=lambda each: each.parents,
            label=name_of,
            values=lambda each: {"value": values[each], "g": arrived.get(each, "not yet")},
        )
        ingrads = tuple(pullback(g))
        parents = [name_of(parent) for parent in node.parents]
        sent = dict(zip(parents, ingrads, strict=True))
        snapshot(f"visit {name_of(node)}", g=g, outgrads=rest, sends=sent)
        return ingrads

    return vjp


# endregion


# region: diamond
def diamond(x):
    left = 2.0 * x
    right = x + 1.0
    y = left * right
    watch(y, x=x, left=left, right=right, y=y)
    return y


# endregion

# region: gradient
slope = grad(diamond)(3.0)
print(f"grad(diamond)(3.0) = {slope}")
assert slope == 14.0
# endregion

# region: order
order = [name_of(node) for node in toposort(next(node for node in names if names[node] == "y"))]
print(f"toposort: {', '.join(order)}")
assert order[0] == "y"
assert order[-1] == "x"
assert [names[node] for node in arrived] == order
# endregion

# region: sum
by_left = 2.0 * arrived[next(node for node in names if names[node] == "left")]
by_right = 1.0 * arrived[next(node for node in names if names[node] == "right")]
print(f"x receives {by_left} by way of left and {by_right} by way of right")
assert by_left + by_right == slope
# endregion
