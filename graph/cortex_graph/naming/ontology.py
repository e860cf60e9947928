"""The ontology, the SHACL shapes and the JSON-LD context, as texts.

Rules kept here:
- they are the files of `graph/ontology`, which are part of the wheel;
- they are not parsed here.
"""

from __future__ import annotations

import json
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from cortex_graph.naming.names import Names

_PACKED = "ontology_files"  # in a wheel, see pyproject.toml


def ontology() -> str:
    """Return the classes and properties that Cortex defines beside standard ones, in Turtle."""
    return _read("cortex.ttl")


def shapes() -> str:
    """Return the SHACL shapes of a provenance graph, in Turtle."""
    return _read("shapes.ttl")


def context(names: Names | None = None) -> dict[str, Any]:
    """Return the JSON-LD context of triples, records and objects on the wire.

    Args:
        names: of the namespace whose names occur in the document, so that `mayros:a` is an IRI; None for IRIs only.
    """
    found: dict[str, Any] = json.loads(_read("context.jsonld"))
    if names is not None:
        prefixes = names.prefixes
        found["@context"] |= {prefix: {"@id": start, "@prefix": True} for prefix, start in prefixes.items()}
    return found


def _read(name: str) -> str:
    packed: Traversable = files("cortex_graph") / _PACKED
    folder = packed if packed.is_dir() else Path(__file__).parents[2] / "ontology"
    return (folder / name).read_text(encoding="utf-8")
