"""Which shapes there are for the statements of a namespace, and who may read them.

Rules kept here:
- the shapes of the host for the namespace, and those of the skills that act in it, are shown to callers with a token;
- shapes in the graph are statements, as readable as others. Of these, the ones that target some nodes are one rule set,
  which passes the checks of every rule set (`skill_folder/rule_set.py`): any writer of the graph may have written them;
- a node of the namespace that stands for a blank node (`NS:genid:…`) is a blank node in that rule set, since the
  syntax of paths distinguishes the two (SHACL §2.3.1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING

from pyoxigraph import Literal, NamedNode, Quad, Triple

from cortex_graph import NamespacedGraph
from cortex_graph.naming.names import WELL_KNOWN_VOCABULARIES
from cortex_graph.naming.vocabulary import TYPE
from cortex_graph.store import Pattern
from cortex_skills.errors import CortexError
from cortex_skills.features.proofs.proving import prover_of
from cortex_skills.skill_folder.rule_set import MAX_TRIPLES, RuleSet, read_rules

if TYPE_CHECKING:
    from cortex_skills.gate.gate import Gate
    from cortex_skills.host import Host
    from cortex_skills.runtime.skill import Skill

SH = "http://www.w3.org/ns/shacl#"
IN_GRAPH = "the graph"
_RDF = WELL_KNOWN_VOCABULARIES["rdf"]
_SUBCLASS = NamedNode(f"{WELL_KNOWN_VOCABULARIES['rdfs']}subClassOf")
_NODE_SHAPE = NamedNode(f"{SH}NodeShape")
_TARGET_CLASS, _TARGET_NODE, _SUBJECTS_OF, _OBJECTS_OF = (
    NamedNode(f"{SH}target{name}") for name in ("Class", "Node", "SubjectsOf", "ObjectsOf")
)
_OF_SHAPES = (SH, f"{_RDF}first", f"{_RDF}rest")
_MOST = 200  # triples of one pattern that are read
_CLASSES = 100  # of a node, with their superclasses

Node = NamedNode | Literal


class ActingRules:
    """The skills that act in the namespace of a host; none in a namespace beside that of the plugin."""

    def __init__(self, _: Host) -> None:
        self.active: Callable[[], Mapping[str, Skill]] = dict


def attach(gate: Gate) -> None:
    """Let operations know which skills act."""
    gate.host.part(ActingRules).active = lambda: gate.active.skills


def rule_sets(host: Host, *, is_anonymous: bool) -> Iterator[RuleSet]:
    """The shapes of a namespace and of the skills that act in it, for a caller who may read them.

    Args:
        host: of the namespace.
        is_anonymous: whether the caller showed no token.

    Raises:
        CortexError: `config_invalid`: the configured shapes are not valid.
    """
    if is_anonymous:
        return
    own = host.part(prover_of).namespace_rules
    if own is not None:
        yield own
    for skill in host.part(ActingRules).active().values():
        if skill.rules is not None:
            yield skill.rules


def stated_classes(graph: NamespacedGraph, node: NamedNode) -> list[NamedNode]:
    """The classes that a node states itself."""
    return _named(_read(graph, node, TYPE))


def classes_of(graph: NamespacedGraph, stated: Iterable[NamedNode]) -> list[NamedNode]:
    """Classes and their superclasses, the nearest first.

    Args:
        graph: the graph.
        stated: the classes.
    """
    found: dict[NamedNode, None] = {}
    waiting = list(stated)
    while waiting and len(found) < _CLASSES:
        kind, *waiting = waiting
        if kind not in found:
            found[kind] = None
            waiting += _named(_read(graph, kind, _SUBCLASS))
    return list(found)


def shapes_in_graph(graph: NamespacedGraph, nodes: Iterable[Node], inserted: Quad | None = None) -> RuleSet | None:
    """The shapes in a graph that target some nodes; None without any.

    Args:
        graph: the graph.
        nodes: the nodes.
        inserted: a statement that is to be in the graph, too.

    Raises:
        CortexError: `manifest_invalid`: they are too many, or have unsupported terms.
    """
    own = dict.fromkeys(_targets(graph, nodes, inserted))
    triples = [Triple(shape, _TARGET_CLASS, shape) for shape, is_class in own if is_class]
    found: set[NamedNode] = set()
    waiting = [shape for shape, _ in own]
    while waiting and len(triples) <= MAX_TRIPLES:
        shape = waiting.pop()
        if shape in found:
            continue
        found.add(shape)
        for quad in _all(graph, shape):
            is_type = quad.predicate == TYPE and isinstance(quad.object, NamedNode) and quad.object.value.startswith(SH)
            if is_type or quad.predicate.value.startswith(_OF_SHAPES):
                triples.append(quad.triple)
                if not is_type and quad.predicate not in _LEAVES and isinstance(quad.object, NamedNode):
                    waiting.append(quad.object)
    return read_rules(_turtle(graph, triples), IN_GRAPH) if own else None


_LEAVES = frozenset(
    (
        *(_TARGET_CLASS, _TARGET_NODE, _SUBJECTS_OF, _OBJECTS_OF),
        *(NamedNode(f"{SH}{name}") for name in ("class", "datatype", "hasValue", "nodeKind", "severity", "equals")),
        *(NamedNode(f"{SH}{name}") for name in ("disjoint", "lessThan", "lessThanOrEquals")),
    )
)


def _targets(graph: NamespacedGraph, nodes: Iterable[Node], inserted: Quad | None) -> Iterator[tuple[NamedNode, bool]]:
    """The shapes that may target some nodes, and whether each is the class that it targets."""
    for node in nodes:
        yield from ((shape, False) for shape in _subjects(graph, _TARGET_NODE, node))
        if isinstance(node, Literal):
            continue
        given = [inserted] if inserted is not None and (inserted.subject, inserted.predicate) == (node, TYPE) else []
        classes = classes_of(graph, [*stated_classes(graph, node), *_named(given)])
        if len(classes) >= _CLASSES:
            raise _too_many()
        for kind in classes:
            yield from ((shape, False) for shape in _subjects(graph, _TARGET_CLASS, kind))
            if any(_read(graph, kind, TYPE, _NODE_SHAPE)):
                yield kind, True
    for target in (_SUBJECTS_OF, _OBJECTS_OF):
        yield from ((shape, False) for shape in _subjects(graph, target))


def _turtle(graph: NamespacedGraph, triples: Iterable[Triple]) -> str:
    """Triples as lines, in which described nodes of `NS:genid:…` are blank nodes."""
    start = f"{graph.names.start}genid:"
    described = {str(triple.subject) for triple in triples if str(triple.subject).startswith(f"<{start}")}
    blank = {name: f"_:b{number}" for number, name in enumerate(sorted(described))}
    lines = (
        " ".join(blank.get(str(part), str(part)) for part in (triple.subject, triple.predicate, triple.object))
        for triple in triples
    )
    return "".join(f"{line} .\n" for line in sorted(set(lines)))


def _read(
    graph: NamespacedGraph,
    subject: NamedNode | None,
    predicate: NamedNode | None = None,
    object_: Node | None = None,
    most: int = _MOST,
) -> list[Quad]:
    return list(islice(graph.store.quads(Pattern(graph.names.graph, subject, predicate, object_)), most))


def _all(
    graph: NamespacedGraph,
    subject: NamedNode | None,
    predicate: NamedNode | None = None,
    object_: Node | None = None,
) -> list[Quad]:
    quads = _read(graph, subject, predicate, object_, _MOST + 1)
    if len(quads) > _MOST:
        raise _too_many()
    return quads


def _too_many() -> CortexError:
    hint = "write them to the file that `proofs.shapes` names for the namespace"
    return CortexError("manifest_invalid", f"the shapes of {IN_GRAPH} are more than are read here", hint=hint)


def _subjects(graph: NamespacedGraph, predicate: NamedNode, object_: Node | None = None) -> list[NamedNode]:
    return [quad.subject for quad in _all(graph, None, predicate, object_) if isinstance(quad.subject, NamedNode)]


def _named(quads: Iterable[Quad]) -> list[NamedNode]:
    return [quad.object for quad in quads if isinstance(quad.object, NamedNode)]
