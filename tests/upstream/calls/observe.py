"""Run the ``main.py`` of each folder given under a profiler; print what called what, as JSON.

Names are those of `annotate.upstream.calls.dotted_graph`: a class body and a comprehension count
as the scope around them, a lambda is numbered within its scope. A generator is called where it is
first advanced. Frames of the standard library are looked through.
"""

import inspect
import json
import os
import re
import runpy
import sys
from pathlib import Path
from types import CodeType, FrameType

TRANSPARENT = re.compile(r"<(listcomp|setcomp|dictcomp|genexpr)>")


def name_codes(code: CodeType, owner: str, named: dict, lambdas: dict) -> None:
    """Give each code below a code its name; `owner` is what calls made here belong to."""
    for inner in code.co_consts:
        if not isinstance(inner, CodeType):
            continue
        if TRANSPARENT.fullmatch(inner.co_name):
            named[inner] = (owner, False)
            name_codes(inner, owner, named, lambdas)
            continue
        scope = named["scope", code]
        name = inner.co_name
        if name == "<lambda>":
            lambdas[scope] = lambdas.get(scope, 0) + 1
            name = f"<lambda{lambdas[scope]}>"
        dotted = f"{scope}.{name}"
        is_function = bool(inner.co_flags & inspect.CO_OPTIMIZED)
        named[inner] = (dotted if is_function else owner, is_function)
        named["scope", inner] = dotted
        name_codes(inner, dotted if is_function else owner, named, lambdas)


def observe(folder: Path) -> list[list[str]]:
    root = f"{folder}{os.sep}"
    named: dict = {}
    for path in sorted(folder.rglob("*.py")):
        parts = list(path.relative_to(folder).with_suffix("").parts)
        if parts[-1] == "__init__":
            parts.pop()
        module = ".".join(parts)
        code = compile(path.read_text(), str(path), "exec", dont_inherit=True)
        files: dict = {code: (module, False), ("scope", code): module}
        name_codes(code, module, files, {})
        named[str(path)] = files
    edges: set[tuple[str, str]] = set()
    seen: set[int] = set()
    kept: list[FrameType] = []

    def look_up(frame: FrameType | None):
        while frame is not None:
            if frame.f_code.co_filename.startswith(root):
                return named[frame.f_code.co_filename].get(frame.f_code)
            frame = frame.f_back
        return None

    def profile(frame: FrameType, event: str, _: object) -> None:
        if event != "call" or not frame.f_code.co_filename.startswith(root):
            return
        callee = look_up(frame)
        caller = look_up(frame.f_back)
        if callee is None or caller is None or not callee[1] or id(frame) in seen:
            return
        seen.add(id(frame))
        kept.append(frame)
        edges.add((caller[0], callee[0]))

    before = set(sys.modules)
    sys.path.insert(0, str(folder))
    sys.setprofile(profile)
    try:
        runpy.run_path(str(folder / "main.py"), run_name="__main__")
    finally:
        sys.setprofile(None)
        sys.path.remove(str(folder))
        for name in set(sys.modules) - before:
            if str(getattr(sys.modules[name], "__file__", "") or "").startswith(root):
                del sys.modules[name]
        for name in set(sys.modules) - before:
            if not hasattr(sys.modules[name], "__file__"):
                del sys.modules[name]
    return sorted(map(list, edges))


if __name__ == "__main__":
    print(json.dumps({folder: observe(Path(folder)) for folder in sys.argv[1:]}))
