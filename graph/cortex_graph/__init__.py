"""An RDF graph, shared out by namespace: terms, stores, and the client of one namespace."""

from typing import TYPE_CHECKING, Any

from cortex_graph.errors import (
    GraphBusy,
    GraphError,
    GraphUnavailable,
    InvalidArguments,
    NamespaceViolation,
    PermissionDenied,
    QueryLimit,
    QueryTimeout,
    StoreLocked,
)

if TYPE_CHECKING:
    from cortex_graph.names import DEFAULT_BASE, WELL_KNOWN_VOCABULARIES, Names, check_namespace
    from cortex_graph.namespaced import NamespacedGraph, namespaces_of
    from cortex_graph.provenance import Provenance
    from cortex_graph.store import Answer, Dataset, GraphStore, Page, Pattern
    from cortex_graph.stores.opening import open_store
    from cortex_graph.terms import from_term, to_term
    from cortex_graph.transfer import FORMATS, export_rdf, import_rdf

__all__ = [
    "DEFAULT_BASE",
    "FORMATS",
    "WELL_KNOWN_VOCABULARIES",
    "Answer",
    "Dataset",
    "GraphBusy",
    "GraphError",
    "GraphStore",
    "GraphUnavailable",
    "InvalidArguments",
    "Names",
    "NamespaceViolation",
    "NamespacedGraph",
    "Page",
    "Pattern",
    "PermissionDenied",
    "Provenance",
    "QueryLimit",
    "QueryTimeout",
    "StoreLocked",
    "check_namespace",
    "export_rdf",
    "from_term",
    "import_rdf",
    "namespaces_of",
    "open_store",
    "to_term",
]

# Imported when it is first used: a process that reads one file, or one command, needs little of it.
_LAZY = {
    "DEFAULT_BASE": "names",
    "FORMATS": "transfer",
    "WELL_KNOWN_VOCABULARIES": "names",
    "Answer": "store",
    "Dataset": "store",
    "GraphStore": "store",
    "Names": "names",
    "NamespacedGraph": "namespaced",
    "Page": "store",
    "Pattern": "store",
    "Provenance": "provenance",
    "check_namespace": "names",
    "export_rdf": "transfer",
    "from_term": "terms",
    "import_rdf": "transfer",
    "namespaces_of": "namespaced",
    "open_store": "stores.opening",
    "to_term": "terms",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
