"""How well the text of a call says what it calls: certain, or by the flow of values."""

from collections.abc import Mapping

from annotate.upstream.calls.bindings import Binding, bindings, unsteady_names
from annotate.upstream.calls.code import Code, Expression, ModuleCode
from annotate.upstream.calls.core import Site
from annotate.upstream.calls.natives import Natives
from annotate.upstream.calls.values import Class, Descriptor, Frame, Function, Values

_MAX_HOPS = 8

Expected = Code | bool


class Evidence(Natives):
    """Judges the expressions that are called."""

    def __init__(self, modules: Mapping[str, ModuleCode]) -> None:
        super().__init__(modules)
        self._bindings: dict[tuple[str, int], dict[str, list[Binding]]] = {}
        self._unsteady: dict[str, frozenset[str]] = {}
        self._index_of: dict[str, dict[int, int]] = {}

    def module_path(self, importer: str, module: str) -> str | None:
        """The file of an imported module."""
        raise NotImplementedError

    def index_of_code(self, code: Code, path: str) -> int:
        """The index of a code in its file."""
        table = self._index_of.get(path)
        if table is None:
            codes = self.modules[path].codes
            table = self._index_of[path] = {id(each): index for index, each in enumerate(codes)}
        return table[id(code)]

    def bindings_of(self, path: str, code: Code) -> dict[str, list[Binding]]:
        """What binds the names of a scope."""
        key = (path, self.index_of_code(code, path))
        found = self._bindings.get(key)
        if found is None:
            found = self._bindings[key] = bindings(code)
        return found

    def is_unsteady(self, path: str, name: str) -> bool:
        """Whether a name of a file may be bound anew while it is in use."""
        names = self._unsteady.get(path)
        if names is None:
            names = self._unsteady[path] = unsteady_names(self.modules[path])
        return name in names

    def site(self, callee: Expression, frame: Frame, line: int, key: int) -> Site:
        """The site of a written call, with what its text says about it."""
        expected, proof, why = self._judge(callee, frame)
        return Site(frame, line, why, key, expected, proof)

    def _judge(self, callee: Expression, frame: Frame) -> tuple[Expected, str, str]:
        kind = callee[0]
        if kind == "n":
            return self._judge_name(callee[1], frame)
        if kind == "a":
            return self._judge_attribute(callee, frame)
        if kind == "c":
            return False, "", f"returned by {written(callee[1])}"
        if kind == "s":
            return False, "", f"value of {written(callee[1])}"
        if kind == "L":
            return True, "direct call", ""
        return False, "", "value of an expression"

    def _judge_name(self, name: str, frame: Frame) -> tuple[Expected, str, str]:
        scope: Frame | None = frame
        while scope is not None:
            code = scope.code
            is_scope = scope is frame or code.kind != "class"
            if is_scope and (name in code.local or code.kind == "module"):
                found = self.bindings_of(scope.path, code).get(name, [])
                if found and found[0].kind == "parameter":
                    return False, "", f"passed as {name}"
                expected = self._expected(scope.path, found, _MAX_HOPS)
                proof = "direct call"
                if found and found[0].kind == "import":
                    proof = "through an import"
                if expected is True:
                    proof = "through its decorator"
                return expected, proof, f"value of {name}"
            scope = scope.parent
        return False, "", f"value of {name}"

    def _expected(self, path: str, found: list[Binding], hops: int) -> Expected:
        """The code that bindings lead to; True where decorators stand before it."""
        if len(found) != 1 or hops == 0:
            return False
        binding = found[0]
        if binding.kind == "definition":
            code = self.code(path, binding.code)
            return True if code.decorators else code
        if binding.kind == "import" and binding.name:
            return self._imported(path, binding.module, binding.name, hops)
        return False

    def _imported(self, importer: str, module: str, name: str, hops: int) -> Expected:
        path = self.module_path(importer, module)
        if path is None:
            return False
        table = self.bindings_of(path, self.code(path, 0))
        found = table.get(name)
        if found is not None:
            return self._expected(path, found, hops - 1)
        for star in table.get("*", []):
            expected = self._imported(path, star.module, name, hops - 1)
            if expected is not False:
                return expected
        return False

    def _judge_attribute(self, callee: Expression, frame: Frame) -> tuple[Expected, str, str]:
        owner, name = callee[1], callee[2]
        if owner[0] == "c" and owner[1] == ("n", "super"):
            return True, "through super()", "through super()"
        otherwise = f"method of {written(owner)}"
        dotted = self._module_of(owner, frame)
        if dotted is not None:
            expected = self._imported(frame.path, dotted, name, _MAX_HOPS)
            return expected, "through an import", f"value of {written(callee)}"
        if owner[0] != "n":
            return False, "", otherwise
        if self._is_self(owner[1], frame):
            method_owner = _owner(frame)
            expected = self._method_code(method_owner, name) if method_owner else False
            return expected, "through self", "through self"
        scope: Frame | None = frame
        while scope is not None and owner[1] not in scope.names:
            scope = scope.parent
        values = scope.names[owner[1]] if scope is not None else frozenset()
        if len(values) == 1:
            (value,) = values
            if isinstance(value, Class) and value.code.name == owner[1]:
                return self._method_code(value, name), "through its class", otherwise
        return False, "", otherwise

    def _module_of(self, owner: Expression, frame: Frame) -> str | None:
        """The module a dotted name stands for by imports alone, as its file would import it."""
        if owner[0] == "a":
            parent = self._module_of(owner[1], frame)
            return f"{parent}.{owner[2]}" if parent else None
        if owner[0] != "n":
            return None
        scope: Frame | None = frame
        while scope is not None:
            code = scope.code
            if owner[1] in code.local and (scope is frame or code.kind != "class"):
                found = self.bindings_of(scope.path, code).get(owner[1], [])
                if found and all(each.kind == "import" for each in found):
                    binding = found[0]
                    if not binding.name:
                        return binding.module
                    joined = binding.module.endswith(".")
                    return f"{binding.module}{'' if joined else '.'}{binding.name}"
                return None
            scope = scope.parent
        return None

    def _is_self(self, name: str, frame: Frame) -> bool:
        scope: Frame | None = frame
        while scope is not None:
            if name in scope.code.local:
                parameters = scope.code.parameters
                bound = self.bindings_of(scope.path, scope.code).get(name, [])
                return (
                    scope.owner is not None
                    and bool(parameters)
                    and parameters[0].name == name
                    and len(bound) == 1
                )
            scope = scope.parent
        return False

    def _method_code(self, class_: Class, name: str) -> Expected:
        found = self.in_class(class_, name)
        if not isinstance(found, tuple):
            return False
        return _only_code(found[1])


def _owner(frame: Frame) -> Class | None:
    scope: Frame | None = frame
    while scope is not None and scope.owner is None:
        scope = scope.parent
    return scope.owner if scope is not None else None


def _only_code(values: Values) -> Expected:
    if len(values) != 1:
        return False
    (value,) = values
    if isinstance(value, Descriptor):
        return _only_code(value.functions)
    return value.code if isinstance(value, Function) else False


def written(expression: Expression) -> str:
    """An expression as a reader would name it, without arguments."""
    kind = expression[0]
    if kind == "n":
        return str(expression[1]).partition("@")[0]
    if kind == "a":
        return f"{written(expression[1])}.{expression[2]}"
    if kind == "c":
        return f"{written(expression[1])}()"
    if kind == "s":
        return f"{written(expression[1])}[…]"
    return "an expression"
