"""Quads, patterns and errors, as they go from one process to another.

Rules kept here:
- quads go as N-Quads (RDF 1.2, with language directions and triple terms), each term spelt as it is;
- a pattern goes as one quad, with the names of the parts that are bound; a filler stands for the others;
- an error arrives with the class, message, hint and details that it left with; one of an unknown class arrives as
  `GraphUnavailable`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import orjson
from pyoxigraph import NamedNode, Quad, QueryResultsFormat, RdfFormat, parse, serialize

from cortex_graph.errors import GraphError, GraphUnavailable
from cortex_graph.store import Pattern
from cortex_graph.stores.shared.channel import Distrusted

_FILLER = NamedNode("urn:cortex-graph:any")

Format = TypeVar("Format", RdfFormat, QueryResultsFormat)


def quads_to_bytes(quads: Iterable[Quad]) -> bytes:
    """Some quads as N-Quads."""
    written: bytes = serialize(quads, format=RdfFormat.N_QUADS)  # type: ignore[assignment]
    return written


def lines_to_bytes(lines: Iterable[bytes]) -> bytes:
    """The same, of what `str` gives for each quad."""
    return b"".join([line + b" .\n" for line in lines])


def quads_from_bytes(text: bytes) -> list[Quad]:
    """The quads of what `quads_to_bytes` wrote.

    Raises:
        Distrusted: it is something else.

    """
    try:
        # What a store holds has been checked, or was taken in unchecked on purpose; it must come through either way.
        return list(parse(text, format=RdfFormat.N_QUADS, lenient=True))
    except (SyntaxError, ValueError) as error:
        raise Distrusted(f"quads that are none: {error}") from error


def one_quad(text: bytes) -> Quad:
    """The only quad of a text."""
    quads = quads_from_bytes(text)
    if len(quads) != 1:
        raise Distrusted(f"{len(quads)} quads in place of one")
    return quads[0]


def pattern_to_wire(pattern: Pattern) -> tuple[str, bytes]:
    """Which parts of a pattern are bound, and the quad that has them."""
    parts = (("s", pattern.subject), ("p", pattern.predicate), ("o", pattern.object_))
    quad = Quad(
        pattern.subject or _FILLER,
        pattern.predicate or _FILLER,
        _FILLER if pattern.object_ is None else pattern.object_,
        pattern.graph,
    )
    return "".join(name for name, term in parts if term is not None), quads_to_bytes([quad])


def pattern_from_wire(bound: Any, text: bytes) -> Pattern:
    """The pattern of what `pattern_to_wire` wrote."""
    quad = one_quad(text)
    return Pattern(
        quad.graph_name,  # type: ignore[arg-type]
        quad.subject if "s" in bound else None,  # type: ignore[arg-type]
        quad.predicate if "p" in bound else None,
        quad.object if "o" in bound else None,  # type: ignore[arg-type]
    )


def nodes_to_bytes(nodes: Iterable[NamedNode]) -> bytes:
    """Some IRIs, as the graph names of quads."""
    return quads_to_bytes(Quad(_FILLER, _FILLER, _FILLER, node) for node in nodes)


def nodes_from_bytes(text: bytes) -> list[NamedNode]:
    """The IRIs of what `nodes_to_bytes` wrote."""
    return [quad.graph_name for quad in quads_from_bytes(text) if isinstance(quad.graph_name, NamedNode)]


def pairs_to_bytes(pairs: Iterable[tuple[NamedNode, NamedNode]]) -> bytes:
    """Some (graph, subject), as quads."""
    return quads_to_bytes(Quad(subject, _FILLER, _FILLER, graph) for graph, subject in pairs)


def pairs_from_quads(quads: Iterable[Quad]) -> list[tuple[NamedNode, NamedNode]]:
    """The (graph, subject) of what `pairs_to_bytes` wrote."""
    return [(quad.graph_name, quad.subject) for quad in quads]  # type: ignore[misc]


def groups_of(quads: Sequence[Quad], sizes: Any) -> list[Sequence[Quad]]:
    """Quads in groups of these sizes."""
    if not isinstance(sizes, list) or not all(isinstance(size, int) and size > 0 for size in sizes):
        raise Distrusted("groups without sizes")
    if sum(sizes) != len(quads):
        raise Distrusted("groups of other sizes")
    groups, start = [], 0
    for size in sizes:
        groups.append(quads[start : start + size])
        start += size
    return groups


def format_named(find: Callable[[str], Format | None], media_type: Any) -> Format:
    """The format of a media type, as `RdfFormat.from_media_type` finds it."""
    form = find(media_type)
    if form is None:
        raise Distrusted(f"no format: {media_type}")
    return form


def path_to_wire(path: Path) -> str:
    """A path from the root; it need not be text (PEP 383)."""
    return os.fsencode(path.absolute()).hex()


def path_from_wire(said: Any) -> Path:
    """The path of what `path_to_wire` wrote."""
    return Path(os.fsdecode(bytes.fromhex(said)))


def error_to_wire(error: GraphError) -> dict[str, Any]:
    """An error, JSON-ready, whatever it was made of."""
    said = {"code": error.code, "message": _sendable(error.message), "hint": _sendable(error.hint)}
    try:
        orjson.dumps(error.details)
    except TypeError:
        return {**said, "details": {}}
    return {**said, "details": error.details}


def error_from_wire(said: Any) -> GraphError:
    """The error of what `error_to_wire` wrote."""
    if not isinstance(said, dict):
        return GraphUnavailable("the store's owner failed, and does not say how")
    kind = _kinds().get(str(said.get("code")), GraphUnavailable)
    details = said.get("details")
    return kind(
        str(said.get("message")),
        hint=str(said.get("hint") or ""),
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
