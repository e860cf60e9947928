"""From a request for a proof to what is proved: the claim, the statement, and the witness.

Rules kept here:
- a commitment is one that stands in the graph, in the triple that the request names, and its opening comes from the
  sealed store: no request brings a value or a blinding along;
- each type of proof takes what it needs and nothing else;
- the statement is the triple that the request names; without an object it is the one that the commitment stands in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from pyoxigraph import NamedNode, Quad

from cortex_graph import NamespacedGraph
from cortex_skills.errors import CortexError
from cortex_skills.proofs.keys import KeyFolder, public_of
from cortex_skills.proofs.zk.claims import (
    Claim,
    Commitment,
    EqualityClaim,
    KeyClaim,
    MembershipClaim,
    OpeningClaim,
    RangeClaim,
)
from cortex_skills.proofs.zk.group import NotCanonicalError
from cortex_skills.proofs.zk.key_secret import KeySecret
from cortex_skills.proofs.zk.openings import OpeningStore
from cortex_skills.proofs.zk.pedersen import Opening, commitment_text, read_commitment
from cortex_skills.proofs.zk.statement import Statement, moment_text

LIFETIME = timedelta(days=1)

_MOST = 1000  # commitments in one place
_TAKES = {
    "schnorr": ((), ("publicKey", "commitment")),
    "equality": (("equalTo",), ("commitment",)),
    "membership": (("members",), ("commitment",)),
    "range": (("minimum", "maximum"), ("commitment",)),
}
_OF_TYPES = ("publicKey", "commitment", "equalTo", "members", "minimum", "maximum")


@dataclass(frozen=True, slots=True)
class Requested:
    """What is to be proved.

    Attributes:
        claim: what of.
        statement: what for.
        witness: with what.
        premises: the ids of the triples that the commitments stand in.

    """

    claim: Claim
    statement: Statement
    witness: Sequence[Opening] | KeySecret
    premises: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Holder:
    """Where a proof's witness comes from.

    Attributes:
        graph: that commitments stand in.
        openings: what opens them.
        keys: the user's keys.
        skill, skill_version: on whose behalf.

    """

    graph: NamespacedGraph
    openings: OpeningStore
    keys: KeyFolder
    skill: str
    skill_version: str


def requested(asked: Mapping[str, Any], holder: Holder, now: datetime) -> Requested:
    """What a request asks to be proved.

    Args:
        asked: `proofType, subject, predicate, object?, commitment?, equalTo?, publicKey?, members?, minimum?, maximum?,
            nonce?, expires?`, of the types that the tool's schema says.
        holder: where the witness comes from.
        now: the time to go by, with its zone.

    Raises:
        CortexError: `invalid_arguments`: something of it is not right; `proof_failed`: there is no such commitment, or
            nothing here opens it; `config_invalid`: the store of openings cannot be used.

    """
    _check_parts(asked)
    try:
        return _requested(asked, holder, now)
    except NotCanonicalError as error:
        raise _invalid(str(error), "see skill_request_zk_proof in docs/tools.md") from None


def _requested(asked: Mapping[str, Any], holder: Holder, now: datetime) -> Requested:
    proof_type = asked["proofType"]
    claim: Claim
    witness: list[Opening] | KeySecret
    if "publicKey" in asked:
        claim, witness = _key(asked["publicKey"], holder)
        found = []
    else:
        here = asked.get("commitment") or {"subject": asked["subject"], "predicate": asked["predicate"]}
        found = [_found(here, holder)]
        if proof_type == "equality":
            found.append(_found(asked["equalTo"], holder))
        commitments = [commitment for commitment, _ in found]
        witness = [opening for _, opening in found]
        if proof_type == "schnorr":
            claim = OpeningClaim(commitments[0])
        elif proof_type == "equality":
            claim = EqualityClaim(*commitments)
        elif proof_type == "membership":
            claim = MembershipClaim(commitments[0], tuple(_exact(member) for member in asked["members"]))
        else:
            claim = RangeClaim(commitments[0], int(asked["minimum"]), int(asked["maximum"]))
    quad = _statement_quad(asked, holder.graph, found)
    nonce, expires = asked.get("nonce", ""), asked.get("expires") or moment_text(now + LIFETIME)
    namespace = holder.graph.namespace
    statement = Statement(namespace, f"{quad} .", holder.skill, holder.skill_version, nonce, expires)
    if statement.has_expired(now):
        raise _invalid(f"the proof would have expired at {expires}", "give an expiry in the future, or none")
    rests_on = (triple_id(holder.graph, commitment) for commitment, _ in found)
    premises = tuple(sorted({one for one in rests_on if one != statement.triple_hash}))
    return Requested(claim, statement, witness, premises)


def triple_id(graph: NamespacedGraph, commitment: Commitment) -> str:
    """The id of the triple that a commitment stands in, in this namespace."""
    return graph.index.hash_of(_quad(graph, commitment))


def _quad(graph: NamespacedGraph, commitment: Commitment) -> Quad:
    from pyoxigraph import Literal

    subject, predicate = NamedNode(commitment.subject), NamedNode(commitment.predicate)
    return Quad(subject, predicate, Literal(commitment.text), graph.names.graph)


def _statement_quad(
    asked: Mapping[str, Any], graph: NamespacedGraph, found: Sequence[tuple[Commitment, Opening]]
) -> Quad:
    if "object" in asked:
        return graph.quad_of({key: asked[key] for key in ("subject", "predicate", "object")})
    for commitment, _ in found[:1]:
        quad = _quad(graph, commitment)
        names = graph.names
        if (quad.subject, quad.predicate) == (names.node(asked["subject"]), names.node(asked["predicate"])):
            return quad
    raise _invalid("the statement has no object", "give the object of the statement that the proof is for")


def _check_parts(asked: Mapping[str, Any]) -> None:
    """A type of proof takes what it needs, and nothing else."""
    needed, allowed = _TAKES[asked["proofType"]]
    missing = [part for part in needed if part not in asked]
    other = [part for part in _OF_TYPES if part in asked and part not in (*needed, *allowed)]
    if missing or other or ("publicKey" in asked and "commitment" in asked):
        problem = f"needs {' and '.join(missing)}" if missing else f"takes no {(other or ['commitment'])[0]} with that"
        takes = ", ".join((*needed, *(f"{part}?" for part in allowed)))
        raise _invalid(f"a proof of {asked['proofType']} {problem}", f"it takes {takes}, beside the statement")


def _found(where: Mapping[str, Any], holder: Holder) -> tuple[Commitment, Opening]:
    """The commitment that stands in a place of the graph and can be opened here."""
    graph, store = holder.graph, holder.openings
    asked = {"subject": where["subject"], "predicate": where["predicate"], "limit": _MOST}
    if "value" in where:
        asked["object"] = commitment_text(read_commitment(where["value"]))
    subject, predicate = (graph.names.node(where[key], key).value for key in ("subject", "predicate"))
    found = []
    known = 0
    for triple in graph.list_triples(asked)["triples"]:
        try:
            point = read_commitment(triple["object"])
        except NotCanonicalError:
            continue
        known += 1
        opening = store.get(point, holder.skill)
        if opening is not None:
            found.append((Commitment(subject, predicate, point), opening))
    if not known:
        hint = "the issuer's statement with the commitment must be in the graph first"
        raise CortexError("proof_failed", "no commitment stands there in the graph", hint=hint)
    if not found:
        hint = "its holder takes it in with `cortex-skills proof take`, and may name the skills that it is for"
        raise CortexError("proof_failed", "nothing here opens the commitment for this skill", hint=hint)
    if len(found) > 1:
        raise _invalid(f"{len(found)} commitments stand there", "give the value of the one that is meant")
    return found[0]


def _key(did: str, holder: Holder) -> tuple[KeyClaim, KeySecret]:
    try:
        claim = KeyClaim(public_of(did))
    except ValueError as error:
        raise _invalid(f"the public key is none: {error}", "give the did:key of an Ed25519 key") from None
    for info in holder.keys.list():
        if info.did == did:
            return claim, KeySecret.of(holder.keys.open(info.name))
    raise CortexError(
        "proof_failed", "no key here has this public key", hint="`cortex-skills key list` lists those that there are"
    )


def _exact(member: Any) -> Any:
    """A member as it is meant: JSON has 5 and 5.0 for one number."""
    return int(member) if isinstance(member, float) and member.is_integer() else member


def utc_now() -> datetime:
    """The time, with its zone."""
    return datetime.now(UTC)


def _invalid(message: str, hint: str) -> CortexError:
    return CortexError("invalid_arguments", message, hint=hint)
