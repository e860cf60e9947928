"""The graph that an operation reads, and the labels in it, for its caller."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from annotated_types import Len

from cortex_graph import NamespacedGraph
from cortex_graph.as_of import as_of
from cortex_graph.exceptions import invalid
from cortex_graph.namespace.labels import Labels
from cortex_skills.features.graph.graph_settings import GraphSettings
from cortex_skills.operations.operation import Described, OperationCall

if TYPE_CHECKING:
    from cortex_skills.doors.rest.operations import ApiCall

AsOf = Annotated[str, Len(1, 64), Described("The graph as of a date or time (RFC 3339), or 24h ago.")]
Undated = Annotated[Literal["include", "exclude"], Described("With asOf: triples whose time is not known.")]


def graph_of(call: OperationCall, moment: str | None, undated: str | None) -> NamespacedGraph:
    """The graph of a call, as of a moment if one is given.

    Raises:
        InvalidArguments: it is no moment.
    """
    if moment is None:
        if undated is not None:
            raise invalid("undated", "is for the graph as of a moment", hint="give asOf, too")
        return call.host.graph
    return as_of(call.host.graph, moment, undated or "include")


def labels_in(call: OperationCall | ApiCall, graph: NamespacedGraph, languages: Sequence[str] = ()) -> Labels:
    """Looks up labels for the caller, in the languages of the caller, then in the configured ones."""
    settings = call.host.config.section(GraphSettings)
    return Labels(
        graph, [*languages, *settings.languages], [graph.node_of(name, "graph.labels") for name in settings.labels]
    )
