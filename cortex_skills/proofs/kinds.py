"""The kinds of proofs that are kept or shown, and what checks each.

Rules kept here:
- what a proof is checked by follows from its kind alone; one of an unknown kind is `not_evaluated`;
- a proof that is shown for a triple has to be about that very triple: one that is good and about another is refuted;
- a kind is imported when a proof of it is checked.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from cortex_skills.errors import CortexError
from cortex_skills.proofs.verdict import Check, Verdict

if TYPE_CHECKING:
    from pyoxigraph import Quad

    from cortex_graph import NamespacedGraph
    from cortex_skills.config import Config
    from cortex_skills.stopping import Stop


@dataclass(frozen=True, slots=True)
class Asked:
    """What a proof is checked against.

    Attributes:
        now: the time to go by, with its zone.
        config: the host's settings: limits, and whom it trusts.
        graph: the namespace to look at; None when there is none at hand.
        triple: the triple that it has to be about, of this graph; None for whichever it is about.
        replay: whether the rules of a Proof of Logic are asked again.
        credentials: what is shown beside the proof, each a credential's JSON: who signed the commitments of a
            zero-knowledge proof.
        rules: the texts of rule sets by their SHA-256, beside those that the graph keeps.
        nonce: what a zero-knowledge proof has to be bound to; None when nothing was asked.
        deadline: when all that is checked together has to be done, by `time.monotonic`; None for no such moment. Each
            proof has the time of the settings besides.
        stop: ends it early.

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
    stop: Stop | None = None

    @property
    def limit_ms(self) -> int:
        """How long the next proof may take, in milliseconds; 0 when the time is over."""
        most = self.config.skill_sandbox.proof_timeout_ms
        if self.deadline is None:
            return most
        return min(most, max(0, math.ceil((self.deadline - time.monotonic()) * 1000)))

    @property
    def triple_id(self) -> str | None:
        """The id of the triple that it has to be about."""
        return None if self.graph is None or self.triple is None else self.graph.index.identify(self.triple)


def check_proof(kind: str, content: str, asked: Asked) -> list[Check]:
    """What holds of a proof, part by part.

    Args:
        kind: what it is; see `kind_of`.
        content: the proof itself, as it is kept.
        asked: what it is checked against.

    Raises:
        CortexError: `cancelled`; `config_invalid`: the shapes that the settings name cannot be read.

    """
    checker = _CHECKERS.get(kind)
    if checker is None:
        why = f"this version knows no proofs of the kind {kind[:40]!r}"
        return [Check("proof", Verdict.NOT_EVALUATED, "what its kind establishes", "anything else", (why,))]
    if not asked.limit_ms:
        why = "the time for all that was to be checked was used up before"
        return [Check("proof", Verdict.NOT_EVALUATED, "what its kind establishes", "anything else", (why,))]
    return checker(content, asked)


def kind_of(content: str) -> str | None:
    """What a document is a proof of, by its form; None when it is none that is known.

    Raises:
        CortexError: `invalid_arguments`: it is no JSON object.

    """
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise CortexError("invalid_arguments", "this is no proof: a proof is a JSON object", hint="give a proof's file")
    if "@context" in document:
        return "credential"
    if document.get("type") == "ProofOfLogic":
        return "pol"
    from cortex_skills.proofs.zk import is_proof

    return "zk" if is_proof(document) else None


def _credential(content: str, asked: Asked) -> list[Check]:
    from cortex_skills.proofs.signing.stored import check_stored, claim_of

    claim = None if asked.graph is None or asked.triple is None else claim_of(asked.graph, asked.triple)
    return check_stored(content, asked.now, claim)


def _logic(content: str, asked: Asked) -> list[Check]:
    from cortex_skills.proofs.logic.document import read_document
    from cortex_skills.proofs.logic.prover import Prover
    from cortex_skills.proofs.logic.verifying import verify

    try:
        document = read_document(content)
    except CortexError as error:
        return [Check("signature", Verdict.REFUTED, "somebody signed this proof", "anything else", (error.message,))]
    checks = verify(
        document,
        asked.graph,
        rules=asked.rules,
        timeout_s=max(1, asked.limit_ms) / 1000,
        replay=asked.replay,
        stop=asked.stop,
        ours=None if asked.graph is None else Prover(asked.config, asked.graph).namespace_rules,
    )
    return [*checks, *_about(document.fields["statementHash"], asked.triple_id)]


def _zero_knowledge(content: str, asked: Asked) -> list[Check]:
    from cortex_skills.proofs.signing import MalformedError, read_document
    from cortex_skills.proofs.zk.service import verify
    from cortex_skills.proofs.zk.verifying import Expected, check_document

    try:
        document, credentials = json.loads(content), [read_document(each) for each in asked.credentials]
        if asked.graph is None:
            expected = Expected(asked.now, frozenset(asked.config.proofs.trusted_issuers), asked.nonce)
            return check_document(document, expected, lambda _: credentials)[0]
        bound = {"tripleHash": asked.triple_id, "nonce": asked.nonce}
        shown = {"proof": document, "credentials": credentials, **{k: v for k, v in bound.items() if v is not None}}
        return verify(shown, asked.graph, asked.config, now=asked.now, within_ms=asked.limit_ms, stop=asked.stop)[0]
    except (ValueError, RecursionError):
        verdict, why = Verdict.REFUTED, "it is no JSON"
    except MalformedError as error:
        verdict, why = Verdict.NOT_EVALUATED, f"a credential that is shown for it is none: {error}"
    except CortexError as error:
        if error.code not in ("proof_timeout", "zk_disabled"):
            raise
        verdict, why = Verdict.NOT_EVALUATED, error.message
    return [Check("proof", verdict, "what the proof claims, without the value", "anything else", (why,))]


def _about(found: str, expected: str | None) -> list[Check]:
    if expected is None:
        return []
    verdict = Verdict.VERIFIED if found == expected else Verdict.REFUTED
    why = () if verdict is Verdict.VERIFIED else (f"it is about the statement {found}",)
    return [Check("about", verdict, "the proof is about this triple", "that it proves it: see the other parts", why)]


_CHECKERS: dict[str, Callable[[str, Asked], list[Check]]] = {
    "credential": _credential,
    "pol": _logic,
    "zk": _zero_knowledge,
}
