"""Which declaration a name in the source means, or that it means a global.

Rules kept here:
- a name that the author declares (variable, parameter, function, class, import, catch, enum) is theirs, and only within
  the scope that ECMAScript gives it; everything else is a global;
- what TypeScript erases declares nothing: `declare`, overload signatures, interfaces, type aliases, `import type`, and
  namespaces (which may be empty, and then vanish);
- when in doubt a name is a global: a false alarm can be read, a hidden `eval` cannot.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cortex_skills.scanner.bindings import Binding

if TYPE_CHECKING:
    from cortex_skills.scanner.tree import Node, Tree

FUNCTION_KINDS = frozenset(
    {
        "arrow_function",
        "function_declaration",
        "function_expression",
        "generator_function",
        "generator_function_declaration",
        "method_definition",
    }
)
CLASS_KINDS = frozenset({"abstract_class_declaration", "class", "class_declaration"})

_SCOPE_KINDS = (
    FUNCTION_KINDS
    | CLASS_KINDS
    | frozenset(
        {"catch_clause", "class_static_block", "for_in_statement", "for_statement", "statement_block", "switch_body"}
    )
)
_OPENS_VAR_SCOPE = FUNCTION_KINDS | {"class_static_block", "internal_module", "module"}
_NAMED_OUTSIDE = frozenset(
    {
        "abstract_class_declaration",
        "class_declaration",
        "enum_declaration",
        "function_declaration",
        "generator_function_declaration",
    }
)
_NAMED_INSIDE = frozenset({"class", "function_expression", "generator_function"})
_PATTERNS = frozenset({"array_pattern", "object_pattern", "rest_pattern"})
_DEFAULTS = frozenset({"assignment_pattern", "object_assignment_pattern"})
_NAMES = frozenset({"identifier", "shorthand_property_identifier", "shorthand_property_identifier_pattern"})
_IMPORT_CLAUSES = frozenset({"import_clause", "import_require_clause", "namespace_import"})
_NAME_OF = frozenset({"import_specifier", "internal_module", "module", "namespace_export"})

_ESCAPE = re.compile(r"\\u(?:\{([0-9a-fA-F]{1,8})\}|([0-9a-fA-F]{4}))")


class Scope:
    """A region of the source with names of its own."""

    __slots__ = ("_names", "parent", "var_scope")

    def __init__(self, parent: Scope | None, holds_vars: bool) -> None:
        self.parent = parent
        self._names: dict[str, Binding] = {}
        self.var_scope: Scope = self if holds_vars or parent is None else parent.var_scope

    def declare(self, name: str) -> Binding:
        """The binding of `name` in this scope, made when it is new."""
        return self._names.setdefault(name, Binding())

    def find(self, name: str) -> Binding | None:
        """The binding of `name` seen from here, or None for a global."""
        scope: Scope | None = self
        while scope is not None:
            binding = scope._names.get(name)
            if binding is not None:
                return binding
            scope = scope.parent
        return None


@dataclass(frozen=True)
class Names:
    """The names of a file.

    Attributes:
        bindings: by the index of a name's node, what the author declared under it. A node whose value names nothing
            declared is in `globals` instead.
        globals: by the index of a name's node, the name of the global that it means.

    """

    bindings: dict[int, Binding]
    globals: dict[int, str]


def identifier_text(source: str) -> str:
    r"""An identifier as the engine reads it: `\u0065val` is `eval`."""
    return _ESCAPE.sub(_unescape, source) if "\\" in source else source


def resolve_names(tree: Tree) -> Names:
    """What each name in `tree` means."""
    seen_from: list[Scope] = []  # by node: the scope that the node itself is evaluated in
    opened: dict[int, Scope] = {}  # by node: the scope that it opens for its children
    declares: dict[int, Scope] = {}  # by node: the scope that a pattern declares its names in
    uses: list[tuple[Node, Scope]] = []
    bindings: dict[int, Binding] = {}
    for node in tree.nodes:
        scope = _scope_of(node, seen_from, opened)
        seen_from.append(scope)
        if node.in_type:
            continue
        kind = node.kind
        if kind in _SCOPE_KINDS:
            holds_vars = kind == "statement_block" and node.parent is not None and node.parent.kind in _OPENS_VAR_SCOPE
            opened[node.index] = Scope(scope, holds_vars)
        target = _declared_in(node, scope, opened, declares)
        if target is not None:
            declares[node.index] = target
            if kind in _NAMES or kind == "type_identifier":
                bindings[node.index] = target.declare(identifier_text(tree.source(node)))
        elif kind in _NAMES and _is_reference(node):
            uses.append((node, scope))
    globals_: dict[int, str] = {}
    for node, scope in uses:
        name = identifier_text(tree.source(node))
        binding = scope.find(name)
        if binding is None:
            globals_[node.index] = name
        else:
            bindings[node.index] = binding
    return Names(bindings, globals_)


def _scope_of(node: Node, seen_from: list[Scope], opened: dict[int, Scope]) -> Scope:
    parent = node.parent
    if parent is None:
        return Scope(None, True)
    # A computed name and a decorator are evaluated outside of what they name.
    if node.kind == "decorator":
        while parent.index not in opened and parent.parent is not None:
            parent = parent.parent
        return seen_from[parent.index]
    inner = opened.get(parent.index)
    if inner is None or (node.field == "name" and parent.kind == "method_definition"):
        return seen_from[parent.index]
    return inner


def _declared_in(node: Node, scope: Scope, opened: dict[int, Scope], declares: dict[int, Scope]) -> Scope | None:
    """The scope in which `node` declares the names that it holds, or None when it declares none."""
    parent = node.parent
    if parent is None:
        return None
    kind, role = parent.kind, node.field
    if kind == "variable_declarator" and role == "name":
        is_var = parent.parent is not None and parent.parent.kind == "variable_declaration"
        return scope.var_scope if is_var else scope
    if kind in ("required_parameter", "optional_parameter"):
        return scope if role == "pattern" and node.kind != "this" else None
    if kind == "for_in_statement" and role == "left":
        keyword = parent.child("kind")
        return None if keyword is None else scope.var_scope if keyword.kind == "var" else scope
    if (kind == "catch_clause" and role == "parameter") or (kind == "arrow_function" and role == "parameter"):
        return scope
    if role == "name" and kind in _NAMED_OUTSIDE:
        return _outside(parent, scope, opened)
    if role == "name" and kind in _NAMED_INSIDE:
        return scope
    if parent.index in declares:
        if kind in _PATTERNS or (kind in _DEFAULTS and role == "left") or (kind == "pair_pattern" and role == "value"):
            return declares[parent.index]
        return None
    return scope if _is_import(node, parent) else None


def _outside(parent: Node, scope: Scope, opened: dict[int, Scope]) -> Scope:
    """The scope around `parent`, which may itself open the scope `scope`."""
    own = opened.get(parent.index)
    return scope if own is None or own.parent is None else own.parent


def _is_import(node: Node, parent: Node) -> bool:
    """True when `node` is a name that an import statement binds to a value."""
    if node.kind != "identifier":
        return False
    if parent.kind in _IMPORT_CLAUSES:
        return not _erased(parent)
    if parent.kind == "import_specifier":
        local = parent.child("alias") or parent.child("name")
        return node is local and not _erased(parent)
    return parent.kind == "import_alias" and node is parent.children[0]


def _erased(node: Node) -> bool:
    """True inside `import type …` or `import {type …}`."""
    if node.kind == "import_specifier" and node.children[0].kind == "type":
        return True
    statement: Node | None = node
    while statement is not None and statement.kind != "import_statement":
        statement = statement.parent
    return statement is not None and bool(statement.children) and statement.children[0].kind == "type"


def _is_reference(node: Node) -> bool:
    """True when the name is read or written, rather than being a name given to or taken from a module."""
    parent = node.parent
    if parent is None or parent.kind in _NAME_OF:
        return False
    if parent.kind == "export_specifier":
        statement = parent.parent.parent if parent.parent is not None else None
        return node.field == "name" and (statement is None or statement.child("source") is None)
    return parent.kind not in _IMPORT_CLAUSES


def _unescape(match: re.Match[str]) -> str:
    code = int(match[1] or match[2], 16)
    return chr(code) if code <= 0x10FFFF else "�"
