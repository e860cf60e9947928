"""`model-instruction`, `likely-instruction`, `hidden-characters`: comments and strings that address a model.

Rules kept here:
- consecutive comments are judged as one text, and so are texts that are concatenated from constants;
- a string is critical inside `onQuery`, or where `onQuery` names the constant that holds it; elsewhere it is a warning,
  since a defensive skill contains the texts that it searches for. What `onQuery` returns is judged again when it runs;
- hidden characters are reported anywhere in the source, with their escapes as evidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from cortex_skills.scanner.parsed_source import ParsedSource
from cortex_skills.scanner.prose import HIDDEN, RULES, SHORTEST, hidden_in, judge_comment, judge_string
from cortex_skills.scanner.rule import Hit
from cortex_skills.scanner.tree import SyntaxNode, SyntaxTree

__all__ = ["RULES", "find"]

_TEXTS = ("string", "template_string", "jsx_text")
_JOINED = ("binary_expression", "call_expression")
_DEFINITIONS = ("method_definition", "pair", "function_declaration", "variable_declarator")
_COMMENT_SIGNS = re.compile(r"^[ \t]*(?://+|/\*+|\*+/?|<!--)[ \t]?|\*+/[ \t]*$|-->[ \t]*$", re.MULTILINE)
_MOST_HIDDEN = 200
_IN_A_ROW = re.compile(r"[ \t]*(?:\r\n?|\n)[ \t]*")


def find(source: ParsedSource) -> Iterator[Hit]:
    """Every comment and string that addresses a model, and every run of hidden characters."""
    tree = source.tree
    for first, text in _comments(tree):
        if rule := judge_comment(text):
            yield Hit(rule, first, "this comment instructs a model")
    hooks = list(_query_hooks(tree))
    for node, text in _strings(source):
        is_answer = any(hook.start <= node.start and node.end <= hook.end for hook in hooks)
        if (is_answer or node.kind != "identifier") and (rule := judge_string(text, is_answer=is_answer)):
            yield Hit(rule, node, "this text instructs a model")
    yield from _hidden(tree)


def _strings(source: ParsedSource) -> Iterator[tuple[SyntaxNode, str]]:
    """The strings of a file, and the names of constants that are one; text in a longer constant is part of that."""
    for node in source.tree.of_kind(*_TEXTS):
        if node.end - node.start >= SHORTEST and not node.in_type and not _is_part(source, node):
            yield node, source.text_of(node)
    for node in source.tree.of_kind(*_JOINED, "identifier"):
        value = source.value(node)
        if isinstance(value, str) and not _is_part(source, node):
            yield node, value


def _query_hooks(tree: SyntaxTree) -> Iterator[SyntaxNode]:
    """The definitions named `onQuery`."""
    for node in tree.of_kind(*_DEFINITIONS):
        name = next((child for child in node.children if child.field in ("name", "key")), None)
        if name is not None and tree.source(name).strip("\"'") == "onQuery":
            yield node


def _is_part(source: ParsedSource, node: SyntaxNode) -> bool:
    """Whether a text is part of a longer constant, which is judged instead."""
    outer = node.parent
    for _ in range(2):  # skips the member of a method call, and the substitution of a template
        if outer is None:
            return False
        if isinstance(source.value(outer), str):
            return True
        outer = outer.parent
    return False


def _comments(tree: SyntaxTree) -> Iterator[tuple[SyntaxNode, str]]:
    """Each comment with its text and that of the line comments directly below it."""
    first: SyntaxNode | None = None
    end, parts = 0, [""]
    for node in tree.of_kind("comment"):
        text = tree.source(node)
        follows = text.startswith("//") and parts[-1].startswith("//")
        if first is None or not follows or not _IN_A_ROW.fullmatch(tree.between(end, min(node.start, end + 400))):
            if first is not None:
                yield first, _COMMENT_SIGNS.sub("", "\n".join(parts))
            first, parts = node, []
        parts.append(text)
        end = node.end
    if first is not None:
        yield first, _COMMENT_SIGNS.sub("", "\n".join(parts))


def _hidden(tree: SyntaxTree) -> Iterator[Hit]:
    offset, place = 0, 0
    for start, end in islice(hidden_in(tree.text), _MOST_HIDDEN + 1):
        offset += len(tree.text[place:start].encode("utf-8", "surrogatepass"))
        length = len(tree.text[start:end].encode("utf-8", "surrogatepass"))
        yield Hit(
            HIDDEN,
            SyntaxNode("text", None, offset, offset + length, None, -1),
            "characters that are invisible to a reader",
        )
        offset, place = offset + length, end
