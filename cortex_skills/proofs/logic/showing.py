"""Proofs of Logic beside the triples that somebody asked for.

Rules kept here:
- nothing is written: what has no proof gets none here;
- all proofs of an answer share one time limit. What it did not suffice for is `not_evaluated`, and says so;
- a skill asks for at most five proofs a query, and only if it may request proofs; each is answered or told why not,
  and what it names them by is shown unless that tells a model what to do.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cortex_graph import GraphError
from cortex_skills.errors import CortexError, from_floor
from cortex_skills.escaping import one_line
from cortex_skills.memory.hiding import without_memories
from cortex_skills.proofs.logic.document import KIND
from cortex_skills.proofs.logic.verifying import verify
from cortex_skills.proofs.verdict import Verdict
from cortex_skills.proofs.wording import instructs

if TYPE_CHECKING:
    from cortex_skills.proofs.logic.prover import Prover
    from cortex_skills.tools.base import Call

MAX_REQUESTS = 5
_MAX_NAME = 1024
_MAX_TRIPLES = 5  # that one request is about
_LEFT_OUT = "(left out: what the skill says here reads like an instruction)"


@dataclass(frozen=True, slots=True)
class Shower:
    """Shows the proofs of one answer.

    Attributes:
        call: what is answered.
        prover: of the namespace.
        deadline: when it must be done, by `time.monotonic`.

    """

    call: Call
    prover: Prover
    deadline: float

    @classmethod
    def of(cls, call: Call) -> Shower | None:
        """For a call; None when nothing is proved here."""
        if call.prover is None:
            return None
        limit_s = call.config.skill_sandbox.proof_timeout_ms / 1000
        return cls(call, call.prover(), time.monotonic() + limit_s)

    def proofs(self, triples: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """What there is of each triple: `{tripleHash, proofHash, verdict, checks}`."""
        return [self._proof(triple) for triple in triples]

    def _proof(self, triple: dict[str, Any]) -> dict[str, Any]:
        found = self.call.graph.proofs.of(triple["id"], KIND)
        entry: dict[str, Any] = {"tripleHash": triple["id"], "proofHash": None, "verdict": Verdict.NOT_EVALUATED.value}
        if not found:
            return entry | {"reasons": ["it has no proof"]}
        entry["proofHash"] = found[0].id
        if not self.prover.is_on:
            return entry | {"reasons": ["verification.polValidation is off"]}
        left = self.deadline - time.monotonic()
        stop = self.call.stop
        timeout_s, ours = max(left, 0.001), self.prover.namespace_rules
        checks = verify(found[0], self.call.graph, replay=left > 0, timeout_s=timeout_s, stop=stop, ours=ours)
        entry["verdict"] = Verdict.of_all(check.verdict for check in checks).value
        return entry | {"checks": [check.for_a_model().to_json() for check in checks]}

    def requests(self, asked: Sequence[Any]) -> list[dict[str, Any]]:
        """What there is of the statements that a skill asks proofs for."""
        wanted = [_wanted(each) for each in asked[:MAX_REQUESTS]]
        texts = [text for parts in wanted for text in parts.values()]
        hides = any(map(instructs, (*texts, " ".join(texts))))  # what it says it may say in pieces
        return [self._request(parts, hides=hides) for parts in wanted]

    def _request(self, parts: dict[str, str], *, hides: bool) -> dict[str, Any]:
        if not parts:
            return {"status": "refused", "message": "a request is {proofType, subject, predicate}, with texts"}
        shown = {key: _LEFT_OUT if hides else one_line(part) for key, part in parts.items()}
        if parts["proofType"] != KIND:
            return shown | {"status": "refused", "message": "only proofs of type pol are made here"}
        try:
            return shown | {"status": "answered", "proofs": self._answers(parts["subject"], parts["predicate"])}
        except (CortexError, GraphError) as error:
            ours = from_floor(error)
            if ours is not None and ours.code == "cancelled":
                raise
            return shown | {"status": "failed", "message": _LEFT_OUT if hides else one_line(str(error))[:300]}

    def _answers(self, subject: str, predicate: str) -> list[dict[str, Any]]:
        graph = self.call.graph
        page = graph.pattern_query({"subject": subject, "predicate": predicate, "limit": _MAX_TRIPLES})
        page = without_memories(page, "matches", self.call.skill.semantic, graph.names)
        return [self._answer(triple) for triple in page["matches"]]

    def _answer(self, triple: dict[str, Any]) -> dict[str, Any]:
        """The proof of a triple; when it has none, what its rules say now, which is not kept."""
        entry = self._proof(triple)
        left = self.deadline - time.monotonic()
        if entry["proofHash"] is not None or not self.prover.is_on or left <= 0:
            return entry
        quad = self.call.graph.quad_of({key: triple[key] for key in ("subject", "predicate", "object")})
        judgement, _ = self.prover.judge(quad, self.call.skill.rules, self.call.stop, timeout_s=left)
        said = [f"{finding.message} [{name}, {finding.rule}]" for name, finding in judgement.violations]
        return entry | {"verdict": judgement.verdict.value, "reasons": ["judged now, and not kept", *said]}


def _wanted(asked: Any) -> dict[str, str]:
    """The parts of a request; none when it is no request."""
    keys = ("proofType", "subject", "predicate")
    given = {key: asked.get(key) for key in keys} if isinstance(asked, dict) else {}
    parts = {key: part for key, part in given.items() if isinstance(part, str) and 0 < len(part) <= _MAX_NAME}
    return parts if len(parts) == len(keys) else {}
