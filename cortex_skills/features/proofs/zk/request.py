"""Turning a request for a proof into the claim, the statement and the witness.

Rules kept here:
- a commitment is read from the graph, from the triple that the request names, and its opening from the sealed store: a
  request contains no value and no blinding;
- each proof type takes exactly the parameters that it needs;
- the statement is the triple that the request names; without an object it is the triple of the commitment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from pyoxigraph import NamedNode, Quad

from cortex_graph import NamespacedGraph
from cortex_skills.errors import CortexError
from cortex_skills.features.proofs.zk.claims import (
    Claim,
    Commitment,
    EqualityClaim,
    KeyClaim,
    MembershipClaim,
    OpeningClaim,
    RangeClaim,
)
from cortex_skills.features.proofs.zk.group import NotCanonicalError
from cortex_skills.features.proofs.zk.key_secret import KeySecret
from cortex_skills.features.proofs.zk.openings import OpeningStore
from cortex_skills.features.proofs.zk.pedersen import Opening, commitment_text, read_commitment
from cortex_skills.features.proofs.zk.statement import ZkStatement, moment_text
from cortex_skills.keys import KeyFolder, public_of

LIFETIME = timedelta(days=1)

_MOST = 1000  # commitments with one subject and predicate
_PARAMETERS = {  # of each type: required, optional
    "schnorr": ((), ("publicKey", "commitment")),
    "equality": (("equalTo",), ("commitment",)),
    "membership": (("members",), ("commitment",)),
    "range": (("minimum", "maximum"), ("commitment",)),
}
_ALL_PARAMETERS = ("publicKey", "commitment", "equalTo", "members", "minimum", "maximum")


@dataclass(frozen=True, slots=True)
class Requested:
    """A proof to make.

    Attributes:
        claim: what is proved.
        statement: the statement that the proof is bound to.
        witness: the openings, or the secret key.
        premises: the ids of the triples of the commitments.
    """

    claim: Claim
    statement: ZkStatement
    witness: Sequence[Opening] | KeySecret
    premises: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Holder:
    """The sources of a proof's witness.

    Attributes:
        graph: the namespace with the commitments.
        openings: the openings of the user.
        keys: the keys of the user.
        skill, skill_version: the acting skill.
    """

    graph: NamespacedGraph
    openings: OpeningStore
    keys: KeyFolder
    skill: str
    skill_version: str


def requested(asked: Mapping[str, Any], holder: Holder, now: datetime) -> Requested:
    """Resolve a request for a proof.

    Args:
        asked: `proofType, subject, predicate, object?, commitment?, equalTo?, publicKey?, members?, minimum?, maximum?,
            nonce?, expires?`, of the types in the tool's schema.
        holder: the sources of the witness.
        now: the current time, with its zone.

    Raises:
        CortexError: `invalid_arguments`: a parameter is not valid; `proof_failed`: there is no such commitment, or no
            opening of it; `config_invalid`: the store of openings cannot be used.
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
        place = asked.get("commitment") or {"subject": asked["subject"], "predicate": asked["predicate"]}
        found = [_found(place, holder)]
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
    statement = ZkStatement(namespace, f"{quad} .", holder.skill, holder.skill_version, nonce, expires)
    if statement.has_expired(now):
        raise _invalid(f"the requested expiry has passed: {expires}", "give an expiry in the future, or omit it")
    ids = {triple_id(holder.graph, commitment) for commitment, _ in found}
    premises = tuple(sorted(ids - {statement.triple_hash}))
    return Requested(claim, statement, witness, premises)


def triple_id(graph: NamespacedGraph, commitment: Commitment) -> str:
    """The id of the triple of a commitment, in this namespace."""
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
    raise _invalid("the statement has no object", "give the object of the statement")


def _check_parts(asked: Mapping[str, Any]) -> None:
    """Check that a request has exactly the parameters of its proof type."""
    needed, allowed = _PARAMETERS[asked["proofType"]]
    missing = [part for part in needed if part not in asked]
    other = [part for part in _ALL_PARAMETERS if part in asked and part not in (*needed, *allowed)]
    if missing or other or ("publicKey" in asked and "commitment" in asked):
        problem = f"needs {' and '.join(missing)}" if missing else f"does not take {(other or ['commitment'])[0]}"
        takes = ", ".join((*needed, *(f"{part}?" for part in allowed)))
        raise _invalid(f"a proof of {asked['proofType']} {problem}", f"it takes {takes}, and the statement")


def _found(where: Mapping[str, Any], holder: Holder) -> tuple[Commitment, Opening]:
    """The one commitment with a subject and predicate that can be opened."""
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
        hint = "import the issuer's statement with the commitment first"
        raise CortexError("proof_failed", "the graph has no commitment with this subject and predicate", hint=hint)
    if not found:
        hint = "the holder imports the opening with `cortex-skills proof take`, and may allow it for this skill"
        raise CortexError("proof_failed", "there is no opening of the commitment for this skill", hint=hint)
    if len(found) > 1:
        raise _invalid(f"{len(found)} commitments have this subject and predicate", "give the value of one of them")
    return found[0]


def _key(did: str, holder: Holder) -> tuple[KeyClaim, KeySecret]:
    try:
        claim = KeyClaim(public_of(did))
    except ValueError as error:
        raise _invalid(f"the public key is not valid: {error}", "give the did:key of an Ed25519 key") from None
    for info in holder.keys.list():
        if info.did == did:
            return claim, KeySecret.of(holder.keys.open(info.name))
    raise CortexError(
        "proof_failed", "no key of this user has this public key", hint="`cortex-skills key list` lists the keys"
    )


def _exact(member: Any) -> Any:
    """A member as an integer where possible: 5 and 5.0 are the same JSON number."""
    return int(member) if isinstance(member, float) and member.is_integer() else member


def utc_now() -> datetime:
    """The current time, with its zone."""
    return datetime.now(UTC)


def _invalid(message: str, hint: str) -> CortexError:
    return CortexError("invalid_arguments", message, hint=hint)
