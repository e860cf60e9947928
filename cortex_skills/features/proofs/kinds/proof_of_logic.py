"""The kind `pol`: Proofs of Logic (`cortex_skills.features.proofs.logic`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from cortex_graph.assertion_records.proofs import StoredProof
from cortex_skills.errors import CortexError
from cortex_skills.features.proofs.kinds.base import (
    CheckContext,
    ProofKind,
    cannot_store,
    check_signed_by,
    quad_of_line,
)
from cortex_skills.features.proofs.verdict import Check

if TYPE_CHECKING:
    from pyoxigraph import Quad

    from cortex_graph import NamespacedGraph
    from cortex_skills.features.proofs.logic.document import LogicProof

_SKEW = timedelta(minutes=1)  # the difference between two clocks that is tolerated


class ProofOfLogicKind(ProofKind):
    """Proofs that a statement obeys a set of rules in its graph."""

    name = "pol"
    types = ("pol",)
    reads_graph = True

    def recognizes(self, document: Mapping[str, Any]) -> bool:
        """Whether a JSON object is a Proof of Logic."""
        return "@context" not in document and document.get("type") == "ProofOfLogic"

    def check(self, content: str, context: CheckContext) -> list[Check]:
        """Check signature, statement, premises, rules, and the triple that the proof is about."""
        from cortex_skills.features.proofs.logic.document import read_document
        from cortex_skills.features.proofs.logic.prover import Prover
        from cortex_skills.features.proofs.logic.verify import verify

        try:
            document = read_document(content)
        except CortexError as error:
            return [Check.of("signature", False, "this proof is signed", "anything else", error.message)]
        checks = verify(
            document,
            context.graph,
            rules=context.rules,
            timeout_s=max(1, context.limit_ms) / 1000,
            replay=context.replay,
            cancel=context.cancel,
            host_rules=None if context.graph is None else Prover(context.config, context.graph).namespace_rules,
        )
        expected, found = context.triple_id, document.fields["statementHash"]
        if expected is not None:
            why, does_not = f"it is about the statement {found}", "that it proves it: see the other parts"
            checks.append(Check.of("about", found == expected, "the proof is about this triple", does_not, why))
        return checks

    def statement_of(self, content: str, graph: NamespacedGraph) -> tuple[str, Quad | None]:
        """The statement by its line."""
        fields = _read(content).fields
        return fields["statementHash"], quad_of_line(fields["statement"], fields["namespace"], graph)

    def statement_quad(self, proof: StoredProof, graph: NamespacedGraph) -> Quad | None:
        """The statement by its line, whether or not it is in the graph."""
        return self.statement_of(proof.content, graph)[1]

    def to_store(self, content: str, triple_id: str, graph: NamespacedGraph, now: datetime) -> StoredProof:  # noqa: ARG002
        """The record with the premises of the proof, at the time that the proof states."""
        proof = _read(content)
        premises = proof.premises
        created = _past(proof.created, now)
        return StoredProof(
            self.name, content, created, (triple_id,), premises.listed, rests_on_graph=not premises.is_whole
        )

    def rule_digests(self, content: str) -> Sequence[str]:
        """The SHA-256 of each set of shapes."""
        return [each["digest"] for each in _read(content).fields["rules"][1:]]

    def check_signer(self, content: str, trusted: frozenset[str]) -> list[Check]:
        """Whether the signer is trusted."""
        try:
            signer: str | None = _read(content).signer
        except CortexError:
            signer = None
        return check_signed_by(signer, trusted)


def _read(content: str) -> LogicProof:
    from cortex_skills.features.proofs.logic.document import read_document

    try:
        return read_document(content)
    except CortexError as error:
        raise cannot_store(error.message) from None


def _past(text: str, now: datetime) -> str:
    """A time of creation; it orders the proofs of a statement, so it must not be in the future."""
    try:
        created = datetime.fromisoformat(text)
    except ValueError:
        raise cannot_store("its creation time is not a time") from None
    if created > now + _SKEW:
        raise cannot_store(f"its creation time is in the future: {text}")
    return text
