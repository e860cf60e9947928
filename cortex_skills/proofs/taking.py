"""Taking in a proof that was made elsewhere.

Rules kept here:
- what is taken in is a proof of a known kind, about a statement of this namespace, and is what it was said to be: the
  declared type is the proof's own, and so are subject and predicate;
- what is refuted is not taken in; what could not be checked is, and is told to be `not_evaluated`;
- it is kept as its canonical JSON (RFC 8785), so the same proof is kept once.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import rfc8785
from pyoxigraph import Quad

from cortex_graph import NamespacedGraph
from cortex_graph.moments import date_time
from cortex_graph.proofs import MAX_CONTENT, StoredProof, content_id
from cortex_skills.errors import CortexError
from cortex_skills.escaping import shown_name
from cortex_skills.proofs.about import logic_of, no_proof, statement_of
from cortex_skills.proofs.kept import check_kept, type_of
from cortex_skills.proofs.kinds import Asked, kind_of
from cortex_skills.proofs.verdict import Check, Verdict

_SKEW = timedelta(minutes=1)  # how far two clocks may be apart
_ADDING = threading.Lock()  # else a proof that is handed in twice at once would have been made at two times


@dataclass(frozen=True, slots=True)
class Shown:
    """A proof that somebody hands over.

    Attributes:
        document: the proof, as JSON.
        declared: the type that they say it has: one of `cortex_skills.proofs.kept.TYPES`.
        subject: the name of what they say that it is about; None when they do not say.
        predicate: of what they say that it states of it; None when they do not say.
        rules: texts of rule sets that it names.

    """

    document: Mapping[str, Any]
    declared: str
    subject: str | None = None
    predicate: str | None = None
    rules: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Taken:
    """A proof that was taken in.

    Attributes:
        proof: as it is kept.
        is_new: whether it was not there before.
        checks: what holds of it.

    """

    proof: StoredProof
    is_new: bool
    checks: tuple[Check, ...]

    @property
    def verdict(self) -> Verdict:
        """Of the whole."""
        return Verdict.of_all(check.verdict for check in self.checks)


def take_in(shown: Shown, graph: NamespacedGraph, asked: Asked) -> Taken:
    """Keep a proof that somebody shows.

    Args:
        shown: the proof, and what they say of it.
        graph: the namespace.
        asked: what it is checked against; its graph, triple and rules are set here.

    Raises:
        CortexError: `invalid_arguments`: it is no proof, not of that type, or not about this namespace; `proof_failed`:
            it is refuted, with the checks in `details.checks`; `zk_disabled`.

    """
    kind, content = _readable(shown)
    if kind == "zk":
        from cortex_skills.proofs.zk.service import check_enabled

        check_enabled(asked.config)
    quad, proof = _as_kept(kind, content, graph, asked)
    texts = {content_id(text): text for text in shown.rules}
    _check_said(shown, quad, graph, _named_rules(kind, content), texts)
    kept = graph.proofs.get(proof.id)
    checks = tuple(check_kept(kept or proof, graph, replace(asked, rules=texts)))
    taken = Taken(kept or proof, kept is None, checks)
    if kept is not None:
        return taken
    if taken.verdict is Verdict.REFUTED:
        wrong = [check for check in checks if check.verdict is Verdict.REFUTED]
        said = "; ".join(reason for check in wrong for reason in check.reasons)[:600] or "it does not hold"
        details = {"checks": [check.to_json() for check in checks]}
        hint = "the checks say which part does not hold"
        raise CortexError("proof_failed", f"the proof is refuted, and is not kept: {said}", hint=hint, details=details)
    rules = {each for each in _named_rules(kind, content) if each in texts or graph.proofs.rules(each) is not None}
    proof = replace(proof, rules=tuple(sorted(rules)))
    with _ADDING:
        before = graph.proofs.get(proof.id)
        if before is None:
            graph.proofs.add(proof, texts.values())
    return Taken(before or proof, before is None, checks)


def _readable(shown: Shown) -> tuple[str, str]:
    """The kind of a document, and its canonical text."""
    try:
        content = rfc8785.dumps(dict(shown.document)).decode()
    except (ValueError, RecursionError) as error:
        raise no_proof(f"it cannot be written as canonical JSON (RFC 8785): {str(error)[:200]}") from None
    if len(content) > MAX_CONTENT:
        raise no_proof(f"it has more than {MAX_CONTENT} characters")
    kind = kind_of(content)
    if kind is None:
        raise no_proof("it is of no kind that is known here")
    found = type_of(kind, content)
    if found != shown.declared:
        raise CortexError(
            "invalid_arguments",
            f"the proof is declared to be of type {shown.declared}, and is of type {shown_name(found)}",
            hint="declare the type that the proof has",
            details={"field": "proof_type"},
        )
    return kind, content


def _as_kept(kind: str, content: str, graph: NamespacedGraph, asked: Asked) -> tuple[Quad, StoredProof]:
    """The statement of a proof, and the proof as it is to be kept."""
    triple_id, quad = statement_of(kind, content, graph)
    if quad is None:
        raise no_proof("the statement that it signs is not in this namespace", "write the statement first")
    if kind == "pol":
        read = logic_of(content)
        premises = read.premises
        made, is_part = _moment(read.created, asked.now), not premises.is_whole
        kept = StoredProof(kind, content, made, (triple_id,), premises.listed, rests_on_graph=is_part)
        return quad, kept
    return quad, StoredProof(kind, content, date_time(asked.now), (triple_id,), _commitments(kind, content, graph))


def _commitments(kind: str, content: str, graph: NamespacedGraph) -> tuple[str, ...]:
    """The ids of the triples in which the commitments of a proof stand, as far as they are here."""
    if kind != "zk":
        return ()
    from cortex_skills.proofs.zk import read_proof
    from cortex_skills.proofs.zk.requesting import triple_id

    proof = read_proof(json.loads(content))
    found = {triple_id(graph, commitment) for commitment in proof.claim.commitments} - {proof.statement.triple_hash}
    return tuple(sorted(each for each in found if graph.index.find(each) is not None))


def _named_rules(kind: str, content: str) -> list[str]:
    """The digests of the shapes that a proof names."""
    return [each["digest"] for each in logic_of(content).fields["rules"][1:]] if kind == "pol" else []


def _check_said(
    shown: Shown, quad: Quad, graph: NamespacedGraph, named: Sequence[str], texts: Mapping[str, str]
) -> None:
    """Refuse a proof that is about something else than was said, or that comes with rules that it does not name."""
    for field, name, term in (
        ("subject", shown.subject, quad.subject),
        ("predicate", shown.predicate, quad.predicate),
    ):
        if name is not None and graph.names.node(name, field) != term:
            message = f"the {field} of the proof's statement is not {shown_name(name)}"
            hint = "leave it out, or name what the proof is about"
            raise CortexError("invalid_arguments", message, hint=hint, details={"field": field})
    if not set(texts) <= set(named):
        message, hint = "a rule set that comes with the proof is not named by it", "send the texts that were applied"
        raise CortexError("invalid_arguments", message, hint=hint, details={"field": "rules"})


def _moment(text: str, now: datetime) -> str:
    """When a proof says that it was made; the newest count first, so it was not in the future."""
    try:
        made = datetime.fromisoformat(text)
    except ValueError:
        raise no_proof("the time at which it was made is none") from None
    if made > now + _SKEW:
        raise no_proof(f"it was made in the future, at {text}")
    return text
