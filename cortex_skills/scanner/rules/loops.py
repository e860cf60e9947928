"""`unbounded-loop`: loops that only the time limit of the sandbox stops.

Rules kept here:
- a loop whose condition is always true is a warning unless a statement in it leaves it: `break`, `return`, `throw`,
  `yield`; in a function inside the loop they leave that function, and a `break` leaves the nearest loop or switch;
- a condition is always true when it is missing, a constant, or a comparison with infinity.
"""

from __future__ import annotations

from collections.abc import Iterator

from cortex_skills.scanner.parsed_source import HIGHEST_CLIMB, ParsedSource
from cortex_skills.scanner.rule import Hit, Rule
from cortex_skills.scanner.scopes import CLASS_KINDS, FUNCTION_KINDS
from cortex_skills.scanner.tree import SyntaxNode
from cortex_skills.scanner.values import Global, truth

RULE = Rule(
    id="unbounded-loop",
    severity="warning",
    title="An endless loop",
    finds="A loop whose condition is always true and that contains no `break` out of it, no `return`, `throw` or "
    "`yield`.",
    remedy="Add a condition, a `break` or a maximum number of rounds. The sandbox stops an endless loop by force.",
    trips="while (true) {\n  await graphClient.listTriples({ limit: 10 });\n}",
    passes="while (true) {\n  const page = await next();\n  if (page.nextCursor === null) break;\n}",
)
RULES = (RULE,)

_LOOPS = frozenset({"do_statement", "for_statement", "while_statement", "for_in_statement"})
_LEAVING = frozenset({"return_statement", "throw_statement", "yield_expression"})
_WALLS = FUNCTION_KINDS | CLASS_KINDS
_INFINITE = frozenset({("Infinity",), ("Number", "POSITIVE_INFINITY")})


def find(source: ParsedSource) -> Iterator[Hit]:
    """Every endless loop."""
    left = _left_loops(source)
    for loop in source.tree.of_kind(*sorted(_LOOPS - {"for_in_statement"})):
        if loop.index not in left and _runs_on(source, loop):
            yield Hit(RULE, loop, "only the time limit of the sandbox stops this loop")


def _left_loops(source: ParsedSource) -> set[int]:
    """The indexes of the loops that a statement in them leaves."""
    around: list[SyntaxNode | None] = []  # by node: the nearest loop or switch of the same function
    left: set[int] = set()
    left_by_return: set[int] = set()
    for node in source.tree.nodes:
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
            left.update(_broken(source, outer, around, None if label is None else source.tree.source(label)))
    return left | left_by_return


def _broken(
    source: ParsedSource, outer: SyntaxNode | None, around: list[SyntaxNode | None], label: str | None
) -> Iterator[int]:
    for _ in range(HIGHEST_CLIMB):
        if outer is None:
            return
        yield outer.index
        named = outer.parent.child("label") if outer.parent is not None else None
        if label is None or (named is not None and source.tree.source(named) == label):
            return
        outer = around[outer.index]


def _changes(source: ParsedSource, condition: SyntaxNode) -> bool:
    """Whether a name in a condition that looks constant is written to later."""
    nodes = source.tree.nodes
    index = condition.index
    while index < len(nodes) and nodes[index].start < condition.end:
        if source.is_changed(index):
            return True
        index += 1
    return False


def _runs_on(source: ParsedSource, loop: SyntaxNode) -> bool:
    condition = loop.child("condition")
    while condition is not None and condition.kind == "parenthesized_expression" and condition.children:
        condition = condition.children[0]
    if condition is None or condition.kind in ("empty_statement", ";"):
        return True
    if truth(source.value(condition)) is True:
        return not _changes(source, condition)
    operator = condition.child("operator") if condition.kind == "binary_expression" else None
    if operator is None or operator.kind not in ("<", "<=", ">", ">=", "!=", "!=="):
        return False
    side = "left" if operator.kind in (">", ">=") else "right"
    bound = source.value(condition.child(side))
    return isinstance(bound, Global) and bound.path in _INFINITE
