"""`model-instruction`, `likely-instruction`, `hidden-characters` in code: what comments and strings say to a model.

Rules kept here:
- comments in a row are read as one, and so is a text that is put together from constants;
- a place that cannot be seen is shown by its escapes, wherever it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from cortex_skills.scanner.prose import HIDDEN, SHORTEST, hidden_in, judge_code
from cortex_skills.scanner.rules.hit import Hit
from cortex_skills.scanner.tree import Node

if TYPE_CHECKING:
    from cortex_skills.scanner.program import Program
    from cortex_skills.scanner.tree import Tree

_TEXTS = ("string", "template_string", "jsx_text")
_JOINED = ("binary_expression", "call_expression")
_COMMENT_SIGNS = re.compile(r"^[ \t]*(?://+|/\*+|\*+/?|<!--)[ \t]?|\*+/[ \t]*$|-->[ \t]*$", re.MULTILINE)
_MOST_HIDDEN = 200
_IN_A_ROW = re.compile(r"[ \t]*(?:\r\n?|\n)[ \t]*")


def find(program: Program) -> Iterator[Hit]:
    """Every comment and string that speaks to a model, and every place that hides something."""
    tree = program.tree
    for first, text in _comments(tree):
        yield from _judged(first, text, is_comment=True)
    for node in tree.of_kind(*_TEXTS):
        if node.end - node.start >= SHORTEST and not node.in_type and not _is_part(program, node):
            yield from _judged(node, program.text_of(node), is_comment=False)
    for node in tree.of_kind(*_JOINED):
        value = program.facts.value(node)
        if isinstance(value, str) and not _is_part(program, node):
            yield from _judged(node, value, is_comment=False)
    yield from _hidden(tree)


def _judged(node: Node, text: str, *, is_comment: bool) -> Iterator[Hit]:
    rule = judge_code(text, is_comment=is_comment)
    if rule is not None:
        where = "comment" if is_comment else "text"
        yield Hit(rule, node, f"this {where} tells a model what to do")


def _is_part(program: Program, node: Node) -> bool:
    """Whether a text is a piece of a longer one that is known, and judged instead."""
    outer = node.parent
    for _ in range(2):  # a call of a method has its member between, a template its substitution
        if outer is None:
            return False
        if isinstance(program.facts.value(outer), str):
            return True
        outer = outer.parent
    return False


def _comments(tree: Tree) -> Iterator[tuple[Node, str]]:
    """Each comment, and the text of it and of those that follow in lines of their own."""
    first: Node | None = None
    end, parts = 0, [""]
    for node in tree.of_kind("comment"):
        source = tree.source(node)
        follows = source.startswith("//") and parts[-1].startswith("//")
        if first is None or not follows or not _IN_A_ROW.fullmatch(tree.between(end, min(node.start, end + 400))):
            if first is not None:
                yield first, _COMMENT_SIGNS.sub("", "\n".join(parts))
            first, parts = node, []
        parts.append(source)
        end = node.end
    if first is not None:
        yield first, _COMMENT_SIGNS.sub("", "\n".join(parts))


def _hidden(tree: Tree) -> Iterator[Hit]:
    offset, place = 0, 0
    for start, end in islice(hidden_in(tree.text), _MOST_HIDDEN + 1):
        offset += len(tree.text[place:start].encode("utf-8", "surrogatepass"))
        length = len(tree.text[start:end].encode("utf-8", "surrogatepass"))
        yield Hit(HIDDEN, Node("text", None, offset, offset + length, None, -1), "characters that a reader cannot see")
        offset, place = offset + length, end
