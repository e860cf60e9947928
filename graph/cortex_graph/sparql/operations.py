"""The operations of a SPARQL update (SPARQL 1.1 Update §3), parsed from its tokens.

Rules kept here:
- a request is parsed completely before any of it is executed;
- `GRAPH <graph> {…}` around triples to write is removed, and names their graph; it cannot be a variable;
- the label of a blank node in data belongs to one operation: a later operation cannot use it (test 54 of the W3C);
- CLEAR and DROP of ALL or NAMED graphs concern the graphs that the request may write;
- operations from graph to graph (COPY, MOVE, ADD) and on another server (LOAD) are refused, also with SILENT: it
  accepts an operation that fails, and a refused request is not executed at all;
- a request without operations is valid, and does nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field

from cortex_graph.exceptions import GraphError, NamespaceViolation
from cortex_graph.sparql.prologue import Prologue
from cortex_graph.sparql.tokens import QUERY_FORMS, UPDATE_WORDS, SparqlToken, another_server, refused

Tokens = Sequence[SparqlToken]
_IN_TRIPLES = frozenset({"a", "TRUE", "FALSE"})


@dataclass(frozen=True)
class Block:
    """Triples or a template, and the graph that is named for them."""

    graph: str | None
    tokens: Tokens


@dataclass(frozen=True)
class Data:
    """INSERT DATA or DELETE DATA."""

    prologue: Prologue
    insert: bool
    blocks: Sequence[Block]


@dataclass(frozen=True)
class Modify:
    """DELETE and INSERT with a pattern; `where` is a group with its braces."""

    prologue: Prologue
    where: Tokens
    delete: Sequence[Block] = ()
    insert: Sequence[Block] = ()
    with_graph: str | None = None
    using: list[str] = field(default_factory=list)
    using_named: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Clear:
    """CLEAR or DROP.

    Attributes:
        graph: the graph; None for the default graph.
        all: whether every graph is cleared.
    """

    graph: str | None = None
    all: bool = False


@dataclass(frozen=True)
class Create:
    """CREATE, which has no effect: every graph that may be written exists."""

    graph: str


Operation = Data | Modify | Clear | Create


def read_update(text: str, tokens: Tokens, offered: Mapping[str, str]) -> list[Operation]:
    """Parse the operations of a request.

    Raises:
        InvalidArguments: it is not an update.
        PermissionDenied: it queries another server.
        NamespaceViolation: it works from graph to graph, or on a graph that a variable names.
    """
    return _Reader(text, tokens, Prologue(text, offered)).operations()


class _Reader:
    def __init__(self, text: str, tokens: Tokens, prologue: Prologue) -> None:
        self._text = text
        self._tokens = tokens
        self._prologue = prologue
        self._at = 0
        self._labels: set[str] = set()  # of blank nodes in the data of earlier operations

    def operations(self) -> list[Operation]:
        found: list[Operation] = []
        while True:
            self._at = self._prologue.read(self._tokens, self._at)
            if self._at == len(self._tokens):
                break
            found.append(self._operation(copy(self._prologue)))
            if self._at < len(self._tokens):
                self._expect(";")
        return found

    def _operation(self, prologue: Prologue) -> Operation:
        token = self._next("an operation")
        word = token.text if token.kind == "word" else ""
        if word in ("INSERT", "DELETE", "WITH"):
            return self._write(prologue, token)
        if word in ("CLEAR", "DROP"):
            self._skip("SILENT")
            return self._clear()
        if word == "CREATE":
            self._skip("SILENT")
            self._expect("GRAPH")
            return Create(self._iri())
        if word == "LOAD":
            raise another_server(self._text, token.start, "LOAD")
        if word in ("COPY", "MOVE", "ADD"):
            raise self._elsewhere(token, f"{word} works on whole graphs")
        if word in QUERY_FORMS:
            raise refused(self._text, token.start, f"`{word}` begins a query, not an update", hint="send it as a query")
        raise refused(self._text, token.start, f"`{token.text[:40]}` is not the beginning of an operation")

    def _write(self, prologue: Prologue, token: SparqlToken) -> Operation:
        if token.text != "WITH" and self._skip("DATA"):
            blocks = self._blocks(data=True, blanks=token.text == "INSERT")
            self._check_labels(blocks)
            return Data(prologue, token.text == "INSERT", blocks)
        if token.text == "DELETE" and self._skip("WHERE"):
            start = self._at
            blocks = self._blocks(blanks=False)
            return Modify(prologue, self._tokens[start : self._at], delete=blocks)
        with_graph = None
        if token.text == "WITH":
            with_graph = self._iri()
            token = self._next("DELETE or INSERT")
        delete: Sequence[Block] = ()
        insert: Sequence[Block] = ()
        if token[:2] == ("word", "DELETE"):
            delete = self._blocks(blanks=False)
            if self._skip("INSERT"):
                insert = self._blocks()
        elif token[:2] == ("word", "INSERT"):
            insert = self._blocks()
        else:
            raise refused(self._text, token.start, f"DELETE or INSERT is expected here, not `{token.text[:40]}`")
        using: list[str] = []
        using_named: list[str] = []
        while self._skip("USING"):
            (using_named if self._skip("NAMED") else using).append(self._iri())
        self._expect("WHERE")
        return Modify(prologue, self._group(), delete, insert, with_graph, using, using_named)

    def _check_labels(self, blocks: Sequence[Block]) -> None:
        used = {token.text: token for block in blocks for token in block.tokens if token.kind == "bnode"}
        for label in used.keys() & self._labels:
            problem = f"`{label}` is the label of a blank node in an earlier operation"
            hint = "a label belongs to one operation: put the triples into one, or use another label"
            raise refused(self._text, used[label].start, problem, hint=hint)
        self._labels |= used.keys()

    def _clear(self) -> Clear:
        token = self._next("a graph")
        if token[:2] == ("word", "GRAPH"):
            return Clear(self._iri())
        if token.kind != "word" or token.text not in ("DEFAULT", "NAMED", "ALL"):
            raise refused(self._text, token.start, f"DEFAULT, NAMED, ALL or GRAPH is expected, not `{token.text[:40]}`")
        return Clear(all=token.text != "DEFAULT")

    def _blocks(self, *, data: bool = False, blanks: bool = True) -> list[Block]:
        """Parse triples in braces, some of them in `GRAPH <graph> {…}`."""
        found: list[Block] = []
        pending: list[SparqlToken] = []
        self._expect("{")
        while (token := self._next("`}`")).text != "}" or token.kind != "sign":
            if token[:2] == ("word", "GRAPH"):
                found += _block(None, pending)
                pending = []
                if self._peek().kind == "var":
                    raise self._elsewhere(token, "a variable names the graph to write to")
                graph = self._iri()
                self._expect("{")
                while (inner := self._next("`}`"))[:2] != ("sign", "}"):
                    pending.append(self._checked(inner, data=data, blanks=blanks))
                found += _block(graph, pending)
                pending = []
                self._skip(".")
            else:
                pending.append(self._checked(token, data=data, blanks=blanks))
        return found + _block(None, pending)

    def _checked(self, token: SparqlToken, *, data: bool, blanks: bool) -> SparqlToken:
        """Return a token that is allowed in triples to write."""
        if (token.kind == "word" and token.text not in _IN_TRIPLES) or token[:2] == ("sign", "{"):
            raise refused(self._text, token.start, f"`{token.text}` is not allowed in triples")
        if data and token.kind == "var":
            raise refused(self._text, token.start, "data cannot contain variables", hint="use INSERT {…} WHERE {…}")
        if not blanks and (token.kind == "bnode" or token.text in ("[", "(")) and token.kind in ("bnode", "sign"):
            raise refused(self._text, token.start, "a blank node cannot be deleted", hint="use a variable")
        return token

    def _group(self) -> Tokens:
        """Parse a group of patterns, with its braces."""
        start, depth = self._at, 0
        self._expect("{")
        self._at = start
        while True:
            token = self._next("`}`")
            if token.kind == "sign":
                depth += {"{": 1, "}": -1}.get(token.text, 0)
            elif token.kind == "word" and (token.text in UPDATE_WORDS or token.text == "FROM"):
                raise refused(self._text, token.start, f"`{token.text}` is not allowed in a pattern")
            if not depth:
                return self._tokens[start : self._at]

    def _iri(self) -> str:
        return self._prologue.iri(self._next("a graph"))

    def _peek(self) -> SparqlToken:
        return self._tokens[self._at] if self._at < len(self._tokens) else SparqlToken("sign", "", len(self._text))

    def _next(self, wanted: str) -> SparqlToken:
        if self._at == len(self._tokens):
            raise refused(self._text, len(self._text), f"the text ends where {wanted} is expected")
        token = self._tokens[self._at]
        self._at += 1
        self._prologue.count(token)
        return token

    def _skip(self, text: str) -> bool:
        token = self._peek()
        found = token.kind in ("word", "sign") and token.text == text
        self._at += found
        return found

    def _expect(self, text: str) -> None:
        token = self._next(f"`{text}`")
        if token.kind not in ("word", "sign") or token.text != text:
            raise refused(self._text, token.start, f"`{text}` is expected here, not `{token.text[:40]}`")

    def _elsewhere(self, token: SparqlToken, problem: str) -> GraphError:
        at = refused(self._text, token.start, problem)
        return NamespaceViolation(
            at.message, hint="an update writes to the graph of its namespace, named by its IRI", details=at.details
        )


def _block(graph: str | None, tokens: list[SparqlToken]) -> list[Block]:
    end = len(tokens)
    while end and tokens[end - 1][:2] == ("sign", "."):
        end -= 1
    return [Block(graph, tokens[:end])] if end else []
