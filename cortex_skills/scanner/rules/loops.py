"""`unbounded-loop`: loops that nothing ends but the limit of the sandbox.

Rules kept here:
- a loop whose condition is always true is a warning unless something in it leaves it: `break`, `return`, `throw`,
  `yield`; in a function inside the loop they leave that function, and a `break` leaves the nearest loop or switch;
- a condition that is always true is one that is missing, a constant, or a comparison with infinity.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cortex_skills.scanner.rule import Rule
from cortex_skills.scanner.rules.hit import Hit
from cortex_skills.scanner.scopes import CLASS_KINDS, FUNCTION_KINDS
from cortex_skills.scanner.values import Global, truth

if TYPE_CHECKING:
    from cortex_skills.scanner.program import Program
    from cortex_skills.scanner.tree import Node

RULE = Rule(
    id="unbounded-loop",
    severity="warning",
    title="A loop that nothing ends",
    finds="A loop whose condition is always true, and which nothing in it leaves: no `break` of its own, no `return`, "
    "`throw` or `yield`.",
    remedy="Give the loop an end: a condition, a `break`, or a number of rounds. The sandbox ends it by force.",
    trips="while (true) {\n  await graphClient.listTriples({ limit: 10 });\n}",
    passes="while (true) {\n  const page = await next();\n  if (page.nextCursor === null) break;\n}",
)

_LOOPS = frozenset({"do_statement", "for_statement", "while_statement", "for_in_statement"})
_LEAVING = frozenset({"return_statement", "throw_statement", "yield_expression"})
_WALLS = FUNCTION_KINDS | CLASS_KINDS
_INFINITE = frozenset({("Infinity",), ("Number", "POSITIVE_INFINITY")})
_HIGHEST_CLIMB = 64


def find(program: Program) -> Iterator[Hit]:
    """Every loop that runs until it is stopped."""
    left = _left_loops(program)
    for loop in program.tree.of_kind(*sorted(_LOOPS - {"for_in_statement"})):
        if loop.index not in left and _runs_on(program, loop):
            yield Hit(RULE, loop, "nothing ends this loop but the time limit of the sandbox")


def _left_loops(program: Program) -> set[int]:
    """The indexes of the loops that something in them leaves."""
    around: list[Node | None] = []  # by node: the nearest loop or switch of the same function
    left: set[int] = set()
    left_by_return: set[int] = set()
    for node in program.tree.nodes:
        parent = node.parent
        outer = None if parent is None or parent.kind in _WALLS else around[parent.index]
        if parent is not None and (parent.kind in _LOOPS or parent.kind == "switch_statement"):
            outer = parent
        around.append(outer)
        if node.kind in _LEAVING:
            while outer is not None and outer.index not in left_by_return:
                left_by_return.add(outer.index)
                outer = around[outer.index]
        elif node.kind == "break_statement":
            label = node.child("label")
            left.update(_broken(program, outer, around, None if label is None else program.tree.source(label)))
    return left | left_by_return


def _broken(program: Program, outer: Node | None, around: list[Node | None], label: str | None) -> Iterator[int]:
    for _ in range(_HIGHEST_CLIMB):
        if outer is None:
            return
        yield outer.index
        named = outer.parent.child("label") if outer.parent is not None else None
        if label is None or (named is not None and program.tree.source(named) == label):
            return
        outer = around[outer.index]


def _changes(program: Program, condition: Node) -> bool:
    """Whether something in a condition that looks constant is written to later."""
    nodes = program.tree.nodes
    index = condition.index
    while index < len(nodes) and nodes[index].start < condition.end:
        if index in program.facts.changing:
            return True
        index += 1
    return False


def _runs_on(program: Program, loop: Node) -> bool:
    condition = loop.child("condition")
    while condition is not None and condition.kind == "parenthesized_expression" and condition.children:
        condition = condition.children[0]
    if condition is None or condition.kind in ("empty_statement", ";"):
        return True
    if truth(program.facts.value(condition)) is True:
        return not _changes(program, condition)
    operator = condition.child("operator") if condition.kind == "binary_expression" else None
    if operator is None or operator.kind not in ("<", "<=", ">", ">=", "!=", "!=="):
        return False
    side = "left" if operator.kind in (">", ">=") else "right"
    bound = program.facts.value(condition.child(side))
    return isinstance(bound, Global) and bound.path in _INFINITE
