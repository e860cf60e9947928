"""The kind `zk`: zero-knowledge proofs (`cortex_skills.features.proofs.zk`)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from cortex_graph.assertion_records.proofs import StoredProof
from cortex_graph.checks.datetimes import date_time
from cortex_skills.errors import CortexError
from cortex_skills.features.proofs.kinds.base import CheckContext, ProofKind, cannot_store, quad_of_line
from cortex_skills.features.proofs.proof_settings import ProofSettings
from cortex_skills.features.proofs.verdict import Check, Verdict

if TYPE_CHECKING:
    from pyoxigraph import Quad

    from cortex_graph import NamespacedGraph
    from cortex_skills.config.settings import Config


class ZeroKnowledgeKind(ProofKind):
    """Proofs about a committed value that do not reveal the value."""

    name = "zk"
    types = ("schnorr", "equality", "membership", "range")
    precedes_statement = True

    def recognizes(self, document: Mapping[str, Any]) -> bool:
        """Whether a JSON object is a zero-knowledge proof."""
        return "@context" not in document and document.get("type") == "CortexZeroKnowledgeProof"

    def type_of(self, content: str) -> str:
        """The scheme that a proof declares."""
        try:
            found = json.loads(content).get("proofType")
        except (ValueError, RecursionError, AttributeError):
            found = None
        return found if found in self.types else self.name

    def check(self, content: str, context: CheckContext) -> list[Check]:
        """Check the proof, its expiry, its statement, its nonce and the anchors of its commitments."""
        from cortex_skills.features.proofs.signing import MalformedError, read_document
        from cortex_skills.features.proofs.zk.service import verify
        from cortex_skills.features.proofs.zk.verify import Expected, check_document

        try:
            document, credentials = json.loads(content), [read_document(each) for each in context.credentials]
            if context.graph is None:
                expected = Expected(
                    context.now, frozenset(context.config.section(ProofSettings).trusted_issuers), context.nonce
                )
                return check_document(document, expected, lambda _: credentials)[0]
            bound = {"tripleHash": context.triple_id, "nonce": context.nonce}
            given = {"proof": document, "credentials": credentials} | {k: v for k, v in bound.items() if v is not None}
            return verify(
                given,
                context.graph,
                context.config,
                now=context.now,
                within_ms=context.limit_ms,
                cancel=context.cancel,
            )[0]
        except (ValueError, RecursionError):
            verdict, why = Verdict.REFUTED, "it is not JSON"
        except MalformedError as error:
            verdict, why = Verdict.NOT_CHECKED, f"a credential that was given with it cannot be read: {error}"
        except CortexError as error:
            if error.code not in ("proof_timeout", "zk_disabled"):
                raise
            verdict, why = Verdict.NOT_CHECKED, error.message
        return [Check("proof", verdict, "the claim of the proof, without the value", "anything else", (why,))]

    def statement_of(self, content: str, graph: NamespacedGraph) -> tuple[str, Quad | None]:
        """The statement by its line."""
        from cortex_skills.features.proofs.zk import read_proof
        from cortex_skills.features.proofs.zk.group import NotCanonicalError

        try:
            statement = read_proof(json.loads(content)).statement
        except NotCanonicalError as error:
            raise cannot_store(str(error)) from None
        return statement.triple_hash, quad_of_line(statement.triple, statement.namespace, graph)

    def statement_quad(self, proof: StoredProof, graph: NamespacedGraph) -> Quad | None:
        """The statement by its line, whether or not it is in the graph."""
        return self.statement_of(proof.content, graph)[1]

    def check_enabled(self, config: Config) -> None:
        """Do nothing when `skillSandbox.allowZkProofs` is on."""
        from cortex_skills.features.proofs.zk.service import check_enabled

        check_enabled(config)

    def to_store(self, content: str, triple_id: str, graph: NamespacedGraph, now: datetime) -> StoredProof:
        """The record with the triples of the commitments, as far as they are in the graph, as premises."""
        from cortex_skills.features.proofs.zk import read_proof
        from cortex_skills.features.proofs.zk.request import triple_id as commitment_id

        proof = read_proof(json.loads(content))
        found = {commitment_id(graph, each) for each in proof.claim.commitments} - {proof.statement.triple_hash}
        premises = tuple(sorted(each for each in found if graph.index.find(each) is not None))
        return StoredProof(self.name, content, date_time(now), (triple_id,), premises)
