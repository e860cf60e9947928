"""The quads of several patterns, in one query.

Rules kept here:
- patterns that differ in one node only are one branch of the query, with these nodes as its VALUES: a query of many
  patterns is short, and so is the time in which a server compiles it;
- a row has the number of its branch, and the node of its pattern, which must be one of those that were asked for;
- a branch of patterns that may have too many quads (`UpTo`) is read up to that number. Where it has more, none of its
  patterns has an answer, and where the texts of all are too long, nothing has.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace

from pyoxigraph import Literal, NamedNode, Quad, QuerySolution

from cortex_graph.exceptions import GraphUnavailable
from cortex_graph.store import Pattern
from cortex_graph.store_access.read_ahead import Ahead, UpTo, WholeSubjects
from cortex_graph.stores.remote.engines import EngineProfile
from cortex_graph.stores.remote.sparql_texts import digits_of, group_of, is_compared_here, optional_term, read_row

BRANCHES = 50  # in one query; some servers compile no more
_NODES = 100  # in the VALUES of a branch
_ALL_NODES = 500  # in one query
_MOST_TEXT = 16 << 20  # characters of what is read up to a number

Rows = Callable[[str], Generator[QuerySolution, None, None]]


@dataclass
class _Branch:
    """Patterns that differ in one node.

    Attributes:
        like: one of them.
        part: the part of the pattern that is this node; empty where a pattern is a branch of its own.
        places: the places of the patterns among those that are asked for, by their nodes.
        most: how many quads they may have together; None for any number.
        read: how many rows of it were read.
    """

    like: Pattern | WholeSubjects
    part: str
    places: dict[NamedNode | None, list[int]] = field(default_factory=dict)
    most: int | None = None
    read: int = 0

    def text(self, number: int, engine: EngineProfile) -> str:
        """The branch of the query."""
        group = self._group(engine)
        if self._has_values:
            group = f"VALUES ?x {{ {' '.join(map(str, self.places))} }} {group}"
        if self.most is None:
            return f"{{ {group} BIND({number} AS ?i) }}"
        return f"{{ SELECT ({number} AS ?i) ?x ?s ?p ?o {{ {group} }} LIMIT {self.most + 1} }}"

    def quad_of(self, row: QuerySolution, engine: EngineProfile) -> tuple[list[int], Quad | None]:
        """The places of the patterns that a row is of, and its quad; None where that only has an equal value."""
        node = _known(row, self.places) if self._has_values else next(iter(self.places))
        wanted = self.like if node is None else _with(self.like, self.part, node)
        if isinstance(wanted, WholeSubjects):
            wanted = Pattern(wanted.pattern.graph, None if wanted.of_objects else wanted.pattern.subject)
        self.read += 1
        return self.places[node], read_row(row, wanted, engine)

    @property
    def is_cut(self) -> bool:
        """Whether it has more quads than it may have."""
        return self.most is not None and self.read > self.most

    @property
    def _has_values(self) -> bool:
        return len(self.places) > 1

    def _group(self, engine: EngineProfile) -> str:
        like = self.like
        pattern = plain_pattern(like)
        if isinstance(like, Pattern) and not self._has_values:
            return group_of(pattern, engine)
        terms = {part: getattr(pattern, part) or f"?{part[0]}" for part in ("subject", "predicate", "object_")}
        if self._has_values:
            terms[self.part] = "?x"
        subject, predicate, object_ = terms.values()
        if isinstance(like, Pattern):
            return f"GRAPH {pattern.graph} {{ {subject} {predicate} {object_} }}"
        predicate = pattern.predicate or "?q"
        if like.of_objects:
            start = "?y" if subject == "?s" else subject
            return f"GRAPH {pattern.graph} {{ {start} {predicate} ?s . ?s ?p ?o }}"
        end = "?y" if object_ == "?o" else object_
        also = "".join(f"{subject} {has} {what or f'?z{place}'} . " for place, (has, what) in enumerate(like.also))
        found = f"GRAPH {pattern.graph} {{ {subject} {predicate} {end} . {also}{subject} ?p ?o }}"
        absent = (f" FILTER NOT EXISTS {{ GRAPH {pattern.graph} {{ {subject} {each} ?w }} }}" for each in like.lacks)
        return found + "".join(absent)


def plain_pattern(wanted: Ahead) -> Pattern:
    """Return the pattern by which something is found."""
    wanted = wanted.of if isinstance(wanted, UpTo) else wanted
    return wanted if isinstance(wanted, Pattern) else wanted.pattern


def gathered_rows(rows: Rows, wanted: Sequence[Ahead], engine: EngineProfile) -> list[list[Quad] | None]:
    """Return the quads of each of some patterns; None where they are too many.

    Args:
        rows: sends a query.
        wanted: the patterns; each has terms that the server can store.
        engine: the kind of server.

    Raises:
        GraphUnavailable: the server returns something else.
    """
    found: list[list[Quad] | None] = [[] for _ in wanted]
    branches = _branches(wanted, engine)
    room = _MOST_TEXT
    for some in _queries(branches):
        union = " UNION ".join(branch.text(number, engine) for number, branch in enumerate(some))
        with closing(rows(f"SELECT ?i ?x ?s ?p ?o{digits_of(engine)} {{ {union} }}")) as answer:
            for row in answer:
                branch = some[_number(row, len(some))]
                places, quad = branch.quad_of(row, engine)
                if quad is None:
                    continue
                if branch.most is not None and isinstance(quad.object, Literal):
                    room -= len(quad.object.value)
                    if room < 0:
                        return [None] * len(wanted)
                for place in places:
                    found[place].append(quad)  # type: ignore[union-attr]
    for branch in branches:
        if branch.is_cut:
            for place in (place for places in branch.places.values() for place in places):
                found[place] = None
    return found


def _branches(wanted: Sequence[Ahead], engine: EngineProfile) -> list[_Branch]:
    """Group patterns that differ in one node."""
    branches: list[_Branch] = []
    open_: dict[object, _Branch] = {}
    for place, each in enumerate(wanted):
        like, most = (each.of, each.most) if isinstance(each, UpTo) else (each, None)
        part = _part(like, engine)
        node = getattr(plain_pattern(like), part) if part else None
        kind = (_with(like, part, None) if part else place, part, most is None)
        branch = open_.get(kind)
        if branch is None or (len(branch.places) >= _NODES and node not in branch.places):
            branch = open_[kind] = _Branch(like, part)
            branches.append(branch)
        if most is not None and node not in branch.places:
            branch.most = (branch.most or 0) + most
        branch.places.setdefault(node, []).append(place)
    return branches


def _queries(branches: Sequence[_Branch]) -> Iterator[list[_Branch]]:
    some: list[_Branch] = []
    nodes = 0
    for branch in branches:
        if some and (len(some) == BRANCHES or nodes + len(branch.places) > _ALL_NODES):
            yield some
            some, nodes = [], 0
        some.append(branch)
        nodes += len(branch.places)
    if some:
        yield some


def _part(like: Pattern | WholeSubjects, engine: EngineProfile) -> str:
    """The part of a pattern in which others of its branch may differ; empty if there is none."""
    pattern = plain_pattern(like)
    if is_compared_here(pattern, engine):
        return ""
    if pattern.subject is not None:
        return "subject"
    return "object_" if isinstance(pattern.object_, NamedNode) else ""


def _with(like: Pattern | WholeSubjects, part: str, node: NamedNode | None) -> Pattern | WholeSubjects:
    pattern = plain_pattern(like)
    pattern = replace(pattern, subject=node) if part == "subject" else replace(pattern, object_=node)
    return pattern if isinstance(like, Pattern) else replace(like, pattern=pattern)


def _known(row: QuerySolution, places: dict[NamedNode | None, list[int]]) -> NamedNode:
    node = optional_term(row, "x")
    if not isinstance(node, NamedNode) or node not in places:
        raise _else("the node of a pattern", node)
    return node


def _number(row: QuerySolution, count: int) -> int:
    number = optional_term(row, "i")
    if not isinstance(number, Literal) or number.value not in map(str, range(count)):
        raise _else("the index of a pattern", number)
    return int(number.value)


def _else(what: str, term: object) -> GraphUnavailable:
    hint = "see whether this is a SPARQL 1.1 server"
    return GraphUnavailable(f"a row of the result has {str(term)[:200]} for {what}", hint=hint)
