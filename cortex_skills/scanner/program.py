"""A source file as rules see it: the tree, the meaning of its names, the known values, and the modules it asks for.

Rules kept here:
- everything is computed once, in time linear in the text; a rule only reads;
- what TypeScript erases (`import type`, types) asks for nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from cortex_skills.scanner.facts import Facts
from cortex_skills.scanner.folding import TRANSPARENT_KINDS, fold
from cortex_skills.scanner.scopes import resolve_names
from cortex_skills.scanner.values import Global, Value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cortex_skills.scanner.tree import Node, Tree

# What the code around an expression does with its value.
Role = Literal["called", "constructed", "named", "inspected", "kept", "dropped", "handed on"]

_COMPARISONS = frozenset({"==", "===", "!=", "!==", "instanceof", "in"})
_CHOICES = frozenset({"||", "&&", "??"})
_KEEPERS = {"variable_declarator": "value", "assignment_expression": "right", "required_parameter": "value"}
_TARGETS = {
    "assignment_expression": "left",
    "pair_pattern": "value",
    "required_parameter": "pattern",
    "variable_declarator": "name",
}
_HIGHEST_CLIMB = 64


@dataclass(frozen=True)
class ModuleUse:
    """A module that the file asks for by a constant name."""

    specifier: str
    node: Node


@dataclass(frozen=True)
class Program:
    """One parsed and folded source file."""

    tree: Tree
    facts: Facts

    @cached_property
    def calls(self) -> list[Node]:
        """Every call and `new` that runs (not one inside a type)."""
        return [node for node in self.tree.of_kind("call_expression", "new_expression") if not node.in_type]

    @cached_property
    def modules(self) -> list[ModuleUse]:
        """Every module asked for: imports, re-exports, `import()`, `require()`."""
        return list(self._modules())

    def callee(self, call: Node) -> Node | None:
        """The expression that a call or a `new` runs."""
        return call.child("function") or call.child("constructor")

    def arguments(self, call: Node) -> list[Node]:
        """The arguments of a call; a template's text is not one."""
        arguments = call.child("arguments")
        return [] if arguments is None or arguments.kind == "template_string" else arguments.children

    def text_of(self, literal: Node) -> str:
        """What a string, a template or a piece of JSX says; of a template with unknown parts, its own words alone.

        Linear over all literals of a file, however templates are nested.
        """
        value = self.facts.value(literal)
        if isinstance(value, str):
            return value
        if literal.kind == "template_string":
            return " ".join(self.tree.source(part) for part in literal.children if part.kind != "template_substitution")
        source = self.tree.source(literal)
        return source[1:-1] if literal.kind == "string" else source

    def role(self, node: Node) -> Role:
        """What becomes of the value of `node`.

        `named` is the object of a member, `inspected` is compared or asked for its type, `kept` goes into a variable
        whose content is known, `dropped` is not used, and `handed on` is everything that cannot be followed.
        """
        for _ in range(_HIGHEST_CLIMB):
            parent = node.parent
            if parent is None or not _passes(node, parent):
                return self._role_in(node, parent)
            node = parent
        return "handed on"

    def _role_in(self, node: Node, parent: Node | None) -> Role:
        kind = parent.kind if parent is not None else "program"
        if kind in ("program", "expression_statement"):
            return "dropped"
        if node.field in ("function", "constructor"):
            return "called" if node.field == "function" else "constructed"
        if node.field == "object" and kind != "with_statement":
            return "named"
        if kind == "unary_expression" or (kind == "binary_expression" and _operator(parent) in _COMPARISONS):
            return "inspected"
        if parent is not None and kind in _KEEPERS and node.field == _KEEPERS[kind]:
            return self._role_of_kept(parent)
        if parent is not None and kind.endswith("_pattern"):
            return self._role_of_kept(parent) if kind == "pair_pattern" else "kept"
        if kind in ("assignment_expression", "if_statement"):
            return "inspected"
        return "handed on"

    def _role_of_kept(self, parent: Node) -> Role:
        """`kept` when the value goes into a variable of the author's, or is taken apart by names."""
        target = parent.child(_TARGETS[parent.kind])
        if target is not None and target.kind == "assignment_pattern":
            target = target.child("left")
        if target is None or target.kind not in ("identifier", "object_pattern"):
            return "handed on"
        return "handed on" if target.index in self.facts.free_names else "kept"

    def _modules(self) -> Iterator[ModuleUse]:
        for node in self.tree.of_kind("import_statement", "export_statement", "import_require_clause"):
            source = node.child("source")
            specifier = self.facts.value(source)
            statement = node.parent if node.kind == "import_require_clause" else node
            erased = statement is not None and statement.children[0].kind == "type"
            if source is not None and isinstance(specifier, str) and not erased:
                yield ModuleUse(specifier, source)
        for call in self.calls:
            arguments = self.arguments(call)
            specifier = self.facts.value(arguments[0]) if arguments else None
            if isinstance(specifier, str) and self.loads_modules(call):
                yield ModuleUse(specifier, arguments[0])

    def loads_modules(self, call: Node) -> bool:
        """True for a call of `import()`, `require` or one of its relatives."""
        callee = self.callee(call)
        if callee is None:
            return False
        return callee.kind == "import" or is_loader(self.facts.value(callee))


def is_loader(value: Value) -> bool:
    """True for the globals that load a module by its name."""
    return isinstance(value, Global) and value.path in _LOADERS


def read_program(tree: Tree) -> Program:
    """The program of a parsed file."""
    return Program(tree, fold(tree, resolve_names(tree)))


_LOADERS = frozenset({("require",), ("module", "require"), ("process", "getBuiltinModule")})


def _passes(node: Node, parent: Node) -> bool:
    """True when the value of `node` is (or may be) the value of `parent`."""
    if parent.kind in TRANSPARENT_KINDS:
        return True
    if parent.kind == "sequence_expression":
        return parent.children[-1] is node
    if parent.kind == "ternary_expression":
        return node.field in ("consequence", "alternative")
    return parent.kind == "binary_expression" and _operator(parent) in _CHOICES


def _operator(node: Node | None) -> str:
    operator = node.child("operator") if node is not None else None
    return operator.kind if operator is not None else ""
