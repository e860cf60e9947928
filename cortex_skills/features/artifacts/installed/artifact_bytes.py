"""The bytes of installed artifacts in the store, from which a host gets those that were installed on another one.

Rules kept here:
- an artifact is a node named by the SHA-256 of its bytes, with these in base64, in pieces `rdf:_1`, `rdf:_2`, …
  (RDF 1.1 Schema §5.1.5) that any server takes, and their number of bytes, which is written last: who was killed before
  has written nothing that is read;
- they are in a named graph that no dataset of a query contains and no name of the namespace reaches;
- what a store answers is hostile: what is read has exactly the declared size and pieces, ends within a time limit, and
  has the hash that was asked for. Anything else is an error, and nothing of it is returned.
"""

from __future__ import annotations

import base64
import time
from collections.abc import Iterator
from hashlib import sha256

from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph.naming.names import Names
from cortex_graph.naming.vocabulary import CORTEX, RDF
from cortex_graph.store import GraphStore, Pattern
from cortex_skills.errors import CortexError
from cortex_skills.features.artifacts.package.archive import MAX_ARCHIVE
from cortex_skills.safe_io.schemas import shown

SIZE = NamedNode(f"{CORTEX}artifactSize")
PIECE = 192 << 10  # bytes; a quarter of a mebibyte in base64
_LONGEST_S = 600.0
_SHA256_LENGTH = 64


class ArtifactBytes:
    """The bytes of the artifacts of one namespace in a store, by their SHA-256."""

    def __init__(self, store: GraphStore, names: Names) -> None:
        self._store = store
        self._names = names
        self._graph = names.artifact_bytes_graph

    def put(self, data: bytes) -> None:
        """Write the bytes of an artifact; what is there already is not written again.

        Raises:
            GraphError: the store cannot be written.
        """
        node = self._node(sha256(data).hexdigest())
        size = Quad(node, SIZE, Literal(str(len(data))), self._graph)
        if self._store.contains(size):
            return
        for number, start in enumerate(range(0, len(data), PIECE), 1):
            self._put_piece(node, number, data[start : start + PIECE])
        self._store.apply([size])

    def get(self, digest: str) -> bytes | None:
        """Return the bytes with a SHA-256; None if the store does not have them.

        Raises:
            CortexError: `artifact_invalid`: what the store has is something else.
            GraphError: the store cannot be read.
        """
        node = self._node(digest)
        declared = self._only(node, SIZE)
        if declared is None:
            return None
        if not (declared.isascii() and declared.isdigit() and len(declared) < 10 and 0 < int(declared) <= MAX_ARCHIVE):
            raise _invalid(digest, f"have the size {shown(declared)}")
        size = int(declared)
        pieces = -(-size // PIECE)
        if self._store.count(Pattern(self._graph, node), pieces + 2) != pieces + 1:
            raise _invalid(digest, f"are not {pieces} pieces")
        data, until = bytearray(), time.monotonic() + _LONGEST_S
        for number in range(1, pieces + 1):
            data += self._piece(digest, number, min(PIECE, size - len(data)))
            if time.monotonic() > until:
                raise _invalid(digest, f"were not read within {_LONGEST_S:g} s")
        if sha256(data).hexdigest() != digest:
            raise _invalid(digest, "have another SHA-256")
        return bytes(data)

    def remove(self, digest: str) -> None:
        """Remove the bytes with a SHA-256, if they are there.

        Raises:
            GraphError: the store cannot be written.
        """
        node = self._node(digest)
        declared = list(self._store.quads(Pattern(self._graph, node, SIZE)))
        self._store.apply(remove=declared)
        for number in range(1, -(-MAX_ARCHIVE // PIECE) + 1):
            pieces = self._store.match(Pattern(self._graph, node, _member(number)), 1).quads
            if not pieces:
                return
            self._store.apply(remove=pieces)

    def listed(self) -> set[str]:
        """Return the SHA-256 of all artifacts whose bytes are there.

        Raises:
            GraphError: the store cannot be read.
        """
        return set(self._listed())

    def _listed(self) -> Iterator[str]:
        for quad in self._store.quads(Pattern(self._graph, None, SIZE)):
            if isinstance(quad.subject, NamedNode):
                digest = quad.subject.value.rpartition("/")[2]
                if len(digest) == _SHA256_LENGTH:
                    yield digest

    def _put_piece(self, node: NamedNode, number: int, data: bytes) -> None:
        self._store.apply([Quad(node, _member(number), Literal(base64.b64encode(data).decode()), self._graph)])

    def _piece(self, digest: str, number: int, size: int) -> bytes:
        text = self._only(self._node(digest), _member(number)) or ""
        try:
            piece = base64.b64decode(text, validate=True) if len(text) == 4 * -(-size // 3) else b""
        except ValueError:
            piece = b""
        if len(piece) != size:
            raise _invalid(digest, f"have another piece {number}")
        return piece

    def _only(self, node: NamedNode, predicate: NamedNode) -> str | None:
        """Return the only value of a predicate; None without one."""
        page = self._store.match(Pattern(self._graph, node, predicate), 1)
        if page.cursor is not None:
            raise _invalid(node.value.rpartition("/")[2], "are there twice")
        values = [quad.object.value for quad in page.quads if isinstance(quad.object, Literal)]
        return values[0] if values else None

    def _node(self, digest: str) -> NamedNode:
        return self._names.beside("artifact-bytes", digest)


def _member(number: int) -> NamedNode:
    return NamedNode(f"{RDF}_{number}")


def _invalid(digest: str, problem: str) -> CortexError:
    return CortexError(
        "artifact_invalid",
        f"the bytes {digest} in the store {problem}",
        hint="find out who writes to the store; then remove the artifact, and install it again",
    )
