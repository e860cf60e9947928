"""The syntax tree of one source file as plain Python nodes.

Rules kept here:
- only this module uses tree-sitter, and it is imported when the first file is scanned;
- every walk is a loop: no nesting in a source can exhaust Python's stack;
- the work of the parser is bounded by the length of the text: `parse` stops at text that needs more (deep error
  recovery is quadratic in tree-sitter), and the scan rejects such text;
- the tree has the named nodes, and the tokens that have a field or distinguish a type from code. Comments are in the
  list of nodes but are not children.

The TypeScript grammar parses every file; `SyntaxTree.is_javascript` is True where that grammar may read as a type what
a JavaScript engine runs as code.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tree_sitter import Language

JSX_SUFFIXES = frozenset({".tsx", ".jsx"})
JAVASCRIPT_SUFFIXES = frozenset({".js", ".jsx", ".mjs", ".cjs"})
TYPESCRIPT_SUFFIXES = frozenset({".ts", ".tsx", ".mts", ".cts"})
SOURCE_SUFFIXES = JAVASCRIPT_SUFFIXES | TYPESCRIPT_SUFFIXES

LINE_END = re.compile("[\n\r\u2028\u2029]")
_LINE_ENDS_IN_UTF8 = re.compile(rb"\r\n|\n|\r|\xe2\x80[\xa8\xa9]")

# The root nodes of types, which are erased before the code runs.
TYPE_KINDS = frozenset({
    "abstract_method_signature", "adding_type_annotation", "ambient_declaration", "array_type",
    "asserts_annotation", "conditional_type", "constructor_type", "existential_type", "flow_maybe_type",
    "function_signature", "function_type", "generic_type", "implements_clause", "index_signature",
    "index_type_query", "infer_type", "interface_declaration", "intersection_type", "literal_type", "lookup_type",
    "method_signature", "nested_type_identifier", "object_type", "omitting_type_annotation",
    "opting_type_annotation", "parenthesized_type", "predefined_type", "readonly_type", "template_literal_type",
    "this_type", "tuple_type", "type_alias_declaration", "type_annotation", "type_arguments", "type_parameters",
    "type_predicate_annotation", "type_query", "union_type",
})  # fmt: skip
_KEPT_TOKENS = frozenset({"as", "satisfies", "type", "declare", "interface"})
_COMMENTS = frozenset({"comment", "html_comment", "hash_bang_line"})
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")

# A callback of tree-sitter comes after about 100 steps of its parser; ordinary code needs one for every 35 bytes.
_STEPS_AT_LEAST = 4_000
_BYTES_A_STEP = 4
_CHUNK = 1 << 16


class ParseTooCostlyError(Exception):
    """The text needs more work than its length allows: it is invalid, or written to keep a parser busy."""


class SyntaxNode:
    """A node of the syntax tree.

    Attributes:
        kind: the node type of tree-sitter, such as `call_expression`.
        field: the role in its parent (`function`, `left`, ...), or None.
        start, end: the byte range in the UTF-8 text.
        index: the position in `SyntaxTree.nodes`.
        in_type: True inside a type, which is erased before the code runs.
    """

    __slots__ = ("children", "end", "field", "in_type", "index", "kind", "parent", "start")

    def __init__(
        self, kind: str, field: str | None, start: int, end: int, parent: SyntaxNode | None, index: int
    ) -> None:
        self.kind = kind
        self.field = field
        self.start = start
        self.end = end
        self.parent = parent
        self.index = index
        self.children: list[SyntaxNode] = []
        self.in_type: bool = kind in TYPE_KINDS or (parent is not None and parent.in_type)

    def child(self, name: str) -> SyntaxNode | None:
        """The first child whose field is `name`."""
        for node in self.children:
            if node.field == name:
                return node
        return None


@dataclass(frozen=True)
class SyntaxTree:
    """A parsed file: `nodes` in the order of the text, and `postorder` with children before their parents."""

    text: str
    data: bytes
    filename: str
    nodes: list[SyntaxNode]
    postorder: list[SyntaxNode]
    by_kind: dict[str, list[SyntaxNode]] = field(repr=False)

    @property
    def is_javascript(self) -> bool:
        """True when the suffix of the file is one of JavaScript."""
        return PurePosixPath(self.filename).suffix.lower() in JAVASCRIPT_SUFFIXES

    def of_kind(self, *kinds: str) -> Iterator[SyntaxNode]:
        """Every node of these kinds."""
        for kind in kinds:
            yield from self.by_kind.get(kind, ())

    def source(self, node: SyntaxNode) -> str:
        """The source text of `node`."""
        return self.between(node.start, node.end)

    def between(self, start: int, end: int) -> str:
        """The text between two byte offsets."""
        return self.data[start:end].decode("utf-8", "replace")

    def position(self, offset: int) -> tuple[int, int]:
        """The line and the column, both from 1, of a byte offset; columns in code points."""
        row = bisect_right(self._line_starts, offset) - 1
        return row + 1, len(self.between(self._line_starts[row], offset)) + 1

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in _LINE_ENDS_IN_UTF8.finditer(self.data))]


def parse(text: str, filename: str) -> SyntaxTree:
    """Parse `text` with the grammar that the suffix of `filename` selects.

    Raises:
        ParseTooCostlyError: the parser would need more than linear time.
    """
    from tree_sitter import Parser

    # U+FFFD has three bytes like the surrogate that it replaces, so positions do not change.
    data = _LONE_SURROGATE.sub("�", text).encode()
    language, names = _grammar(PurePosixPath(filename).suffix.lower() in JSX_SUFFIXES)
    budget = _STEPS_AT_LEAST + len(data) // _BYTES_A_STEP
    steps = 0

    def read(offset: int, _point: object) -> bytes:
        return data[offset : offset + _CHUNK]

    def give_up(_offset: int, _failed: bool) -> bool:
        nonlocal steps
        steps += 1
        return steps > budget

    try:
        parsed = Parser(language).parse(read, progress_callback=give_up)
    except ValueError as error:
        raise ParseTooCostlyError(filename) from error
    return _copy(parsed.walk(), names, parsed.root_node.has_error, text, data, filename)


def _copy(cursor: Any, names: list[str | None], failed: bool, text: str, data: bytes, filename: str) -> SyntaxTree:
    nodes: list[SyntaxNode] = []
    postorder: list[SyntaxNode] = []
    by_kind: dict[str, list[SyntaxNode]] = {}
    parent: SyntaxNode | None = None
    while True:
        raw = cursor.node
        kind_id = raw.kind_id
        name = names[kind_id] if kind_id < len(names) else "ERROR"
        role = cursor.field_name
        node: SyntaxNode | None = None
        if name is not None or role is not None:
            node = SyntaxNode(name or raw.type, role, raw.start_byte, raw.end_byte, parent, len(nodes))
            nodes.append(node)
            by_kind.setdefault(node.kind, []).append(node)
            if parent is not None and node.kind not in _COMMENTS:
                parent.children.append(node)
        if failed and (raw.is_error or raw.is_missing):
            if node is None:
                node = SyntaxNode("ERROR", role, raw.start_byte, raw.end_byte, parent, len(nodes))
                nodes.append(node)
            by_kind.setdefault("ERROR", []).append(node)
        if cursor.goto_first_child():
            parent = node
            continue
        if node is not None:
            postorder.append(node)
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return SyntaxTree(text, data, filename, nodes, postorder, by_kind)
            if parent is not None:
                postorder.append(parent)
                parent = parent.parent


@lru_cache(maxsize=2)
def _grammar(jsx: bool) -> tuple[Language, list[str | None]]:
    """The language and, by kind id, the name of each node to keep (None: the token is dropped)."""
    import tree_sitter_typescript
    from tree_sitter import Language

    language = Language(tree_sitter_typescript.language_tsx() if jsx else tree_sitter_typescript.language_typescript())
    names: list[str | None] = []
    for kind_id in range(language.node_kind_count):
        name = language.node_kind_for_id(kind_id)
        kept = language.node_kind_is_named(kind_id) or name in _KEPT_TOKENS
        names.append(name if kept else None)
    return language, names
