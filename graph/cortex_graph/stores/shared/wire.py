"""Quads, patterns and errors as messages between processes.

Rules kept here:
- quads are sent as N-Quads (RDF 1.2, with language directions and triple terms), with the lexical forms unchanged;
- a pattern is sent as one quad, with the names of the bound parts; a filler replaces the others;
- an error keeps its class, message, hint and details; one of an unknown class becomes `GraphUnavailable`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import orjson
from pyoxigraph import NamedNode, Quad, QueryResultsFormat, RdfFormat, parse, serialize

from cortex_graph.exceptions import GraphError, GraphUnavailable
from cortex_graph.store import Pattern
from cortex_graph.stores.shared.channel import ProtocolViolation

_FILLER = NamedNode("urn:cortex-graph:any")

Format = TypeVar("Format", RdfFormat, QueryResultsFormat)


def quads_to_bytes(quads: Iterable[Quad]) -> bytes:
    """Return quads as N-Quads."""
    written: bytes = serialize(quads, format=RdfFormat.N_QUADS)  # type: ignore[assignment]
    return written


def lines_to_bytes(lines: Iterable[bytes]) -> bytes:
    """Return the lines (`str`) of quads as N-Quads."""
    return b"".join([line + b" .\n" for line in lines])


def quads_from_bytes(text: bytes) -> list[Quad]:
    """Parse the result of `quads_to_bytes`; raises `ProtocolViolation` for anything else."""
    try:
        # The content of a store was checked, or deliberately not; it must be transmitted in both cases.
        return list(parse(text, format=RdfFormat.N_QUADS, lenient=True))
    except (SyntaxError, ValueError) as error:
        raise ProtocolViolation(f"malformed quads: {error}") from error


def one_quad(text: bytes) -> Quad:
    """Parse a single quad."""
    quads = quads_from_bytes(text)
    if len(quads) != 1:
        raise ProtocolViolation(f"{len(quads)} quads instead of one")
    return quads[0]


def pattern_to_wire(pattern: Pattern) -> tuple[str, bytes]:
    """Return the names of the bound parts of a pattern, and a quad with these parts."""
    parts = (("s", pattern.subject), ("p", pattern.predicate), ("o", pattern.object_))
    quad = Quad(
        pattern.subject or _FILLER,
        pattern.predicate or _FILLER,
        _FILLER if pattern.object_ is None else pattern.object_,
        pattern.graph,
    )
    return "".join(name for name, term in parts if term is not None), quads_to_bytes([quad])


def pattern_from_wire(bound: Any, text: bytes) -> Pattern:
    """Parse the result of `pattern_to_wire`."""
    quad = one_quad(text)
    return Pattern(
        quad.graph_name,  # type: ignore[arg-type]
        quad.subject if "s" in bound else None,  # type: ignore[arg-type]
        quad.predicate if "p" in bound else None,
        quad.object if "o" in bound else None,  # type: ignore[arg-type]
    )


def nodes_to_bytes(nodes: Iterable[NamedNode]) -> bytes:
    """Return IRIs, as the graph names of quads."""
    return quads_to_bytes(Quad(_FILLER, _FILLER, _FILLER, node) for node in nodes)


def nodes_from_bytes(text: bytes) -> list[NamedNode]:
    """Parse the result of `nodes_to_bytes`."""
    return [quad.graph_name for quad in quads_from_bytes(text) if isinstance(quad.graph_name, NamedNode)]


def pairs_to_bytes(pairs: Iterable[tuple[NamedNode, NamedNode]]) -> bytes:
    """Return (graph, subject) pairs, as quads."""
    return quads_to_bytes(Quad(subject, _FILLER, _FILLER, graph) for graph, subject in pairs)


def pairs_from_quads(quads: Iterable[Quad]) -> list[tuple[NamedNode, NamedNode]]:
    """Return the pairs that `pairs_to_bytes` wrote."""
    return [(quad.graph_name, quad.subject) for quad in quads]  # type: ignore[misc]


def groups_of(quads: Sequence[Quad], sizes: Any) -> list[Sequence[Quad]]:
    """Split quads into groups of these sizes."""
    if not isinstance(sizes, list) or not all(isinstance(size, int) and size > 0 for size in sizes):
        raise ProtocolViolation("groups without sizes")
    if sum(sizes) != len(quads):
        raise ProtocolViolation("groups with wrong sizes")
    groups, start = [], 0
    for size in sizes:
        groups.append(quads[start : start + size])
        start += size
    return groups


def format_named(find: Callable[[str], Format | None], media_type: Any) -> Format:
    """Return the format of a media type, with `RdfFormat.from_media_type` or its equivalent."""
    form = find(media_type)
    if form is None:
        raise ProtocolViolation(f"unknown format: {media_type}")
    return form


def path_to_wire(path: Path) -> str:
    """Return an absolute path, which need not be valid text (PEP 383)."""
    return os.fsencode(path.absolute()).hex()


def path_from_wire(path: Any) -> Path:
    """Parse the result of `path_to_wire`."""
    return Path(os.fsdecode(bytes.fromhex(path)))


def error_to_wire(error: GraphError) -> dict[str, Any]:
    """Return an error, JSON-ready."""
    document = {"code": error.code, "message": _sendable(error.message), "hint": _sendable(error.hint)}
    try:
        orjson.dumps(error.details)
    except TypeError:
        return {**document, "details": {}}
    return {**document, "details": error.details}


def error_from_wire(document: Any) -> GraphError:
    """Parse the result of `error_to_wire`."""
    if not isinstance(document, dict):
        return GraphUnavailable("the owner of the store failed for an unknown reason")
    kind = _kinds().get(str(document.get("code")), GraphUnavailable)
    details = document.get("details")
    return kind(
        str(document.get("message")),
        hint=str(document.get("hint") or ""),
        details=details if isinstance(details, dict) else {},
    )


def _sendable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def _kinds() -> dict[str, type[GraphError]]:
    kinds: dict[str, type[GraphError]] = {}
    pending: list[type[GraphError]] = [GraphError]
    while pending:
        kind = pending.pop()
        kinds.setdefault(kind.code, kind)
        pending += kind.__subclasses__()
    return {**kinds, GraphUnavailable.code: GraphUnavailable}
