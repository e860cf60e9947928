"""Which statement of a namespace a proof is about.

Rules kept here:
- a proof says it itself, whatever it is kept with: by the line of the statement, or by the name of its record;
- a statement of another namespace, or of a graph that has another base, is none of this one.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pyoxigraph import NamedNode, Quad, RdfFormat, parse

from cortex_graph import NamespacedGraph
from cortex_graph.vocabulary import PROVES
from cortex_skills.errors import CortexError

if TYPE_CHECKING:
    from cortex_skills.proofs.logic.document import Document


def statement_of(kind: str, content: str, graph: NamespacedGraph) -> tuple[str, Quad | None]:
    """The statement that a proof is about: its id, and itself where it can be told.

    Args:
        kind: `credential`, `zk` or `pol`.
        content: its JSON.
        graph: the namespace.

    Raises:
        CortexError: `invalid_arguments`: it is none of this namespace, or the content is no proof.

    """
    if kind == "credential":
        triple_id = _signed_id(json.loads(content), graph)
        return triple_id, graph.index.find(triple_id)
    if kind == "zk":
        from cortex_skills.proofs.zk import read_proof
        from cortex_skills.proofs.zk.group import NotCanonicalError

        try:
            statement = read_proof(json.loads(content)).statement
        except NotCanonicalError as error:
            raise no_proof(str(error)) from None
        namespace, line, triple_id = statement.namespace, statement.triple, statement.triple_hash
    else:
        fields = logic_of(content).fields
        namespace, line, triple_id = fields["namespace"], fields["statement"], fields["statementHash"]
    quad = _line(line)
    if quad is None or namespace != graph.namespace or quad.graph_name != graph.names.graph:
        raise _elsewhere(graph)
    return triple_id, quad


def logic_of(content: str) -> Document:
    """A Proof of Logic, read.

    Raises:
        CortexError: `invalid_arguments`: it is none.

    """
    from cortex_skills.proofs.logic.document import read_document

    try:
        return read_document(content)
    except CortexError as error:
        raise no_proof(error.message) from None


def no_proof(
    why: str, hint: str = "give a verifiable credential, a Proof of Logic or a zero-knowledge proof"
) -> CortexError:
    """The error for a document that cannot be kept as a proof."""
    message = f"`proof_data` cannot be kept as a proof: {why}"
    return CortexError("invalid_arguments", message, hint=hint, details={"field": "proof_data"})


def _signed_id(document: dict[str, Any], graph: NamespacedGraph) -> str:
    """The id of the triple whose record a credential names."""
    from cortex_skills.proofs.signing import MalformedError, UnsupportedError
    from cortex_skills.proofs.signing.documents import check_document
    from cortex_skills.proofs.signing.jsonld import described

    try:
        check_document(document)
        said = described({key: value for key, value in document.items() if key != "proof"})
    except (MalformedError, UnsupportedError) as error:
        raise no_proof(str(error)) from None
    records = [
        quad.object.value
        for quad in said.dataset
        if quad.subject == said.root and quad.predicate == PROVES and isinstance(quad.object, NamedNode)
    ]
    before = graph.names.record("").value
    ids = [record.removeprefix(before) for record in records if record.startswith(before)]
    if len(records) != 1 or not ids or len(ids[0]) != _ID or not set(ids[0]) <= _HEX:
        raise _elsewhere(graph)
    return ids[0]


def _line(text: str) -> Quad | None:
    """The one quad of a line of N-Quads."""
    try:
        quads = list(parse(text, RdfFormat.N_QUADS))
    except (SyntaxError, ValueError):
        return None
    return quads[0] if len(quads) == 1 else None


def _elsewhere(graph: NamespacedGraph) -> CortexError:
    hint = "submit it to the namespace of its statement"
    return no_proof(f"it is about no statement of {graph.namespace}", hint)


_ID = 64
_HEX = frozenset("0123456789abcdef")
