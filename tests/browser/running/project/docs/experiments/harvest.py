"""What a harvest weighs, and who keeps the orchard."""

import runpy
import sys
from pathlib import Path

import numpy as np
import orchard
from orchard.trees import weigh

from annotate.experiment import step

step("weigh")
print(f"apples: {weigh(np.array([1.5, 2.5]))} kg")
notes = Path(orchard.__file__).parents[1] / "notes" / "keeper.py"
print(f"keeper: {runpy.run_path(str(notes))['keeper']()}")
print(f"says {notes}")
print("ripe", file=sys.stderr)
