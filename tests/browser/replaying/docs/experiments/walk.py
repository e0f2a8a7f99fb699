"""A rule, a recursion, two states and a graph."""

from tiny.core import depth, stage

from annotate.experiment import graph, snapshot, step


class Node:
    def __init__(self, name, *parents):
        self.name, self.parents = name, parents


pullback = stage(2)
print("pulled back:", pullback(3))
snapshot("after the rule", x=2, g=3)
step("half way")


# region: down
def down(number):
    snapshot("on the way", number=number)
    print("going down")
    return depth(number)


print(down(2))
# endregion

end = Node("b", Node("a"))
for g in ("not yet", 1.0):
    graph(
        "chain",
        end,
        parents=lambda node: node.parents,
        label=lambda node: node.name,
        values=lambda node, g=g: {"g": g},
    )
