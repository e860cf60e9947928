"""The kind `credential`: signed verifiable credentials (`cortex_skills.features.proofs.signing`)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pyoxigraph import NamedNode

from cortex_graph.naming.vocabulary import PROVES
from cortex_skills.features.proofs.kinds.base import (
    CheckContext,
    ProofKind,
    cannot_store,
    check_signed_by,
    other_namespace,
)
from cortex_skills.features.proofs.verdict import Check

if TYPE_CHECKING:
    from pyoxigraph import Quad

    from cortex_graph import NamespacedGraph

_ID = re.compile("[0-9a-f]{64}")


class CredentialKind(ProofKind):
    """Statements that an issuer signed."""

    name = "credential"
    types = ("credential",)

    def recognizes(self, document: Mapping[str, Any]) -> bool:
        """Whether a JSON object is a JSON-LD document."""
        return "@context" in document

    def check(self, content: str, context: CheckContext) -> list[Check]:
        """Check signature, validity, and, with a triple, the statement."""
        from cortex_skills.features.proofs.signing import MalformedError, check_credential, read_document
        from cortex_skills.features.proofs.signing.credentials import claim_of

        try:
            document = read_document(content)
        except MalformedError as error:
            return [Check.of("signature", False, "this credential is signed", "anything else", str(error))]
        claim = None
        if context.graph is not None and context.triple is not None:
            claim = claim_of(context.graph, context.triple)
        return check_credential(document, context.now, claim)

    def statement_of(self, content: str, graph: NamespacedGraph) -> tuple[str, Quad | None]:
        """The triple whose record the credential names."""
        triple_id = _record_id(json.loads(content), graph)
        return triple_id, graph.index.find(triple_id)

    def check_signer(self, content: str, trusted: frozenset[str]) -> list[Check]:
        """Whether the issuer is trusted."""
        from cortex_skills.features.proofs.signing import MalformedError, issuer_of, read_document

        try:
            issuer = issuer_of(read_document(content))
        except MalformedError:
            issuer = None
        return check_signed_by(issuer, trusted)


def _record_id(document: dict[str, Any], graph: NamespacedGraph) -> str:
    """The id of the one triple of the namespace whose record a credential names."""
    from cortex_skills.features.proofs.signing import MalformedError, UnsupportedError
    from cortex_skills.features.proofs.signing.documents import check_document
    from cortex_skills.features.proofs.signing.jsonld import to_rdf

    try:
        check_document(document)
        found = to_rdf({key: value for key, value in document.items() if key != "proof"})
    except (MalformedError, UnsupportedError) as error:
        raise cannot_store(str(error)) from None
    records = [
        quad.object.value
        for quad in found.dataset
        if quad.subject == found.root and quad.predicate == PROVES and isinstance(quad.object, NamedNode)
    ]
    prefix = graph.names.record("").value
    triple_id = records[0].removeprefix(prefix) if len(records) == 1 and records[0].startswith(prefix) else ""
    if not _ID.fullmatch(triple_id):
        raise other_namespace(graph)
    return triple_id
