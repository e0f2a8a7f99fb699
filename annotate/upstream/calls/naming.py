"""What the codes of a tree are called: dotted names, and symbol ids."""

from collections.abc import Mapping

from annotate.upstream.calls.code import Code, ModuleCode
from annotate.upstream.calls.modules import Modules

Node = tuple[str, int]


class DottedNames:
    """Names as call-graph tools write them: ``module.Class.method``, ``module.f.<lambda1>``."""

    def __init__(self, modules: Mapping[str, ModuleCode], paths: Modules) -> None:
        self._modules = modules
        self._paths = paths

    def name(self, node: Node) -> str:
        """The dotted name of a code."""
        path, index = node
        codes = self._modules[path].codes
        parts: list[str] = []
        while index > 0:
            code = codes[index]
            parts.append(code.name)
            index = code.parent
        return ".".join([self._paths.dotted(path), *reversed(parts)])

    def everything(self) -> list[str]:
        """The names of all modules, functions and lambdas."""
        return [
            self.name((path, index))
            for path, module in self._modules.items()
            for index, code in enumerate(module.codes)
            if code.kind != "class"
        ]


class SymbolNames:
    """Ids of `annotate.upstream.symbols`, found by where a definition stands."""

    def __init__(
        self,
        modules: Mapping[str, ModuleCode],
        qualnames: Mapping[str, Mapping[tuple[int, str], str]],
        registrations: Mapping[str, list[tuple[int, int, str]]],
    ) -> None:
        """Prepare naming.

        ``qualnames``: path → (first line, last part of the name) → qualified name.
        ``registrations``: path → (first line, last line, name) of statements that are calls.
        """
        self._modules = modules
        self._qualnames = qualnames
        self._registrations = registrations
        self._found: dict[Node, str] = {}

    def id(self, node: Node) -> str:
        """The symbol id of a code; the path where it is a module's body."""
        path, index = node
        qualname = self._qualname(node) if index else ""
        return f"{path}::{qualname}" if qualname else path

    def _qualname(self, node: Node) -> str:
        found = self._found.get(node)
        if found is None:
            found = self._found[node] = self._look_up(*node)
        return found

    def _look_up(self, path: str, index: int) -> str:
        code = self._modules[path].codes[index]
        name = code.bound_name if code.kind == "lambda" else code.name
        if name:
            symbol = self._qualnames.get(path, {}).get((code.line, name))
            if symbol is not None:
                return symbol
        prefix = self._prefix(path, code)
        return f"{prefix}.{code.name}" if prefix else code.name

    def _prefix(self, path: str, code: Code) -> str:
        if code.parent > 0:
            return self._qualname((path, code.parent))
        for first, last, name in self._registrations.get(path, ()):
            if first <= code.line <= last:
                return name
        return ""
