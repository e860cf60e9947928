"""The Proofs of Logic of the triples in a result.

Rules kept here:
- nothing is written: a triple without a proof gets none here;
- all proofs of a result share one time limit. A proof that it does not suffice for is `not checked`, with the reason;
- a skill requests at most five proofs for a query, and needs the permission to request proofs. Each request is answered
  or refused with a reason; its texts are shown unless they read like instructions to a model.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cortex_graph import GraphError
from cortex_graph.assertion_records.proofs import StoredProof
from cortex_graph.namespace.about import about_triples
from cortex_graph.store_access.read_ahead import reading_ahead
from cortex_skills.errors import CortexError, from_floor
from cortex_skills.features.proofs.logic.document import KIND
from cortex_skills.features.proofs.logic.verify import read_again, verify
from cortex_skills.features.proofs.proving import prover_of
from cortex_skills.features.proofs.verdict import Verdict
from cortex_skills.injection.quoted_instructions import instructs
from cortex_skills.safe_io.display import one_line
from cortex_skills.tools.base import Call

MAX_REQUESTS = 5
_MAX_NAME = 1024
_MAX_TRIPLES = 5  # for one request
_LEFT_OUT = "(left out: the text of the skill reads like an instruction)"


@dataclass(frozen=True, slots=True)
class AnswerProofs:
    """The proofs of the result of one call; `deadline` is for all of them, by `time.monotonic`."""

    call: Call
    deadline: float

    @classmethod
    def of(cls, call: Call) -> AnswerProofs:
        """The proofs of the result of a call, with the time limit of the settings."""
        return cls(call, time.monotonic() + call.host.config.skill_sandbox.proof_timeout_ms / 1000)

    def proofs(self, triples: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """For each triple `{tripleHash, proofHash, verdict, checks}`."""
        graph = self.call.host.graph
        ids = [triple["id"] for triple in triples]
        with reading_ahead(graph.store, lambda: about_triples(graph, ids, proofs=True)):
            found = [graph.current_proofs(triple_id, KIND) for triple_id in ids]
            with reading_ahead(graph.store, lambda: read_again(graph, (each[0] for each in found if each))):
                return [self._proof(triple, each) for triple, each in zip(triples, found, strict=True)]

    def _proof(self, triple: dict[str, Any], found: Sequence[StoredProof]) -> dict[str, Any]:
        host = self.call.host
        entry: dict[str, Any] = {"tripleHash": triple["id"], "proofHash": None, "verdict": Verdict.NOT_CHECKED.value}
        if not found:
            return entry | {"reasons": ["it has no proof"]}
        entry["proofHash"] = found[0].id
        if not host.part(prover_of).is_on:
            return entry | {"reasons": ["verification.polValidation is off"]}
        left = self.deadline - time.monotonic()
        checks = verify(
            found[0],
            host.graph,
            replay=left > 0,
            timeout_s=max(left, 0.001),
            cancel=self.call.cancel,
            host_rules=host.part(prover_of).namespace_rules,
        )
        entry["verdict"] = Verdict.of_all(check.verdict for check in checks).value
        return entry | {"checks": [check.for_a_model().to_json() for check in checks]}

    def requests(self, requested: Sequence[Any]) -> list[dict[str, Any]]:
        """The answers to the proof requests of a skill."""
        parsed = [_parsed(each) for each in requested[:MAX_REQUESTS]]
        texts = [text for parts in parsed for text in parts.values()]
        hides = any(map(instructs, (*texts, " ".join(texts))))  # an instruction may be split over several texts
        return [self._request(parts, hides=hides) for parts in parsed]

    def _request(self, parts: dict[str, str], *, hides: bool) -> dict[str, Any]:
        if not parts:
            return {"status": "refused", "message": "a request is {proofType, subject, predicate}, with texts"}
        shown = {key: _LEFT_OUT if hides else one_line(part) for key, part in parts.items()}
        if parts["proofType"] != KIND:
            return shown | {"status": "refused", "message": "only proofs of type pol are made here"}
        try:
            return shown | {"status": "answered", "proofs": self._answers(parts["subject"], parts["predicate"])}
        except (CortexError, GraphError) as error:
            known = from_floor(error)
            if known is not None and known.code == "cancelled":
                raise
            return shown | {"status": "failed", "message": _LEFT_OUT if hides else one_line(str(error))[:300]}

    def _answers(self, subject: str, predicate: str) -> list[dict[str, Any]]:
        graph = self.call.host.graph
        page = graph.pattern_query({"subject": subject, "predicate": predicate, "limit": _MAX_TRIPLES})
        matches = page["matches"]
        return [self._answer(triple, entry) for triple, entry in zip(matches, self.proofs(matches), strict=True)]

    def _answer(self, triple: dict[str, Any], entry: dict[str, Any]) -> dict[str, Any]:
        """The stored proof of a triple; without one, the current verdict of the rules, which is not stored."""
        host, left = self.call.host, self.deadline - time.monotonic()
        if entry["proofHash"] is not None or not host.part(prover_of).is_on or left <= 0:
            return entry
        quad = host.graph.quad_of({key: triple[key] for key in ("subject", "predicate", "object")})
        evaluation, _ = host.part(prover_of).evaluate(quad, self.call.skill.rules, self.call.cancel, timeout_s=left)
        messages = [f"{finding.message} [{name}, {finding.rule}]" for name, finding in evaluation.violations]
        reasons = ["evaluated now, and not stored", *messages]
        return entry | {"verdict": evaluation.verdict.value, "reasons": reasons}


def _parsed(request: Any) -> dict[str, str]:
    """The parts of a request; empty when it is malformed."""
    keys = ("proofType", "subject", "predicate")
    given = {key: request.get(key) for key in keys} if isinstance(request, dict) else {}
    parts = {key: part for key, part in given.items() if isinstance(part, str) and 0 < len(part) <= _MAX_NAME}
    return parts if len(parts) == len(keys) else {}
