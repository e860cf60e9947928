"""Making, storing, finding and verifying the zero-knowledge proofs of a namespace.

Rules kept here:
- a proof is stored as RDF beside the record of its statement, as canonical JSON (RFC 8785); its id is the hash of that;
- verification uses public data only: the proof, the credentials that are given or in the graph, and the settings;
- with `skillSandbox.allowZkProofs` off, no proof is made or verified; `skillSandbox.proofTimeoutMs` limits the time.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rfc8785

from cortex_graph import NamespacedGraph
from cortex_graph.assertion_records.proofs import StoredProof
from cortex_graph.checks.datetimes import date_time
from cortex_graph.namespace.short_ids import full_proof_id
from cortex_skills.errors import CortexError
from cortex_skills.features.proofs.proof_settings import ProofSettings
from cortex_skills.features.proofs.signing import KIND as CREDENTIAL
from cortex_skills.features.proofs.signing import MalformedError, read_document
from cortex_skills.features.proofs.verdict import Check
from cortex_skills.features.proofs.zk.claims import Commitment
from cortex_skills.features.proofs.zk.deadline import deadline_check
from cortex_skills.features.proofs.zk.openings import OpeningStore
from cortex_skills.features.proofs.zk.proof import ZkProof, prove
from cortex_skills.features.proofs.zk.request import Holder, requested, triple_id
from cortex_skills.features.proofs.zk.verify import Expected, check_document
from cortex_skills.keys.folder import key_folder

if TYPE_CHECKING:
    from cortex_skills.cancellation import CancelToken
    from cortex_skills.config.settings import Config

KIND = "zk"


def openings_of(config: Config) -> OpeningStore:
    """The store of openings of this installation."""
    settings = config.section(ProofSettings)
    folder, key = settings.openings, settings.openings_key
    return OpeningStore(Path(folder) if folder else None, Path(key) if key else None)


def request(
    asked: Mapping[str, Any],
    graph: NamespacedGraph,
    config: Config,
    *,
    skill: str,
    skill_version: str,
    now: datetime,
    cancel: CancelToken | None = None,
) -> tuple[str, ZkProof]:
    """Make a requested proof (see `requested`) and store it.

    Returns:
        The proof's id, and the proof.

    Raises:
        CortexError: `zk_disabled`, `proof_timeout`, `cancelled`, and as `requested` and `prove`.
    """
    check_enabled(config)
    check = deadline_check(config.skill_sandbox.proof_timeout_ms, cancel)
    holder = Holder(graph, openings_of(config), key_folder(config), skill, skill_version)
    wanted = requested(asked, holder, now)
    proof = prove(wanted.claim, wanted.statement, wanted.witness, check=check)
    content = rfc8785.dumps(proof.to_json()).decode()
    stored = StoredProof(KIND, content, date_time(now), (proof.statement.triple_hash,), wanted.premises)
    return graph.proofs.add(stored), proof


def verify(
    asked: Mapping[str, Any],
    graph: NamespacedGraph,
    config: Config,
    *,
    now: datetime,
    within_ms: int | None = None,
    cancel: CancelToken | None = None,
) -> tuple[list[Check], ZkProof | None]:
    """Verify `proofId` or `proof` of a request, with its `credentials?, nonce?, tripleHash?`.

    Returns:
        The checks, and the proof; None when the document is not a proof.

    Raises:
        CortexError: `zk_disabled`, `proof_timeout`, `cancelled`; `proof_not_found`; `invalid_arguments`: not exactly
            one of `proofId` and `proof`.
    """
    check_enabled(config)
    if ("proofId" in asked) == ("proof" in asked):
        hint = "give proofId for a stored proof, or proof for a document"
        raise CortexError("invalid_arguments", "exactly one of proofId and proof is required", hint=hint)
    document, stored_for = (asked["proof"], None) if "proof" in asked else stored_proof(graph, asked["proofId"])
    given = list(_readable(asked.get("credentials", ())))
    expected = Expected(
        now,
        frozenset(config.section(ProofSettings).trusted_issuers),
        asked.get("nonce"),
        asked.get("tripleHash"),
        stored_for,
    )
    return check_document(
        document,
        expected,
        lambda commitment: [*given, *credentials_of(graph, commitment)],
        check=deadline_check(config.skill_sandbox.proof_timeout_ms if within_ms is None else within_ms, cancel),
    )


def stored_proof(graph: NamespacedGraph, proof_id: str) -> tuple[Any, tuple[str, ...]]:
    """The document of a stored proof, and the ids of the statements that it is stored with.

    Raises:
        CortexError: `proof_not_found`: no zero-knowledge proof has this id.
    """
    proof_id = full_proof_id(graph, proof_id).removeprefix(f"{graph.names.graph.value}/proof/")
    is_id = len(proof_id) == 64 and set(proof_id) <= set("0123456789abcdef")
    found = graph.proofs.get(proof_id) if is_id else None
    if found is None or found.kind != KIND:
        hint = "give the proofId that skill_request_zk_proof returned, or the proof itself"
        raise CortexError("proof_not_found", "this namespace has no zero-knowledge proof with this id", hint=hint)
    return json.loads(found.content), found.proves


def credentials_of(graph: NamespacedGraph, commitment: Commitment) -> list[dict[str, Any]]:
    """The credentials in the graph of the triple of a commitment; none when it is not in the graph."""
    proofs = graph.current_proofs(triple_id(graph, commitment), CREDENTIAL)
    return list(_readable(proof.content for proof in proofs))


def evidence_of(graph: NamespacedGraph, commitments: Sequence[Commitment]) -> list[dict[str, Any]]:
    """The credentials in the graph of several commitments, without repetition."""
    found: dict[str, dict[str, Any]] = {}
    for commitment in commitments:
        for credential in credentials_of(graph, commitment):
            found.setdefault(json.dumps(credential, sort_keys=True), credential)
    return list(found.values())


def _readable(given: Iterable[Any]) -> Iterator[dict[str, Any]]:
    """The documents that can be read; the others cannot be credentials."""
    for one in given:
        try:
            yield read_document(one if isinstance(one, str) else json.dumps(one))
        except (MalformedError, ValueError, RecursionError):
            continue


def check_enabled(config: Config) -> None:
    """Do nothing when the settings allow zero-knowledge proofs.

    Raises:
        CortexError: `zk_disabled`.
    """
    if not config.skill_sandbox.allow_zk_proofs:
        raise CortexError(
            "zk_disabled",
            "zero-knowledge proofs are disabled here",
            hint="the host enables them with skillSandbox.allowZkProofs",
        )
