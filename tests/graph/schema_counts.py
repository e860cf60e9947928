"""What a reader of all triples of a graph counts, beside what its schema states."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from pyoxigraph import NamedNode

from cortex_graph import NamespacedGraph
from cortex_graph.index.schema_in_use import RESOURCE, SchemaInUse
from cortex_graph.naming.vocabulary import TYPE
from cortex_graph.store import Pattern


def check_counts(schema: SchemaInUse, graph: NamespacedGraph) -> None:
    """Compare a schema with all triples; each example is one of them."""
    stored = [(q.subject, q.predicate, q.object) for q in graph.store.quads(Pattern(graph.names.graph))]
    types: dict[Any, list[Any]] = defaultdict(list)
    for subject, predicate, term in stored:
        if predicate == TYPE and isinstance(term, NamedNode):
            types[subject].append(term)
    sizes: dict[Any, set[Any]] = defaultdict(set)
    uses: dict[Any, Counter[Any]] = defaultdict(Counter)
    kinds: Counter[Any] = Counter()
    values: dict[Any, set[tuple[str, str]]] = defaultdict(set)
    for subject, predicate, term in stored:
        for of in types[subject] or [None]:
            sizes[of].add(subject)
            uses[of, predicate][subject] += 1
            is_node = isinstance(term, NamedNode)
            of_node = [] if predicate == TYPE else types[term]
            for kind in (of_node or [RESOURCE]) if is_node else [term.datatype]:
                kinds[of, predicate, kind, is_node] += 1
                language = "" if is_node else term.language or ""
                values[of, predicate, kind].add((term.value[: 10**9 if is_node else 100], language))
    assert schema.triples == len(stored)
    assert {each.node: each.subjects for each in schema.classes} == {of: len(each) for of, each in sizes.items()}
    for each in schema.classes:
        for use in each.predicates:
            counted = uses.pop((each.node, use.predicate))
            numbers = (len(counted), sum(counted.values()), max(counted.values()))
            assert (use.subjects, use.triples, use.most) == numbers
            for kind in use.values:
                assert kinds.pop((each.node, use.predicate, kind.kind, kind.is_node)) == kind.count
                assert (kind.example, kind.language) in values[each.node, use.predicate, kind.kind]
    assert not uses
    assert not kinds
    assert set(schema.languages) == {term.language for _, _, term in stored if getattr(term, "language", None)}
