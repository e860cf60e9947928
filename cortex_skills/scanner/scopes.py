"""Resolves each name in the source to its declaration or to a global.

Rules kept here:
- a name that the source declares (variable, parameter, function, class, import, catch, enum) is local within the scope
  that ECMAScript gives it; every other name is a global;
- code that TypeScript erases declares nothing: `declare`, overload signatures, interfaces, type aliases, `import type`,
  and namespaces (an empty one is erased);
- in doubt a name is a global: an author can correct a false alarm, but a hidden `eval` goes unnoticed;
- a variable has a constant value only when one value is ever written to it; it has a global or a function as its value
  when any write gives it one; after writes of different globals, one of which leads to others, it is an unknown member
  of the global object.
"""

from __future__ import annotations

from dataclasses import dataclass

from cortex_skills.scanner.tree import SyntaxNode, SyntaxTree
from cortex_skills.scanner.values import Global, Value, is_notable, leads_on, text_of_literal

FUNCTION_KINDS = frozenset({
    "arrow_function", "function_declaration", "function_expression", "generator_function",
    "generator_function_declaration", "method_definition",
})  # fmt: skip
CLASS_KINDS = frozenset({"abstract_class_declaration", "class", "class_declaration"})

_SCOPE_KINDS = (
    FUNCTION_KINDS
    | CLASS_KINDS
    | frozenset(
        {"catch_clause", "class_static_block", "for_in_statement", "for_statement", "statement_block", "switch_body"}
    )
)
_OPENS_VAR_SCOPE = FUNCTION_KINDS | {"class_static_block", "internal_module", "module"}
_NAMED_OUTSIDE = frozenset({
    "abstract_class_declaration", "class_declaration", "enum_declaration", "function_declaration",
    "generator_function_declaration",
})  # fmt: skip
_NAMED_INSIDE = frozenset({"class", "function_expression", "generator_function"})
_PATTERNS = frozenset({"array_pattern", "object_pattern", "rest_pattern"})
_DEFAULTS = frozenset({"assignment_pattern", "object_assignment_pattern"})
_NAMES = frozenset({"identifier", "shorthand_property_identifier", "shorthand_property_identifier_pattern"})
_IMPORT_CLAUSES = frozenset({"import_clause", "import_require_clause", "namespace_import"})
_NAME_OF = frozenset({"import_specifier", "internal_module", "module", "namespace_export"})

_AMBIGUOUS = Global((None,))


class Binding:
    """A declared name and its known value (None: unknown)."""

    __slots__ = ("_constant", "_notable", "_sites")

    def __init__(self) -> None:
        self._sites: set[int] = set()
        self._constant: Value = None
        self._notable: Value = None

    def write(self, site: int, value: Value) -> None:
        """Record that the node with index `site` writes `value`; a later call for the same node replaces it."""
        self._sites.add(site)
        self._constant = value if len(self._sites) == 1 else None
        if is_notable(value) and value != self._notable:
            clash = self._notable is not None and (leads_on(value) or leads_on(self._notable))
            self._notable = _AMBIGUOUS if clash else value

    @property
    def value(self) -> Value:
        """The value of the name at every read."""
        return self._notable if self._notable is not None else self._constant


class Scope:
    """A region of the source with its own names."""

    __slots__ = ("_names", "parent", "var_scope")

    def __init__(self, parent: Scope | None, holds_vars: bool) -> None:
        self.parent = parent
        self._names: dict[str, Binding] = {}
        self.var_scope: Scope = self if holds_vars or parent is None else parent.var_scope

    def declare(self, name: str) -> Binding:
        """The binding of `name` in this scope, created when it is new."""
        return self._names.setdefault(name, Binding())

    def find(self, name: str) -> Binding | None:
        """The binding of `name` that is visible here, or None for a global."""
        scope: Scope | None = self
        while scope is not None:
            binding = scope._names.get(name)
            if binding is not None:
                return binding
            scope = scope.parent
        return None


@dataclass(frozen=True)
class ResolvedNames:
    """The names of a file.

    Attributes:
        bindings: the declared names, by the index of each node that names them.
        globals: the names of globals, by the index of each node that names them.
    """

    bindings: dict[int, Binding]
    globals: dict[int, str]


def identifier_text(source: str) -> str:
    r"""An identifier with its escapes decoded: `\u0065val` is `eval`."""
    return (text_of_literal(source) or source) if "\\" in source else source


def resolve_names(tree: SyntaxTree) -> ResolvedNames:
    """Resolve every name in `tree`."""
    seen_from: list[Scope] = []  # by node: the scope in which the node is evaluated
    opened: dict[int, Scope] = {}  # by node: the scope that it opens for its children
    declares: dict[int, Scope] = {}  # by node: the scope in which a pattern declares its names
    uses: list[tuple[SyntaxNode, Scope]] = []
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
    return ResolvedNames(bindings, globals_)


def _scope_of(node: SyntaxNode, seen_from: list[Scope], opened: dict[int, Scope]) -> Scope:
    parent = node.parent
    if parent is None:
        return Scope(None, True)
    # A computed name and a decorator are evaluated outside the declaration that they belong to.
    if node.kind == "decorator":
        while parent.index not in opened and parent.parent is not None:
            parent = parent.parent
        return seen_from[parent.index]
    inner = opened.get(parent.index)
    if inner is None or (node.field == "name" and parent.kind == "method_definition"):
        return seen_from[parent.index]
    return inner


def _declared_in(node: SyntaxNode, scope: Scope, opened: dict[int, Scope], declares: dict[int, Scope]) -> Scope | None:
    """The scope in which `node` declares its names, or None when it declares none."""
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


def _outside(parent: SyntaxNode, scope: Scope, opened: dict[int, Scope]) -> Scope:
    """The scope around `parent`, which may open `scope`."""
    own = opened.get(parent.index)
    return scope if own is None or own.parent is None else own.parent


def _is_import(node: SyntaxNode, parent: SyntaxNode) -> bool:
    """True when an import statement binds the name `node` to a value."""
    if node.kind != "identifier":
        return False
    if parent.kind in _IMPORT_CLAUSES:
        return not _erased(parent)
    if parent.kind == "import_specifier":
        local = parent.child("alias") or parent.child("name")
        return node is local and not _erased(parent)
    return parent.kind == "import_alias" and node is parent.children[0]


def _erased(node: SyntaxNode) -> bool:
    """True inside `import type …` or `import {type …}`."""
    if node.kind == "import_specifier" and node.children[0].kind == "type":
        return True
    statement: SyntaxNode | None = node
    while statement is not None and statement.kind != "import_statement":
        statement = statement.parent
    return statement is not None and bool(statement.children) and statement.children[0].kind == "type"


def _is_reference(node: SyntaxNode) -> bool:
    """True when the name is read or written; False for names in imports and exports."""
    parent = node.parent
    if parent is None or parent.kind in _NAME_OF:
        return False
    if parent.kind == "export_specifier":
        statement = parent.parent.parent if parent.parent is not None else None
        return node.field == "name" and (statement is None or statement.child("source") is None)
    return parent.kind not in _IMPORT_CLAUSES
