"""The analysis of a whole tree: modules run as Python imports them, then what nobody called."""

import builtins
import sys
from collections.abc import Iterator as Iterates
from collections.abc import Mapping
from contextlib import contextmanager

from annotate.upstream.calls.code import ModuleCode, Statement
from annotate.upstream.calls.modules import Modules
from annotate.upstream.calls.statements import Statements
from annotate.upstream.calls.values import (
    ANYTHING,
    NOTHING,
    Cell,
    Class,
    Constant,
    Container,
    Frame,
    Function,
    Module,
    Native,
    Pending,
    Value,
    Values,
    join,
    ordered,
)

RECURSION_LIMIT = 20_000
"""Analysed calls and expressions nest; both are bounded, far below this."""

MAX_SETTLING = 2
"""Rounds in which calls that looked for something too early are analysed again."""

MAX_CLOSURES = 3
"""Closures of one function that are analysed without a caller."""

_COMMON = frozenset(
    name
    for kind in (str, bytes, list, dict, set, tuple, int, float, type(None), property, type)
    for name in dir(kind)
) | {"close", "read", "write", "flush", "open", "run", "start", "send", "next", "readline", "seek"}
"""Methods that objects from outside of the tree have as well: no name to guess from."""

_BUILTINS = frozenset(dir(builtins))


class Analysis(Statements):
    """Runs a tree."""

    def __init__(self, modules: Mapping[str, ModuleCode], paths: Modules) -> None:
        super().__init__(modules)
        self._paths = paths
        self._module_values: dict[str, Module] = {}
        self._finished: set[str] = set()
        self._cells: dict[tuple[Frame, str], Cell] = {}
        self._only_definition = _only_definitions(modules)

    def run_all(self) -> None:
        """Analyse everything, bounded in time and memory."""
        with _deep_recursion():
            for path in sorted(self.modules):
                self.run_module(path)
            self._run_deferred()
            self._run_uncalled()
            self._settle()

    def run_module(self, path: str) -> None:
        """Run a module's body, its packages' first, unless that was begun before."""
        for package in self._paths.packages_of(path):
            if package not in self.frames:
                self._run_body(package)
        if path not in self.frames:
            self._run_body(path)

    def _run_body(self, path: str) -> None:
        code = self.code(path, 0)
        frame = self.frames[path] = Frame(code, None, path)
        dotted = self._paths.dotted(path)
        frame.names["__name__"] = frozenset({self.constant("__main__"), self.constant(dotted)})
        frame.names["__file__"] = self.instance_of("str")
        branches, self.branches = self.branches, 0
        stack, self.stack = self.stack, []
        self.execute(code.body, frame)
        self.branches, self.stack = branches, stack
        self._finished.add(path)

    def _run_deferred(self) -> None:
        while self.deferred:
            context = next(iter(self.deferred))
            del self.deferred[context]
            before = context.result
            context.late_repeats += 1
            self.run(context)
            if context.result != before:
                for caller in context.callers:
                    caller.incomplete = True

    def _run_uncalled(self) -> None:
        """Analyse functions that no analysed code calls, with what their text says of callers."""
        seen: dict[tuple[str, int], int] = {}
        done: set[Function] = set()
        while True:
            fresh = [each for each in self.functions.values() if each not in done]
            if not fresh:
                return
            for function in fresh:
                done.add(function)
                node = (function.frame.path, self.index_of(function))
                if self._contexts_of.get(node, 0) > seen.get(node, 0):
                    continue
                if seen.get(node, 0) >= MAX_CLOSURES:
                    continue
                seen[node] = seen.get(node, 0) + 1
                self.run_alone(function)
                self._run_deferred()

    def run_alone(self, function: Function) -> None:
        """Analyse a function with arguments nothing is known of but its annotations."""
        node = (function.frame.path, self.index_of(function))
        bound: dict[str, Values] = {}
        for number, parameter in enumerate(function.code.parameters):
            values = self.annotated(parameter.annotation, function.frame)
            if parameter.default is not None:
                values = join(values, function.defaults.get(parameter.name, NOTHING))
            if parameter.kind in ("*", "**"):
                packed = self.packed("tuple", [], values or ANYTHING)
                if parameter.kind == "**":
                    packed = self.packed_keywords({}, values or ANYTHING)
                bound[parameter.name] = packed
                continue
            if number == 0 and function.owner is not None:
                bound[parameter.name] = self._first_parameter(function, function.owner)
                continue
            bound[parameter.name] = values | ANYTHING
        key = (node, function.frame, "alone")
        context = self._new_context(key, function, node, bound)
        self._contexts_of[node] = self._contexts_of.get(node, 0) + 1
        self.run(context)
        # Nobody calls it this way again, so nobody asks whether that has changed.
        context.touched = set()

    def _first_parameter(self, function: Function, owner: Class) -> Values:
        code = function.code
        names = {decorator[1] for decorator in code.decorators if decorator[0] == "n"}
        if "staticmethod" in names:
            return ANYTHING
        if "classmethod" in names or code.name in ("__new__", "__init_subclass__"):
            return frozenset({owner})
        if any(isinstance(base, Native) and base.name == "type" for base in owner.mro):
            return ANYTHING
        return frozenset({self.everything_of(owner)})

    def _settle(self) -> None:
        """Analyse again what looked for something that came only later."""
        self.branches += 1
        for _ in range(MAX_SETTLING):
            again = [each for each in self.contexts.values() if each.incomplete and each.ran]
            changed = False
            for context in again:
                if self.steps > 2 * self.max_steps:
                    break
                before, clock = context.result, self.clock
                self.run(context)
                if context.result != before:
                    for caller in context.callers:
                        caller.incomplete = True
                changed |= context.result != before or self.clock != clock
            self._run_deferred()
            if not changed:
                break
        self.branches -= 1

    def name_in(self, name: str, frame: Frame) -> Values:
        """Look a name up as Python does: scopes outwards, then builtins."""
        scope: Frame | None = frame
        while scope is not None:
            code = scope.code
            if code.kind == "module":
                break
            if name in code.shared:
                scope = self.frames[scope.path]
                break
            if name in code.local and (scope is frame or code.kind != "class"):
                values = scope.names.get(name)
                if values is not None:
                    return self._seen(values, name, scope, frame)
                if code.kind != "class":
                    self.miss()
                    return ANYTHING
            scope = scope.parent
        module = scope if scope is not None else self.frames[frame.path]
        values = module.names.get(name)
        if values is not None:
            return self._seen(values, name, module, frame)
        if name == "__class__" and frame.owner is not None:
            return frozenset({frame.owner})
        if name in _BUILTINS:
            return frozenset({self._builtin(name)})
        self.miss()
        return ANYTHING

    def _builtin(self, name: str) -> Value:
        if name in ("None", "True", "False"):
            return self.constant({"None": None, "True": True, "False": False}[name])
        return self.native(name)

    def _seen(self, values: Values, name: str, scope: Frame, frame: Frame) -> Values:
        if scope is not frame and self.is_unsteady(scope.path, name):
            self.touch(self.cell(scope, name))
        if any(isinstance(value, Pending) for value in values):
            return self._resolved(values)
        return values

    def _resolved(self, values: Values) -> Values:
        found = NOTHING
        for value in ordered(values):
            if isinstance(value, Pending):
                frame = self.frames.get(value.path)
                there = frame.names.get(value.name) if frame is not None else None
                if there is None or value in there:
                    self.miss()
                    there = ANYTHING
                found = join(found, there)
            else:
                found = join(found, frozenset({value}))
        return found

    def cell(self, frame: Frame, name: str) -> Cell:
        """What stands for one name of a frame where it is told that it changed."""
        key = (frame, name)
        found = self._cells.get(key)
        if found is None:
            found = self._cells[key] = Cell()
        return found

    def module_path(self, importer: str, module: str) -> str | None:
        """The file an import means."""
        return self._paths.path_of(importer, module)

    def _module(self, path: str, dotted: str) -> Module:
        key = path or dotted
        found = self._module_values.get(key)
        if found is None:
            found = self._module_values[key] = Module(path, dotted)
        return found

    def import_dotted(self, dotted: str, frame: Frame) -> Values:
        """Import a module: run it if it is of the tree."""
        path = self._paths.path_of(frame.path, dotted)
        if path is not None:
            self.run_module(path)
            return frozenset({self._module(path, self._paths.dotted(path))})
        if self._paths.is_namespace(dotted):
            return frozenset({self._module("", dotted)})
        return frozenset({self.outside(dotted)})

    def import_into(self, statement: Statement, frame: Frame) -> None:
        """Run an import statement."""
        if statement[0] == "import":
            _, dotted, bound, whole = statement
            values = self.import_dotted(dotted, frame)
            if not whole and "." in dotted:
                values = self.import_dotted(bound, frame)
            self._bind_name(bound, values, frame)
            return
        _, module, names = statement
        absolute = self._paths.absolute(frame.path, module)
        path = self._paths.path_of(frame.path, module)
        if path is not None:
            self.run_module(path)
        for name, bound in names:
            if name == "*":
                self._import_star(path, frame)
                continue
            self._bind_name(bound, self._imported_name(path, absolute, name, frame), frame)

    def _imported_name(self, path: str | None, absolute: str, name: str, frame: Frame) -> Values:
        if path is not None:
            there = self.frames[path].names.get(name)
            if there is not None:
                return there
        submodule = self._paths.path_of(frame.path, f"{absolute}.{name}") if absolute else None
        if submodule is not None:
            self.run_module(submodule)
            return frozenset({self._module(submodule, self._paths.dotted(submodule))})
        if path is not None:
            there = self.frames[path].names.get("__getattr__")
            if there is not None:
                return ANYTHING
            return frozenset({Pending(path, name)})
        if self._paths.is_namespace(f"{absolute}.{name}"):
            return frozenset({self._module("", f"{absolute}.{name}")})
        return frozenset({self.outside(f"{absolute}.{name}")})

    def _import_star(self, path: str | None, frame: Frame) -> None:
        if path is None:
            return
        names = self.frames[path].names
        listed = self._listed(names.get("__all__", NOTHING))
        for name, values in list(names.items()):
            if name in listed if listed else not name.startswith("_"):
                self._bind_name(name, values, frame)

    def _listed(self, values: Values) -> frozenset[str]:
        found: set[str] = set()
        for value in values:
            if isinstance(value, Container):
                for each in self.contents(value):
                    if isinstance(each, Constant) and isinstance(each.value, str):
                        found.add(each.value)
                    else:
                        return frozenset()
        return frozenset(found)

    def module_attribute(self, module: Module, name: str) -> Values:
        """What ``module.name`` is."""
        if module.path:
            self.run_module(module.path)
            frame = self.frames[module.path]
            values = frame.names.get(name)
            if values is not None:
                return self._seen(values, name, frame, frame)
        dotted = f"{module.dotted}.{name}"
        path = self._paths.path_of("", dotted)
        if path is not None:
            self.run_module(path)
            return frozenset({self._module(path, dotted)})
        if self._paths.is_namespace(dotted):
            return frozenset({self._module("", dotted)})
        if module.path:
            getter = self.frames[module.path].names.get("__getattr__")
            if getter is not None:
                return ANYTHING
            self.miss()
        return ANYTHING

    def store_in_module(self, module: Module, name: str, values: Values) -> None:
        """Do ``module.name = values``."""
        if module.path:
            frame = self.frames[module.path]
            before = frame.names.get(name, NOTHING)
            frame.set(name, join(before, values) if self.branches else values)

    def unique_method(self, name: str) -> Function | None:
        """The method of that name if only one class defines it."""
        place = self._only_definition.get(name)
        if place is None:
            return None
        path, index = place
        for (each_path, each_index, _), function in self._functions_of(path):
            if each_index == index and each_path == path and function.owner is not None:
                return function
        return None

    def _functions_of(self, path: str) -> list[tuple[tuple[str, int, Frame], Function]]:
        return [each for each in self.functions.items() if each[0][0] == path]


def _only_definitions(modules: Mapping[str, ModuleCode]) -> dict[str, tuple[str, int]]:
    """Method name → its code, where one class alone defines it and nothing else is so called."""
    found: dict[str, tuple[str, int] | None] = {}
    for path, module in modules.items():
        for index, code in enumerate(module.codes):
            if code.kind != "function" or module.codes[code.parent].kind != "class":
                continue
            name = code.name
            if name in _COMMON or name.startswith("__") or name in module.stored_attributes:
                continue
            found[name] = None if name in found else (path, index)
    stored = frozenset().union(*(module.stored_attributes for module in modules.values()))
    return {name: place for name, place in found.items() if place and name not in stored}


@contextmanager
def _deep_recursion() -> Iterates[None]:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, RECURSION_LIMIT))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
