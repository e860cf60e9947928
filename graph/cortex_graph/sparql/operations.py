"""The operations of a SPARQL update (SPARQL 1.1 Update §3), read from its tokens.

Rules kept here:
- a request is read whole before anything of it is done;
- `GRAPH <graph> {…}` around triples to write is taken off, and says where they go; a variable cannot;
- what would reach another graph as a whole (COPY, MOVE, ADD), all graphs, or another server (LOAD) is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field

from cortex_graph.errors import GraphError, NamespaceViolation
from cortex_graph.sparql.prologue import Prologue
from cortex_graph.sparql.text import Token, another_server, refused
from cortex_graph.sparql.words import QUERY_FORMS, UPDATE_WORDS

Tokens = Sequence[Token]
_IN_TRIPLES = frozenset({"a", "TRUE", "FALSE"})


@dataclass(frozen=True)
class Block:
    """Triples, or a template of some, and the graph that is named for them."""

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
    """DELETE and INSERT by a pattern; `where` is a group in its braces."""

    prologue: Prologue
    where: Tokens
    delete: Sequence[Block] = ()
    insert: Sequence[Block] = ()
    with_graph: str | None = None
    using: list[str] = field(default_factory=list)
    using_named: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Clear:
    """CLEAR or DROP of one graph; None for the default graph."""

    graph: str | None


@dataclass(frozen=True)
class Create:
    """CREATE: every graph that may be written to is there already."""

    graph: str


Operation = Data | Modify | Clear | Create


def read_update(text: str, tokens: Tokens, offered: Mapping[str, str]) -> list[Operation]:
    """The operations of a request.

    Args:
        text: the request, for errors.
        tokens: its tokens.
        offered: the prefixes that need no declaration.

    Raises:
        InvalidArguments: it is not an update.
        PermissionDenied: it asks another server.
        NamespaceViolation: it reaches for other graphs than one.

    """
    return _Reader(text, tokens, Prologue(text, offered)).operations()


class _Reader:
    def __init__(self, text: str, tokens: Tokens, prologue: Prologue) -> None:
        self._text = text
        self._tokens = tokens
        self._prologue = prologue
        self._at = 0

    def operations(self) -> list[Operation]:
        found: list[Operation] = []
        while True:
            self._at = self._prologue.read(self._tokens, self._at)
            if self._at == len(self._tokens):
                break
            found.append(self._operation(copy(self._prologue)))
            if self._at < len(self._tokens):
                self._expect(";")
        if not found:
            raise refused(self._text, 0, "the update does nothing", hint="for instance `INSERT DATA { :a :b 1 }`")
        return found

    def _operation(self, prologue: Prologue) -> Operation:
        token = self._next("an operation")
        word = token.text if token.kind == "word" else ""
        if word in ("INSERT", "DELETE", "WITH"):
            return self._write(prologue, token)
        if word in ("CLEAR", "DROP"):
            self._skip("SILENT")
            return self._clear(token)
        if word == "CREATE":
            self._skip("SILENT")
            self._expect("GRAPH")
            return Create(self._iri())
        if word == "LOAD":
            raise another_server(self._text, token.start, "LOAD stands")
        if word in ("COPY", "MOVE", "ADD"):
            raise self._elsewhere(token, f"{word} works on whole graphs")
        if word in QUERY_FORMS:
            raise refused(self._text, token.start, f"`{word}` begins a query, not an update", hint="send it as a query")
        raise refused(self._text, token.start, f"`{token.text[:40]}` begins no operation")

    def _write(self, prologue: Prologue, token: Token) -> Operation:
        if token.text != "WITH" and self._skip("DATA"):
            return Data(prologue, token.text == "INSERT", self._blocks(data=True, blanks=token.text == "INSERT"))
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
            raise refused(self._text, token.start, f"DELETE or INSERT belongs here, not `{token.text[:40]}`")
        using: list[str] = []
        using_named: list[str] = []
        while self._skip("USING"):
            (using_named if self._skip("NAMED") else using).append(self._iri())
        self._expect("WHERE")
        return Modify(prologue, self._group(), delete, insert, with_graph, using, using_named)

    def _clear(self, operation: Token) -> Clear:
        token = self._next("a graph")
        if token[:2] == ("word", "DEFAULT"):
            return Clear(None)
        if token[:2] == ("word", "GRAPH"):
            return Clear(self._iri())
        raise self._elsewhere(operation, f"{operation.text} of more than one graph")

    def _blocks(self, *, data: bool = False, blanks: bool = True) -> list[Block]:
        """Triples in braces, some of them in `GRAPH <graph> {…}`."""
        found: list[Block] = []
        some: list[Token] = []
        self._expect("{")
        while (token := self._next("`}`")).text != "}" or token.kind != "sign":
            if token[:2] == ("word", "GRAPH"):
                found += _block(None, some)
                some = []
                if self._peek().kind == "var":
                    raise self._elsewhere(token, "a variable names the graph to write to")
                graph = self._iri()
                self._expect("{")
                while (inner := self._next("`}`"))[:2] != ("sign", "}"):
                    some.append(self._checked(inner, data=data, blanks=blanks))
                found += _block(graph, some)
                some = []
                self._skip(".")
            else:
                some.append(self._checked(token, data=data, blanks=blanks))
        return found + _block(None, some)

    def _checked(self, token: Token, *, data: bool, blanks: bool) -> Token:
        """A token that may stand in triples to write."""
        if (token.kind == "word" and token.text not in _IN_TRIPLES) or token[:2] == ("sign", "{"):
            raise refused(self._text, token.start, f"`{token.text}` has no place among triples")
        if data and token.kind == "var":
            raise refused(self._text, token.start, "data holds no variables", hint="use INSERT {…} WHERE {…}")
        if not blanks and (token.kind == "bnode" or token.text in ("[", "(")) and token.kind in ("bnode", "sign"):
            raise refused(self._text, token.start, "a blank node names nothing to delete", hint="use a variable")
        return token

    def _group(self) -> Tokens:
        """A group of patterns, in its braces."""
        start, depth = self._at, 0
        self._expect("{")
        self._at = start
        while True:
            token = self._next("`}`")
            if token.kind == "sign":
                depth += {"{": 1, "}": -1}.get(token.text, 0)
            elif token.kind == "word" and (token.text in UPDATE_WORDS or token.text == "FROM"):
                raise refused(self._text, token.start, f"`{token.text}` has no place in a pattern")
            if not depth:
                return self._tokens[start : self._at]

    def _iri(self) -> str:
        return self._prologue.iri(self._next("a graph"))

    def _peek(self) -> Token:
        return self._tokens[self._at] if self._at < len(self._tokens) else Token("sign", "", len(self._text))

    def _next(self, wanted: str) -> Token:
        if self._at == len(self._tokens):
            raise refused(self._text, len(self._text), f"the text ends where {wanted} belongs")
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
            raise refused(self._text, token.start, f"`{text}` belongs here, not `{token.text[:40]}`")

    def _elsewhere(self, token: Token, problem: str) -> GraphError:
        at = refused(self._text, token.start, problem)
        return NamespaceViolation(
            at.message, hint="an update writes to the graph of its namespace, named by its IRI", details=at.details
        )


def _block(graph: str | None, tokens: list[Token]) -> list[Block]:
    end = len(tokens)
    while end and tokens[end - 1][:2] == ("sign", "."):
        end -= 1
    return [Block(graph, tokens[:end])] if end else []
