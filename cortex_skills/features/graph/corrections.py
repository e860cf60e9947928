"""Corrections of statements, for every interface: one, or all that name a thing which is the same as another.

Rules kept here:
- correcting a statement is withdrawing it and asserting another one, so it needs what each of them needs, and is done
  in the name of the caller (`statement_changes.py`);
- two things are merged by correcting each statement that names one of them, at most `MOST`; that they are the same is
  asserted (`owl:sameAs`). `graph.preview_merge` returns what would be done.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from annotated_types import Len
from pyoxigraph import NamedNode, Quad
from typing_extensions import TypedDict

from cortex_graph import GraphError, NamespacedGraph, Provenance
from cortex_graph.namespace.about import about_triples
from cortex_graph.namespace.revisions import Revision, revise, revision_for
from cortex_graph.namespace.short_ids import full_triple_id
from cortex_graph.naming.names import WELL_KNOWN_VOCABULARIES
from cortex_graph.store import Pattern
from cortex_skills.errors import CortexError
from cortex_skills.features.graph.statement_changes import (
    MAX_REASON,
    absent,
    check_may_withdraw,
    state_of_statement,
)
from cortex_skills.operations.operation import Described, ObjectState, OperationCall, operation

if TYPE_CHECKING:
    from cortex_graph.store_access.read_ahead import Ahead

MOST = 1_000  # statements of a merge
_SAME_AS = NamedNode(f"{WELL_KNOWN_VOCABULARIES['owl']}sameAs")

Reason = Annotated[str, Len(0, MAX_REASON), Described("Why; the audit keeps it.")]


class CorrectedStatement(TypedDict):
    """A statement, and the one in its place: `created` is false if that was in the graph before."""

    old: dict[str, Any]
    new: dict[str, Any]
    created: bool


@dataclass(frozen=True, slots=True)
class StatementInPlace:
    """The id of a statement, or its first digits, and the parts of the one in its place that differ."""

    triple: Annotated[str, Len(1, 64), Described("The id of the triple, or its first six digits.")]
    subject: Annotated[str | None, Described("In place of its subject.")] = None
    predicate: Annotated[str | None, Described("In place of its predicate.")] = None
    object: Annotated[Any, Described("In place of its object; null keeps it.")] = None
    reason: Reason = ""


@operation("graph.preview_correction", effect="reads", permission="read")
def preview_correction(call: OperationCall, given: StatementInPlace) -> CorrectedStatement:
    """Return what `graph.correct` would do."""
    revision = revision_for(call.host.graph, *statement_in_place(call, given))
    if revision is None:
        raise absent(call.host.graph, given.triple)
    return _corrected(call.host.graph, revision)


def _ahead_of_correction(call: OperationCall, given: StatementInPlace) -> Iterator[Ahead]:
    graph = call.host.graph
    old_id = full_triple_id(graph, given.triple)
    old, new = graph.index.recent.quad(old_id), []
    if old is not None:
        row, named = graph.as_json(old), _named(graph, given)
        new = [graph.quad_of({part: row[part] if value is None else value for part, value in named.items()})]
    return about_triples(graph, [old_id], new)


@operation(
    "graph.correct",
    effect="changes",
    permission="write",
    object_="triple",
    state=state_of_statement,
    ahead=_ahead_of_correction,
)
def correct(call: OperationCall, given: StatementInPlace) -> CorrectedStatement:
    """Withdraw a statement, and assert another one in its place, in one step.

    The record of the new statement has `prov:wasRevisionOf` the withdrawn record.
    """
    graph = call.host.graph
    old_id, new = statement_in_place(call, given)
    call.about = old_id
    check_may_withdraw(call, graph, old_id)
    done = revise(graph, {old_id: new}, Provenance(agent=call.caller.name))
    if done is None:
        raise absent(graph, old_id)
    call.facts |= {"replacement": done[0].new_id}
    return _corrected(graph, done[0])


def statement_in_place(call: OperationCall, given: StatementInPlace) -> tuple[str, Quad]:
    """The id of the statement that is corrected, and the one in its place.

    Raises:
        CortexError: `not_found`: it is not in the graph.
        InvalidArguments: a part is malformed.
    """
    graph = call.host.graph
    old_id = full_triple_id(graph, given.triple)
    row = graph.get_triple(old_id)
    if row is None:
        raise absent(graph, old_id)
    named = _named(graph, given)
    return old_id, graph.quad_of({part: row[part] if value is None else value for part, value in named.items()})


def _named(graph: NamespacedGraph, given: StatementInPlace) -> dict[str, Any]:
    """The parts of the statement in its place; None for what stays."""
    return graph.with_names({"subject": given.subject, "predicate": given.predicate, "object": given.object})


# --- two names for one thing


class Merge(TypedDict):
    """What becomes of the statements that name a thing: each with the one in its place."""

    kept: str
    merged: str
    statements: list[CorrectedStatement]
    same: Annotated[dict[str, Any], Described("That the two are the same, which is asserted.")]


@dataclass(frozen=True, slots=True)
class SameThing:
    """Two names for one thing: the one that is kept, and the one whose statements move to it."""

    merged: Annotated[str, Len(1, 1_024)]
    kept: Annotated[str, Len(1, 1_024)]
    reason: Reason = ""


@operation("graph.preview_merge", effect="reads", permission="read")
def preview_merge(call: OperationCall, given: SameThing) -> Merge:
    """Return what `graph.merge` would do with each statement."""
    graph = call.host.graph
    found = [revision_for(graph, old_id, new) for old_id, new in _moved(graph, given).items()]
    return _merge(graph, given, [each for each in found if each is not None])


def _thing(call: OperationCall) -> ObjectState | None:
    graph = call.host.graph
    try:
        node = graph.node_of(call.about)
    except GraphError:
        return None
    number = sum(graph.store.count(pattern, MOST + 1) for pattern in _naming(graph, node))
    return graph.names.name(node.value), f"in {number} statements"


@operation("graph.merge", effect="changes", permission="write", object_="merged", state=_thing)
def merge(call: OperationCall, given: SameThing) -> Merge:
    """Move every statement that names a thing to another name of it, and assert that the two are the same."""
    graph = call.host.graph
    moved = _moved(graph, given)
    for old_id in moved:
        check_may_withdraw(call, graph, old_id)
    same = _same(graph, given)
    done = revise(graph, moved, Provenance(agent=call.caller.name), [same])
    if done is None:
        raise CortexError("graph_busy", "a statement was withdrawn meanwhile, and nothing was merged", hint="try again")
    call.facts |= {"kept": graph.as_json(same)["object"]["node"], "statements": len(done)}
    return _merge(graph, given, done)


def _moved(graph: NamespacedGraph, given: SameThing) -> dict[str, Quad]:
    merged, kept = graph.node_of(given.merged, "merged"), graph.node_of(given.kept, "kept")
    if merged == kept:
        raise CortexError("invalid_arguments", "the two names are of one resource already", hint="give another name")
    changes: dict[str, Quad] = {}
    for pattern in _naming(graph, merged):
        for quad in graph.store.quads(pattern):
            if quad == Quad(merged, _SAME_AS, kept, graph.names.graph):
                continue  # it states so already, and stays
            subject = kept if quad.subject == merged else quad.subject
            object_ = kept if quad.object == merged else quad.object
            changes[graph.index.identify(quad)] = Quad(subject, quad.predicate, object_, graph.names.graph)
            if len(changes) > MOST:
                what = f"{given.merged} is in more than {MOST:,} statements"
                raise CortexError("invalid_arguments", what, hint="assert owl:sameAs, and merge by SPARQL and import")
    if not changes:
        raise CortexError("not_found", f"no statement names {given.merged}", hint="nothing has to be merged")
    return changes


def _same(graph: NamespacedGraph, given: SameThing) -> Quad:
    merged, kept = graph.node_of(given.merged, "merged"), graph.node_of(given.kept, "kept")
    return Quad(merged, _SAME_AS, kept, graph.names.graph)


def _naming(graph: NamespacedGraph, node: NamedNode) -> tuple[Pattern, Pattern]:
    return Pattern(graph.names.graph, node), Pattern(graph.names.graph, None, None, node)


def _corrected(graph: NamespacedGraph, done: Revision) -> CorrectedStatement:
    return {"old": graph.as_json(done.old), "new": graph.as_json(done.new), "created": done.is_new}


def _merge(graph: NamespacedGraph, given: SameThing, done: list[Revision]) -> Merge:
    statements, same = [_corrected(graph, each) for each in done], graph.as_json(_same(graph, given))
    return {"kept": given.kept, "merged": given.merged, "statements": statements, "same": same}
