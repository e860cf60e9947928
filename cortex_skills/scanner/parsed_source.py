"""A source file as the rules read it: the tree, the known values, and the globals, calls and modules in it.

Rules kept here:
- everything is computed once, in time linear in the text; a rule only reads it;
- code that TypeScript erases (`import type`, types) uses no module.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from cortex_skills.scanner.evaluation import TRANSPARENT_KINDS, Evaluator
from cortex_skills.scanner.scopes import resolve_names
from cortex_skills.scanner.tree import SyntaxNode, SyntaxTree
from cortex_skills.scanner.values import Global, Path, Value

# What the surrounding code does with the value of an expression. `named` is the object of a member, `inspected` is
# compared or used for its type, `kept` is written to a variable whose value is known, `dropped` is not used, and
# `handed on` is everything that cannot be followed.
Role = Literal["called", "constructed", "named", "inspected", "kept", "dropped", "handed on"]

HIGHEST_CLIMB = 64

_COMPARISONS = frozenset({"==", "===", "!=", "!==", "instanceof", "in"})
_CHOICES = frozenset({"||", "&&", "??"})
_KEEPERS = {"variable_declarator": "value", "assignment_expression": "right", "required_parameter": "value"}
_TARGETS = {
    "assignment_expression": "left",
    "pair_pattern": "value",
    "required_parameter": "pattern",
    "variable_declarator": "name",
}
_LOADERS = frozenset({("require",), ("module", "require"), ("process", "getBuiltinModule")})


@dataclass(frozen=True)
class ModuleUse:
    """A module that the file loads by a constant name; `name` is its specifier without `node:`."""

    specifier: str
    node: SyntaxNode

    @property
    def name(self) -> str:
        """The specifier without the prefix `node:`."""
        return self.specifier.removeprefix("node:")


@dataclass(frozen=True)
class GlobalUse:
    """A place where a global is reached; a name of None in its path is computed and unknown."""

    path: Path
    node: SyntaxNode
    role: Role

    @property
    def name(self) -> str:
        """The path as it is written in code."""
        return ".".join(map(str, self.path))


@dataclass(frozen=True)
class CallSite:
    """A call or a `new` that runs (not one inside a type).

    Attributes:
        node: the whole expression.
        callee: the expression that is called.
        value: the known value of the callee.
        path: the path of the global that is called, without `call` and `apply`; empty for anything else.
        arguments: the arguments that the function gets; empty for a template.
    """

    node: SyntaxNode
    callee: SyntaxNode
    value: Value
    path: Path
    arguments: list[SyntaxNode]


class ParsedSource:
    """One parsed and evaluated source file."""

    def __init__(self, tree: SyntaxTree, known: Evaluator) -> None:
        self.tree = tree
        self._known = known
        self.value = known.value
        self.is_changed = known.is_changed

    @cached_property
    def uses(self) -> list[GlobalUse]:
        """The places where globals are reached, in the order of the text."""
        nodes = self.tree.nodes
        places = sorted(self._known.uses.items(), key=lambda use: use[0])
        return [GlobalUse(path, nodes[index], self.role(nodes[index])) for index, path in places]

    @cached_property
    def calls(self) -> list[CallSite]:
        """Every call and `new` that runs."""
        found = (self._call(node) for node in self.tree.of_kind("call_expression", "new_expression"))
        return [call for call in found if call is not None]

    @cached_property
    def modules(self) -> list[ModuleUse]:
        """Every module that is loaded: imports, re-exports, `import()`, `require()`."""
        return list(self._modules())

    def text_of(self, literal: SyntaxNode) -> str:
        """The text of a string, a template or a piece of JSX; of a template with unknown parts, its constant pieces.

        Linear over all literals of a file, for any nesting of templates.
        """
        value = self.value(literal)
        if isinstance(value, str):
            return value
        if literal.kind == "template_string":
            return " ".join(self.tree.source(part) for part in literal.children if part.kind != "template_substitution")
        source = self.tree.source(literal)
        return source[1:-1] if literal.kind == "string" else source

    def role(self, node: SyntaxNode) -> Role:
        """What the surrounding code does with the value of `node`."""
        for _ in range(HIGHEST_CLIMB):
            parent = node.parent
            if parent is None or not _passes(node, parent):
                return self._role_in(node, parent)
            node = parent
        return "handed on"

    def _role_in(self, node: SyntaxNode, parent: SyntaxNode | None) -> Role:
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

    def _role_of_kept(self, parent: SyntaxNode) -> Role:
        """`kept` when the value is written to a declared variable or destructured by names."""
        target = parent.child(_TARGETS[parent.kind])
        if target is not None and target.kind == "assignment_pattern":
            target = target.child("left")
        if target is None or target.kind not in ("identifier", "object_pattern"):
            return "handed on"
        return "handed on" if target.index in self._known.names.globals else "kept"

    def _call(self, node: SyntaxNode) -> CallSite | None:
        callee, given = node.child("function") or node.child("constructor"), node.child("arguments")
        if callee is None or node.in_type:
            return None
        value = self.value(callee)
        path = value.path if isinstance(value, Global) else ()
        arguments = [] if given is None or given.kind == "template_string" else given.children
        if path[-1:] == ("call",):
            path, arguments = path[:-1], arguments[1:]
        elif path[-1:] == ("apply",) and len(arguments) > 1 and arguments[1].kind == "array":
            path, arguments = path[:-1], arguments[1].children
        return CallSite(node, callee, value, path, arguments)

    def _modules(self) -> Iterator[ModuleUse]:
        for node in self.tree.of_kind("import_statement", "export_statement", "import_require_clause"):
            source = node.child("source")
            specifier = self.value(source)
            statement = node.parent if node.kind == "import_require_clause" else node
            erased = statement is not None and statement.children[0].kind == "type"
            if source is not None and isinstance(specifier, str) and not erased:
                yield ModuleUse(specifier, source)
        for call in self.calls:
            specifier = self.value(call.arguments[0]) if call.arguments else None
            if isinstance(specifier, str) and (call.callee.kind == "import" or call.path in _LOADERS):
                yield ModuleUse(specifier, call.arguments[0])


def read_source(tree: SyntaxTree) -> ParsedSource:
    """Resolve the names of a parsed file and evaluate its expressions."""
    known = Evaluator(tree, resolve_names(tree))
    known.run()
    return ParsedSource(tree, known)


def _passes(node: SyntaxNode, parent: SyntaxNode) -> bool:
    """True when the value of `node` is, or may be, the value of `parent`."""
    if parent.kind in TRANSPARENT_KINDS:
        return True
    if parent.kind == "sequence_expression":
        return parent.children[-1] is node
    if parent.kind == "ternary_expression":
        return node.field in ("consequence", "alternative")
    return parent.kind == "binary_expression" and _operator(parent) in _CHOICES


def _operator(node: SyntaxNode | None) -> str:
    operator = node.child("operator") if node is not None else None
    return operator.kind if operator is not None else ""
