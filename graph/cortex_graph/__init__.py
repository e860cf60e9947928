"""An RDF graph that is divided into namespaces: terms, stores, and the client of one namespace."""

from typing import TYPE_CHECKING, Any

from cortex_graph.exceptions import (
    GraphBusy,
    GraphCorrupt,
    GraphError,
    GraphUnavailable,
    InvalidArguments,
    NamespaceViolation,
    PermissionDenied,
    QueryLimit,
    QueryTimeout,
    RelativeIri,
    RemoteContext,
    StoreLocked,
)

if TYPE_CHECKING:
    from cortex_graph.assertion_records.provenance import Provenance
    from cortex_graph.namespace.namespaced import NamespacedGraph, namespaces_of
    from cortex_graph.naming.names import DEFAULT_BASE, WELL_KNOWN_VOCABULARIES, Names, check_namespace
    from cortex_graph.naming.terms import from_term, to_term
    from cortex_graph.store import Dataset, GraphStore, Page, Pattern, QueryAnswer
    from cortex_graph.stores.open_store import open_store
    from cortex_graph.transfer import FORMATS, export_rdf, import_rdf

__all__ = [
    "DEFAULT_BASE",
    "FORMATS",
    "WELL_KNOWN_VOCABULARIES",
    "Dataset",
    "GraphBusy",
    "GraphCorrupt",
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
    "QueryAnswer",
    "QueryLimit",
    "QueryTimeout",
    "RelativeIri",
    "RemoteContext",
    "StoreLocked",
    "check_namespace",
    "export_rdf",
    "from_term",
    "import_rdf",
    "namespaces_of",
    "open_store",
    "to_term",
]

# Imported at the first use: a worker process or a single command needs few of these modules.
_MODULES = {
    "naming.names": ("DEFAULT_BASE", "WELL_KNOWN_VOCABULARIES", "Names", "check_namespace"),
    "namespace.namespaced": ("NamespacedGraph", "namespaces_of"),
    "assertion_records.provenance": ("Provenance",),
    "store": ("Dataset", "GraphStore", "Page", "Pattern", "QueryAnswer"),
    "stores.open_store": ("open_store",),
    "naming.terms": ("from_term", "to_term"),
    "transfer": ("FORMATS", "export_rdf", "import_rdf"),
}
_LAZY = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
