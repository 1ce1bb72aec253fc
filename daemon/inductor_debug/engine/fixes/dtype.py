"""Fixes of `dtype` and `float64`: the word that names the dtype becomes one that the accelerator, or the model, has.

Looked at are the expression that the finding names and the conversions chained to it (`nn.Linear(8, 8).double()`).
Where no word names the dtype, it comes from NumPy or from a Python number, and an explicit dtype is added.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from inductor_debug_schema import Finding, UnwantedDtype

from inductor_debug.accelerators.profile import Profile
from inductor_debug.engine.fixes.edits import Fix, TextEdit
from inductor_debug.engine.fixes.tree import Tree, in_order

_INSTEAD = {
    "float64": ("float32", "bfloat16", "float16"),
    "float32": ("bfloat16", "float16"),
    "float16": ("bfloat16", "float32"),
    "bfloat16": ("float16", "float32"),
    "complex128": ("complex64",),
    "int64": ("int32",),
    "int16": ("int32", "int64"),
    "int8": ("int32", "int64"),
    "uint8": ("int32", "int64"),
    "uint16": ("int32", "int64"),
    "uint32": ("int64",),
    "uint64": ("int64",),
}
"""What may stand in for a dtype, the nearest first."""
_METHODS = {
    "float64": "double",
    "float32": "float",
    "float16": "half",
    "bfloat16": "bfloat16",
    "complex128": "cdouble",
    "complex64": "cfloat",
    "int64": "long",
    "int32": "int",
    "int16": "short",
    "int8": "char",
    "uint8": "byte",
}
"""The methods of tensors and modules that convert; most are names of the dtype in torch, too."""
_LEGACY = {
    "float64": "DoubleTensor",
    "float32": "FloatTensor",
    "float16": "HalfTensor",
    "int64": "LongTensor",
    "int32": "IntTensor",
    "int16": "ShortTensor",
}
_NUMPY_NAMES = {"float64": ("float64", "double", "float_"), "complex128": ("complex128", "cdouble", "complex_")}
_NUMPY_DTYPES = frozenset({"float64", "float32", "float16", "complex64", "int64", "int32", "int16", "int8", "uint8"})
_NUMPY_MAKERS = frozenset(
    {"array", "asarray", "arange", "empty", "eye", "full", "identity", "linspace", "logspace", "ones", "zeros"}
)
_TORCH_MAKERS = frozenset({"tensor", "as_tensor", "asarray"})
_MOST = 4
"""Guesses for one finding; each costs an analysis."""


def fixes(tree: Tree, finding: Finding, profile: Profile) -> list[Fix]:
    """Another dtype in place of those that the accelerator does not have."""
    chosen = [(name, instead) for name in _unwanted(finding) if (instead := _instead(name, profile)) is not None]
    return _said_otherwise(tree, finding, chosen)


def narrowing(tree: Tree, finding: Finding, profile: Profile) -> list[Fix]:
    """Half as wide a dtype in place of those that the rule `float64` is about."""
    return _said_otherwise(tree, finding, [(name, _INSTEAD[name][0]) for name in _unwanted(finding)])


def _unwanted(finding: Finding) -> list[str]:
    return finding.facts.unwanted_dtypes if isinstance(finding.facts, UnwantedDtype) else []


def _said_otherwise(tree: Tree, finding: Finding, chosen: Sequence[tuple[str, str]]) -> list[Fix]:
    """Each word that names the dtype alone, all of them together, then explicit dtypes where there was none."""
    scope = tree.scope_at(finding.range)
    if scope is None:
        return []
    found: list[Fix] = []
    for name, instead in chosen:
        words = _Words(tree, name, instead)
        edits = list(dict.fromkeys(edit for node in _places(tree, scope) for edit in words.edits_of(node)))
        title = f"Use {instead} instead of {name}"
        found += [Fix(title, (edit,)) for edit in edits[: _MOST - 1]]
        if len(edits) > 1:
            found.append(Fix(title, tuple(edits)))
        if not edits and name == "float64":
            found += [Fix(f"Say dtype {instead}", made) for made in words.explicit(scope)]
    return found[:_MOST]


def _instead(name: str, profile: Profile) -> str | None:
    for candidate in _INSTEAD.get(name, ()):
        if candidate in profile.dtypes and candidate not in profile.stored_as:
            return candidate
    return None


def _places(tree: Tree, scope: ast.AST) -> Iterator[ast.AST]:
    """All nodes of the expression, outermost first, then the calls of methods that are chained to it."""
    yield from in_order(scope)
    inner = scope
    for node in tree.around(scope):
        if isinstance(node, ast.Attribute) and node.value is inner:
            inner = node
        elif isinstance(node, ast.Call) and node.func is inner:
            inner = node
            yield node
            yield from (*node.args, *(keyword.value for keyword in node.keywords))
        else:
            return


@dataclass(frozen=True)
class _Words:
    """How a text says `name`, and how it would say `instead`."""

    tree: Tree
    name: str
    instead: str

    def edits_of(self, node: ast.AST) -> Iterator[TextEdit]:
        """The edit that makes this very node say the other dtype, if it says this one."""
        edit: TextEdit | None = None
        if isinstance(node, ast.Call):
            edit = self._method(node)
            yield from self._plain_float(node)
        elif isinstance(node, ast.Attribute):
            edit = self._attribute(node)
        elif isinstance(node, ast.Constant) and node.value in (self.name, f"torch.{self.name}"):
            text = self.tree.text_of(node)
            edit = self.tree.replace(node, text.replace(self.name, self.instead)) if self.name in text else None
        if edit is not None:
            yield edit

    def _method(self, call: ast.Call) -> TextEdit | None:
        """`x.double()`."""
        method = _METHODS.get(self.name)
        function = call.func
        if method is None or call.args or not isinstance(function, ast.Attribute) or function.attr != method:
            return None
        if self.instead in _METHODS:
            return self.tree.rename(function, _METHODS[self.instead])
        return None

    def _attribute(self, node: ast.Attribute) -> TextEdit | None:
        """`torch.float64`, `torch.double`, `torch.DoubleTensor`, `np.float64`."""
        if not isinstance(node.value, ast.Name):
            return None
        owner = node.value.id
        if owner in self.tree.aliases("torch"):
            if node.attr == _LEGACY.get(self.name) and self.instead in _LEGACY:
                return self.tree.rename(node, _LEGACY[self.instead])
            named = node.attr in (self.name, _METHODS.get(self.name))
            return self.tree.rename(node, self.instead) if named else None
        if owner in self.tree.aliases("numpy") and self.instead in _NUMPY_DTYPES:
            named = node.attr in _NUMPY_NAMES.get(self.name, (self.name,))
            return self.tree.rename(node, self.instead) if named else None
        return None

    def _plain_float(self, call: ast.Call) -> Iterator[TextEdit]:
        """`dtype=float`, which means float64 to NumPy and to torch."""
        for keyword in call.keywords if self.name == "float64" else ():
            if keyword.arg == "dtype" and isinstance(keyword.value, ast.Name) and keyword.value.id == "float":
                owner = _root(call.func)
                if owner in self.tree.aliases("torch") or (
                    owner in self.tree.aliases("numpy") and self.instead in _NUMPY_DTYPES
                ):
                    yield self.tree.replace(keyword.value, f"{owner}.{self.instead}")

    def explicit(self, scope: ast.AST) -> Iterator[tuple[TextEdit, ...]]:
        """Dtypes added to what makes float64 without saying so."""
        for node in in_order(scope):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            owner = _root(node.func)
            if owner in self.tree.aliases("numpy") and self.instead in _NUMPY_DTYPES:
                yield from self._numpy(node, node.func, owner)
            elif owner in self.tree.aliases("torch") and isinstance(node.func.value, ast.Name):
                yield from self._torch(node, node.func.attr, owner)

    def _numpy(self, call: ast.Call, function: ast.Attribute, owner: str) -> Iterator[tuple[TextEdit, ...]]:
        dtype = f"{owner}.{self.instead}"
        if isinstance(function.value, ast.Name) and function.attr in _NUMPY_MAKERS:
            if not _says_dtype(call):
                edit = self.tree.add_argument(call, f"dtype={dtype}")
                if edit is not None:
                    yield (edit,)
        else:
            yield self.tree.append(call, f".astype({dtype})")

    def _torch(self, call: ast.Call, made_by: str, owner: str) -> Iterator[tuple[TextEdit, ...]]:
        if made_by in _TORCH_MAKERS and not _says_dtype(call):
            edit = self.tree.add_argument(call, f"dtype={owner}.{self.instead}")
            if edit is not None:
                yield (edit,)
        elif made_by == "from_numpy" and len(call.args) == 1 and self.instead in _NUMPY_DTYPES:
            argument = call.args[0]
            numpy = min(self.tree.aliases("numpy"), default=None)
            dtype = f'"{self.instead}"' if numpy is None else f"{numpy}.{self.instead}"
            if not isinstance(argument, (ast.Starred, ast.Call)):
                yield self.tree.append(argument, f".astype({dtype})")


def _says_dtype(call: ast.Call) -> bool:
    return any(keyword.arg in ("dtype", None) for keyword in call.keywords)


def _root(node: ast.expr) -> str:
    """The name that a dotted expression begins with: `np` of `np.random.randn`; "" for anything else."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
