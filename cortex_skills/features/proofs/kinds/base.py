"""What a kind of proof is: one object, with everything that differs between the kinds as its methods.

Rules kept here:
- a kind never guesses: a proof that it cannot read is refuted, and one that it cannot check is `not checked`;
- a proof names its statement itself, by the line of the statement or by the name of its record;
- a statement of another namespace, or of a graph with another base, is not a statement of this one.

A kind imports the modules that it needs inside its methods, so that a program loads only the kinds that it uses.
"""

from __future__ import annotations

import math
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar

from pyoxigraph import RdfFormat, parse

from cortex_graph.assertion_records.proofs import StoredProof
from cortex_skills.errors import CortexError
from cortex_skills.features.proofs.verdict import Check, Verdict

if TYPE_CHECKING:
    from pyoxigraph import Quad

    from cortex_graph import NamespacedGraph
    from cortex_skills.cancellation import CancelToken
    from cortex_skills.config.settings import Config

SIGNER = "signer"
PRESENCE = "presence"
_DID = re.compile(r"did:key:z[1-9A-HJ-NP-Za-km-z]{40,60}")


@dataclass(frozen=True, slots=True)
class CheckContext:
    """What a proof is checked against.

    Attributes:
        now: the current time, with its zone.
        config: the host's settings: limits, and the issuers that it trusts.
        graph: the namespace; None to check the proof without a graph.
        triple: the triple of this graph that the proof must be about; None for any.
        replay: whether the rules of a Proof of Logic are evaluated again.
        credentials: the JSON of credentials that sign the commitments of a zero-knowledge proof.
        rules: texts of rule sets by their SHA-256, beside those in the graph.
        nonce: the nonce that a zero-knowledge proof must contain; None for any.
        deadline: when all checks that share this context must end, by `time.monotonic`; None for no deadline. Each
            proof also has the time limit of the settings.
        cancel: cancels the call.
    """

    now: datetime
    config: Config
    graph: NamespacedGraph | None = None
    triple: Quad | None = None
    replay: bool = True
    credentials: tuple[str, ...] = ()
    rules: Mapping[str, str] = field(default_factory=dict)
    nonce: str | None = None
    deadline: float | None = None
    cancel: CancelToken | None = None

    @property
    def limit_ms(self) -> int:
        """How long the next proof may take, in milliseconds; 0 when no time is left."""
        most = self.config.skill_sandbox.proof_timeout_ms
        if self.deadline is None:
            return most
        return min(most, max(0, math.ceil((self.deadline - time.monotonic()) * 1000)))

    @property
    def triple_id(self) -> str | None:
        """The id of the triple that the proof must be about."""
        return None if self.graph is None or self.triple is None else self.graph.index.identify(self.triple)


class ProofKind(ABC):
    """A kind of proof.

    Attributes:
        name: the kind as stored proofs and answers name it.
        types: the proof types that a client may declare for this kind.
        precedes_statement: whether a proof may be stored before its statement is asserted.
        reads_graph: whether a proof in a file is checked against the namespace's graph.
    """

    name: ClassVar[str]
    types: ClassVar[tuple[str, ...]]
    precedes_statement: ClassVar[bool] = False
    reads_graph: ClassVar[bool] = False

    @abstractmethod
    def recognizes(self, document: Mapping[str, Any]) -> bool:
        """Whether a JSON object has the form of this kind."""

    @abstractmethod
    def check(self, content: str, context: CheckContext) -> list[Check]:
        """Check a proof, part by part.

        Raises:
            CortexError: `cancelled`; `config_invalid`: the shapes that the settings name cannot be read.
        """

    @abstractmethod
    def statement_of(self, content: str, graph: NamespacedGraph) -> tuple[str, Quad | None]:
        """The statement of a proof: its id, and the quad where it is known.

        Raises:
            CortexError: `invalid_arguments`: the statement is of another namespace, or the content is not such a proof.
        """

    def type_of(self, content: str) -> str:  # noqa: ARG002
        """The type of a proof: one of `types`, or the name of the kind."""
        return self.name

    def statement_quad(self, proof: StoredProof, graph: NamespacedGraph) -> Quad | None:
        """The statement of a stored proof; None when it is not known.

        Raises:
            CortexError: as `statement_of`.
        """
        return graph.index.find(proof.proves[0])

    def check_enabled(self, config: Config) -> None:  # noqa: B027
        """Do nothing when the settings allow this kind.

        Raises:
            CortexError: they do not.
        """

    def to_store(
        self,
        content: str,
        triple_id: str,
        graph: NamespacedGraph,  # noqa: ARG002
        now: datetime,
    ) -> StoredProof:
        """The record to store for a proof of a statement.

        Raises:
            CortexError: `invalid_arguments`: the proof cannot be stored.
        """
        from cortex_graph.checks.datetimes import date_time

        return StoredProof(self.name, content, date_time(now), (triple_id,))

    def rule_digests(self, content: str) -> Sequence[str]:  # noqa: ARG002
        """The SHA-256 of each rule text that a proof names, without the core rules."""
        return ()

    def check_signer(self, content: str, trusted: frozenset[str]) -> list[Check]:  # noqa: ARG002
        """Whether the signer of a proof is trusted; no check for a kind without signers."""
        return []


def check_signed_by(signer: str | None, trusted: frozenset[str]) -> list[Check]:
    """Whether the `did:key` that a proof names is trusted. The signature is another check."""
    is_trusted = signer in trusted
    name = signer if signer is not None and _DID.fullmatch(signer) else "a signer without a did:key"
    why = "this installation or its settings name the key" if is_trusted else "this installation does not trust the key"
    return [
        Check(
            SIGNER,
            Verdict.VERIFIED if is_trusted else Verdict.NOT_CHECKED,
            "the signer of the proof is trusted here: a key of this installation, or one of proofs.trustedIssuers",
            "that what the signer states is true",
            (f"{name}: {why}",),
        )
    ]


def not_checked(why: str) -> list[Check]:
    """The only check of a proof that was not evaluated."""
    return [Check("proof", Verdict.NOT_CHECKED, "what its kind establishes", "anything else", (why,))]


def cannot_store(
    why: str, hint: str = "give a verifiable credential, a Proof of Logic or a zero-knowledge proof"
) -> CortexError:
    """The error for a document that cannot be stored as a proof."""
    message = f"`proof_data` cannot be stored as a proof: {why}"
    return CortexError("invalid_arguments", message, hint=hint, details={"field": "proof_data"})


def other_namespace(graph: NamespacedGraph) -> CortexError:
    """The error for a proof of a statement that is not of a namespace."""
    return cannot_store(
        f"it is not about a statement of {graph.namespace}", "submit it to the namespace of its statement"
    )


def quad_of_line(line: str, namespace: str, graph: NamespacedGraph) -> Quad:
    """The quad of the N-Quads line of a statement, in the graph of the namespace.

    Raises:
        CortexError: `invalid_arguments`: it is not one line, or is of another namespace.
    """
    try:
        quads: list[Quad] = list(parse(line, RdfFormat.N_QUADS))
    except (SyntaxError, ValueError):
        quads = []
    if len(quads) != 1 or namespace != graph.namespace or quads[0].graph_name != graph.names.graph:
        raise other_namespace(graph)
    return quads[0]
