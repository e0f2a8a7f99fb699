"""Methods, properties, calls through instances, recursion, exceptions, imports on the way."""

import sys

from tiny.core import Box, called, depth, later, refusing

print((Box(1) + Box(2)).twice)
print(called(4))
print(depth(3))
print(refusing(100))
print(later())
print(later())


def leave():
    print("left early", file=sys.stderr)
    sys.exit(0)


leave()
