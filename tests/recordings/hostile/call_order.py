# refused: two runs of docs/experiments/call_order.py differ(.|\n)*tiny/core.py::
from tiny.core import checked, depth, half, stage

for word in {f"{letter}{number}" for letter in "cdhs" for number in range(9)}:
    {"c": checked, "d": depth, "h": half, "s": stage}[word[0]](1)
