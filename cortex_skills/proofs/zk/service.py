"""Zero-knowledge proofs in a namespace: made, kept, found and verified.

Rules kept here:
- a proof is kept as RDF beside the record of its statement, as canonical JSON (RFC 8785); its id is the hash of that;
- what a proof is verified with is public: itself, the credentials that are shown or in the graph, and the settings;
- switched off (`skillSandbox.allowZkProofs`), nothing is made and nothing verified; what takes too long
  (`skillSandbox.proofTimeoutMs`) ends.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rfc8785

from cortex_graph import NamespacedGraph
from cortex_graph.moments import date_time
from cortex_graph.proofs import StoredProof
from cortex_skills.errors import CortexError
from cortex_skills.proofs.keys.local import key_folder
from cortex_skills.proofs.signing import KIND as CREDENTIAL
from cortex_skills.proofs.signing import MalformedError, read_document
from cortex_skills.proofs.verdict import Check
from cortex_skills.proofs.zk.claims import Commitment
from cortex_skills.proofs.zk.openings import OpeningStore
from cortex_skills.proofs.zk.patience import patience
from cortex_skills.proofs.zk.proof import ZkProof, prove
from cortex_skills.proofs.zk.requesting import Holder, requested, triple_id
from cortex_skills.proofs.zk.verifying import Expected, check_document

if TYPE_CHECKING:
    from cortex_skills.config import Config
    from cortex_skills.stopping import Stop

KIND = "zk"


def openings_of(config: Config) -> OpeningStore:
    """The sealed store that the settings name."""
    settings = config.proofs
    folder, key = settings.openings, settings.openings_key
    return OpeningStore(Path(folder).expanduser() if folder else None, Path(key).expanduser() if key else None)


def request(
    asked: Mapping[str, Any],
    graph: NamespacedGraph,
    config: Config,
    *,
    skill: str,
    skill_version: str,
    now: datetime,
    stop: Stop | None = None,
) -> tuple[str, ZkProof]:
    """Prove what is asked, and keep the proof.

    Args:
        asked: as `requested` takes it.
        graph: the namespace.
        config: the settings.
        skill: on whose behalf.
        skill_version: its version.
        now: the time to go by, with its zone.
        stop: ends it early.

    Returns:
        The proof's id, and the proof.

    Raises:
        CortexError: `zk_disabled`, `proof_timeout`, `cancelled`, and as `requested` and `prove`.

    """
    check_enabled(config)
    check = patience(config.skill_sandbox.proof_timeout_ms, stop)
    holder = Holder(graph, openings_of(config), key_folder(config), skill, skill_version)
    wanted = requested(asked, holder, now)
    proof = prove(wanted.claim, wanted.statement, wanted.witness, check=check)
    content = rfc8785.dumps(proof.to_json()).decode()
    kept = StoredProof(KIND, content, date_time(now), (proof.statement.triple_hash,), wanted.premises)
    return graph.proofs.add(kept), proof


def verify(
    asked: Mapping[str, Any],
    graph: NamespacedGraph,
    config: Config,
    *,
    now: datetime,
    within_ms: int | None = None,
    stop: Stop | None = None,
) -> tuple[list[Check], ZkProof | None]:
    """Verify a proof that is kept, or that is shown.

    Args:
        asked: `proofId` or `proof`; `credentials?, nonce?, tripleHash?`.
        graph: the namespace; a proof that is shown needs nothing of it.
        config: the settings.
        now: the time to go by, with its zone.
        within_ms: how long it may take, in milliseconds; as the settings say when left out.
        stop: ends it early.

    Returns:
        The checks, and the proof when it is one.

    Raises:
        CortexError: `zk_disabled`, `proof_timeout`, `cancelled`; `proof_not_found`; `invalid_arguments`: not exactly
            one of `proofId` and `proof`.

    """
    check_enabled(config)
    if ("proofId" in asked) == ("proof" in asked):
        hint = "proofId for one that is kept in this namespace, proof for one that is at hand"
        raise CortexError("invalid_arguments", "exactly one of proofId and proof is needed", hint=hint)
    document, kept_for = (asked["proof"], None) if "proof" in asked else kept(graph, asked["proofId"])
    shown = list(_readable(asked.get("credentials", ())))
    expected = Expected(
        now, frozenset(config.proofs.trusted_issuers), asked.get("nonce"), asked.get("tripleHash"), kept_for
    )
    return check_document(
        document,
        expected,
        lambda commitment: [*shown, *credentials_of(graph, commitment)],
        check=patience(config.skill_sandbox.proof_timeout_ms if within_ms is None else within_ms, stop),
    )


def kept(graph: NamespacedGraph, proof_id: str) -> tuple[Any, tuple[str, ...]]:
    """The document of a proof that is kept, and the ids of the statements that it is kept with.

    Raises:
        CortexError: `proof_not_found`: none of this kind has that id.

    """
    proof_id = proof_id.removeprefix(f"{graph.names.graph.value}/proof/")
    is_id = len(proof_id) == 64 and set(proof_id) <= set("0123456789abcdef")
    found = graph.proofs.get(proof_id) if is_id else None
    if found is None or found.kind != KIND:
        hint = "give the proofId that skill_request_zk_proof answered, or the proof itself"
        raise CortexError("proof_not_found", "there is no zero-knowledge proof of that id here", hint=hint)
    return json.loads(found.content), found.proves


def credentials_of(graph: NamespacedGraph, commitment: Commitment) -> list[dict[str, Any]]:
    """The credentials in the graph of the triple that a commitment stands in."""
    proofs = graph.proofs.of(triple_id(graph, commitment), CREDENTIAL)
    return list(_readable(proof.content for proof in proofs))


def evidence_of(graph: NamespacedGraph, commitments: Sequence[Commitment]) -> list[dict[str, Any]]:
    """The credentials in the graph of several commitments, each once."""
    found: dict[str, dict[str, Any]] = {}
    for commitment in commitments:
        for credential in credentials_of(graph, commitment):
            found.setdefault(json.dumps(credential, sort_keys=True), credential)
    return list(found.values())


def _readable(given: Iterable[Any]) -> Iterator[dict[str, Any]]:
    """Those of the documents that are ones; what is none is no credential."""
    for one in given:
        try:
            yield read_document(one if isinstance(one, str) else json.dumps(one))
        except (MalformedError, ValueError, RecursionError):
            continue


def check_enabled(config: Config) -> None:
    """Do nothing if the settings allow proofs of this kind.

    Raises:
        CortexError: `zk_disabled`.

    """
    if not config.skill_sandbox.allow_zk_proofs:
        raise CortexError(
            "zk_disabled",
            "zero-knowledge proofs are switched off here",
            hint="the host's setting is skillSandbox.allowZkProofs",
        )
