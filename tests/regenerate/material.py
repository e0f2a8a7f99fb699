"""An upstream in two versions, and a project that talks about it."""

from pathlib import Path

from annotate.accept import accept, unrecorded
from annotate.project import Project
from tests.projects import open_project, tree_of

OLD_COMMIT = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
NEW_COMMIT = "9c1185a5c5e9fc54612808977ee8f548b2258d31"

STAYS = '''\
def boil(water, degrees=100):
    """Heat water."""
    steps = []
    while water.temperature < degrees:
        steps.append(water.warm())
    return steps
'''
MOVES = """\
class Lid:
    def __init__(self, kettle):
        self.kettle = kettle
        self.closed = True

    def lift(self, angle):
        if angle > self.kettle.limit:
            raise ValueError(angle)
        self.closed = False
        return self.kettle.steam()
"""
IS_RENAMED = """\
def pour(kettle, cups, spill=0.0):
    filled = []
    for cup in cups:
        amount = min(cup.size, kettle.left) * (1 - spill)
        kettle.left -= amount
        filled.append(cup.fill(amount))
    return filled
"""
REFORMATTED_BEFORE = "def whistle(kettle, tune='low'):\n    return kettle.valve.blow( tune )\n"
REFORMATTED_AFTER = "def whistle(kettle, tune='low'):\n    return kettle.valve.blow(tune)\n"
EDITED_BEFORE = """\
def descale(kettle):
    acid = kettle.store.acid
    kettle.fill(acid)
    kettle.boil()
    return kettle.rinse()
"""
EDITED_AFTER = EDITED_BEFORE.replace("kettle.boil()", "kettle.wait(60)")
GROWS_BEFORE = """\
def report(kettle):
    lines = []
    lines.append(kettle.name)
    for part in kettle.parts:
        lines.append(part.describe())
    return lines
"""
GROWS_AFTER = GROWS_BEFORE.replace("    lines = []\n", "    lines = []\n    kettle.refresh()\n")
GONE = "def sing(kettle):\n    return kettle.voice.high(kettle.steam(), kettle.lid.closed)\n"

OLD_FILES = {
    "kettle/heat.py": "\n\n".join(
        [STAYS, IS_RENAMED, REFORMATTED_BEFORE, EDITED_BEFORE, GROWS_BEFORE, GONE]
    ).encode(),
    "kettle/lid.py": MOVES.encode(),
    "README.md": b"# Kettle\n\nFill it.\n\nPlug it in and wait for the whistle.\n",
}
NEW_FILES = {
    "kettle/heat.py": "\n\n".join(
        [
            STAYS,
            IS_RENAMED.replace("def pour(", "def serve("),
            REFORMATTED_AFTER,
            EDITED_AFTER,
            GROWS_AFTER,
        ]
    ).encode(),
    "kettle/parts/lid.py": MOVES.encode(),
    "README.md": b"# Kettle\n\nAll about it.\n\nFill it.\n\nPlug it in and wait for the whistle.\n",
}

PAGE = """\
# Kettles

Boiling comes first.

```{{.python source="kettle/heat.py::boil"}}
```

The lid moves.

```{{.python source="kettle/lid.py::Lid.lift" lines="2-3"}}
```

- In a list, a literal quote of what is renamed:

    ```{{.python title="Tea" source="kettle/heat.py::pour"}}
{pour}
    ```

A whistle, literally, then descaling, which is edited.

```{{.python source="kettle/heat.py::whistle"}}
{whistle}
```

```{{.python source="kettle/heat.py::descale"}}
```

After descaling the water is soft.

The loop of a report:

```{{.python source="kettle/heat.py::report" lines="4-5"}}
```

```{{.text source="README.md#L5"}}
Plug it in and wait for the whistle.
```

```{{.calls}}
kettle/heat.py::pour
kettle/lid.py::Lid.lift
```

````markdown
```{{.python source="kettle/heat.py::pour"}}
```
````

[REAL SOURCE]
File: kettle/heat.py
Symbol: pour

{bare}
"""


def page() -> str:
    indented = "\n".join(f"    {line}" for line in IS_RENAMED.rstrip().split("\n"))
    return PAGE.format(pour=indented, whistle=REFORMATTED_BEFORE.rstrip(), bare=IS_RENAMED.rstrip())


def make_project(root: Path, store: Path, *, newline: str = "\n", bom: bool = False) -> Project:
    """A project at the old version, every symbol recorded; line ends as asked for."""
    (root / "docs").mkdir(parents=True)
    data = page().replace("\n", newline).encode()
    (root / "docs" / "kettle.md").write_bytes((b"\xef\xbb\xbf" if bom else b"") + data)
    project = open_project(root, {"kettle": OLD_FILES}, store)
    accept(project, unrecorded(project, project.check()))
    records = root / "snippets" / "kettle" / "kettle" / "heat.py.toml"
    text = records.read_text().replace("\n[descale]", "\n# why we keep this one\n[descale]")
    records.write_bytes(text.replace("\n", newline).encode())
    return open_project(root, {"kettle": OLD_FILES}, store)


def new_tree(project: Project):  # type: ignore[no-untyped-def]
    """What the project would be carried to: pin and tree."""
    from dataclasses import replace

    pin = replace(project.config.pins[0], commit=NEW_COMMIT)
    return pin, tree_of(pin, NEW_FILES)
