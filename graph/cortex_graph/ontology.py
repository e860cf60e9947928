"""The ontology, the SHACL shapes and the JSON-LD context, as texts.

Rules kept here:
- they are files of `graph/ontology`, and ship in the wheel; what is read here is what is documented there;
- nothing is parsed: whoever asks has a parser.
"""

from __future__ import annotations

import json
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from cortex_graph.names import Names

_PACKED = "ontology_files"  # in a wheel, see pyproject.toml


def ontology() -> str:
    """The classes and properties that Cortex uses beside standard ones, in Turtle."""
    return _read("cortex.ttl")


def shapes() -> str:
    """The SHACL shapes of a provenance graph, in Turtle."""
    return _read("shapes.ttl")


def context(names: Names | None = None) -> dict[str, Any]:
    """The JSON-LD context of triples, records and objects as they are on the wire.

    Args:
        names: of the namespace whose names stand in the document, so that `mayros:a` is an IRI; None for IRIs alone.

    """
    found: dict[str, Any] = json.loads(_read("context.jsonld"))
    if names is not None:
        prefixes = {names.namespace: f"{names.graph.value}:", **names.vocabularies}
        found["@context"] |= {prefix: {"@id": start, "@prefix": True} for prefix, start in prefixes.items()}
    return found


def _read(name: str) -> str:
    packed: Traversable = files("cortex_graph") / _PACKED
    folder = packed if packed.is_dir() else Path(__file__).parents[1] / "ontology"
    return (folder / name).read_text(encoding="utf-8")
