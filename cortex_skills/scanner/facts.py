"""What is known of the expressions of a file, and how it is gathered.

Rules kept here:
- a `Use` is recorded where a global is reached (a free name, a member, a destructured name), not where an alias is
  read;
- what a pattern takes apart is followed name by name; what cannot be followed is unknown, never guessed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cortex_skills.scanner.pure_calls import as_text
from cortex_skills.scanner.scopes import Names, identifier_text
from cortex_skills.scanner.values import LIST_LIMIT, Global, Value, global_named, is_notable, member

if TYPE_CHECKING:
    from cortex_skills.scanner.bindings import Binding
    from cortex_skills.scanner.tree import Node, Tree


@dataclass(frozen=True)
class Use:
    """A place where a global is reached: its path (None for a computed name that is not known) and the node."""

    path: tuple[str | None, ...]
    node: Node


@dataclass(frozen=True)
class Facts:
    """The known values by node index, the uses of globals in the order of the text, and the indexes of free names.

    `changing` holds the indexes of names that are known to hold a constant where they are read, and another later.
    """

    values: dict[int, Value]
    uses: list[Use]
    free_names: frozenset[int]
    changing: frozenset[int]

    def value(self, node: Node | None) -> Value:
        """What `node` is known to be; None when it is not known."""
        return None if node is None else self.values.get(node.index)


class Gathering:
    """Values and uses by node index, and the variables that were read before they were known."""

    def __init__(self, tree: Tree, names: Names) -> None:
        self.tree = tree
        self._names = names
        self.values: dict[int, Value] = {}
        self.uses: dict[int, tuple[str | None, ...]] = {}
        self.read_unknown: set[Binding] = set()

    def changing(self) -> frozenset[int]:
        """The indexes of names that were read before something else was written to them."""
        bound = self._names.bindings
        return frozenset(
            index
            for index, value in self.values.items()
            if index in bound and not is_notable(value) and bound[index].value != value
        )

    def value(self, node: Node | None) -> Value:
        """What `node` is known to be so far."""
        return None if node is None else self.values.get(node.index)

    def reach(self, node: Node, value: Value) -> Value:
        """Record that `node` reaches `value` if that is a global."""
        if isinstance(value, Global):
            self.uses[node.index] = value.path
        return value

    def name(self, node: Node) -> Value:
        """A name that is read."""
        free = self._names.globals.get(node.index)
        if free is not None:
            return self.reach(node, global_named(free))
        binding = self._names.bindings.get(node.index)
        if binding is None:
            return None
        if binding.value is None:
            self.read_unknown.add(binding)
        return binding.value

    def write(self, target: Node, value: Value) -> None:
        """Give `value` to a name or to every name of a destructuring pattern."""
        pending: list[tuple[Node, Value]] = [(target, value)]
        while pending:
            node, given = pending.pop()
            kind = node.kind
            if kind in ("assignment_pattern", "object_assignment_pattern"):
                left, default = node.child("left"), self.value(node.child("right"))
                if left is not None:
                    self._take_shorthand(left, kind, given, default, pending)
            elif kind == "object_pattern":
                pending.extend(self._object_parts(node, given))
            elif kind == "array_pattern":
                pending.extend((part, member(given, str(place))) for place, part in enumerate(node.children))
            elif kind == "rest_pattern" and node.children:
                pending.append((node.children[-1], given if is_notable(given) else None))
            elif node.index in self._names.bindings:
                self._names.bindings[node.index].write(node.index, given)

    def _take_shorthand(
        self, left: Node, kind: str, given: Value, default: Value, pending: list[tuple[Node, Value]]
    ) -> None:
        """`{name = default}` takes the member `name` of what is given; `x = default` takes what is given."""
        if kind == "object_assignment_pattern" and left.kind == "shorthand_property_identifier_pattern":
            given = self.reach(left, member(given, identifier_text(self.tree.source(left))))
        pending.append((left, given if is_notable(given) or default is None else default))

    def _object_parts(self, pattern: Node, given: Value) -> list[tuple[Node, Value]]:
        parts: list[tuple[Node, Value]] = []
        for part in pattern.children:
            if part.kind == "shorthand_property_identifier_pattern":
                name = identifier_text(self.tree.source(part))
                parts.append((part, self.reach(part, member(given, name))))
            elif part.kind == "pair_pattern":
                key, target = part.child("key"), part.child("value")
                if key is not None and target is not None:
                    parts.append((target, self.reach(key, member(given, self.property_name(key)))))
            else:
                parts.append((part, given))
        return parts

    def property_name(self, node: Node) -> str | None:
        """The name that a property, a key or a subscript stands for; None when it is computed and not known."""
        if node.kind == "computed_property_name":
            return self.as_name(self.value(node.children[0])) if node.children else None
        if node.kind in ("property_identifier", "private_property_identifier"):
            return identifier_text(self.tree.source(node))
        return self.as_name(self.value(node))

    def as_name(self, value: Value) -> str | None:
        """The property name that a value stands for as a subscript."""
        return as_text(value)

    def arguments(self, node: Node) -> list[Value]:
        """The values of a call's arguments; at most `LIST_LIMIT` of them."""
        arguments = node.child("arguments")
        values: list[Value] = []
        for part in [] if arguments is None else arguments.children[:LIST_LIMIT]:
            spread = self.value(part.children[0]) if part.kind == "spread_element" and part.children else None
            values += spread if isinstance(spread, tuple) else (self.value(part),)
        return values[:LIST_LIMIT]
