"""What callers do with proofs: list, show, verify, import, remove, request, sign, and bundle.

Rules kept here:
- all proofs of one call share one time limit (`skillSandbox.proofTimeoutMs`); one that it does not suffice for is
  `not checked`. Verdicts are counted, and none is stored;
- who removes a proof that a record links to has asserted its statement, or has the permission `provenance`;
- the keys and the openings of this installation are the owner's: only the owner signs, and a skill asks for a
  zero-knowledge proof with the permission that its manifest has.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

from annotated_types import Ge, Le, MaxLen

from cortex_graph import NamespacedGraph
from cortex_graph.assertion_records.proofs import StoredProof
from cortex_graph.checks.datetimes import date_time, to_milliseconds
from cortex_graph.namespace.short_ids import full_proof_id, full_triple_id
from cortex_skills.errors import CortexError
from cortex_skills.features.proofs.importing import ImportedProof, ProofToImport, import_proof
from cortex_skills.features.proofs.kinds import CheckContext, check_stored, type_of
from cortex_skills.features.proofs.verdict import Check, Verdict
from cortex_skills.features.proofs.verification_counts import counts_of
from cortex_skills.operations.caller import OWNER
from cortex_skills.operations.operation import AS_IS, ObjectState, OperationCall, operation
from cortex_skills.policy.removals import is_author

LIMIT = 100
MAX_LIMIT = 1_000
MAX_TOGETHER = 100
_PAGE = 50
_MAX_READ = 1_000
_MAX_SIZE = 8 << 20
_HEX = frozenset("0123456789abcdef")

Id = Annotated[str, MaxLen(256)]


@dataclass(frozen=True, slots=True)
class CheckedProof:
    """A stored proof, and the result of verifying it.

    Attributes:
        proof: the proof.
        verdict: of all checks together; `not checked` where it was not verified.
        checks: the single checks.
        at: when it was verified; None where it was not.
        took_us: the duration in microseconds.
    """

    proof: StoredProof
    verdict: Verdict = Verdict.NOT_CHECKED
    checks: Sequence[Check] = ()
    at: str | None = None
    took_us: int = 0


def now_text() -> str:
    """The current time as in answers."""
    return date_time(to_milliseconds(datetime.now(UTC)))


def find_proof(call: OperationCall, proof_id: str) -> StoredProof | None:
    """The proof with an id, or its beginning, in the namespace."""
    graph = call.host.graph
    proof_id = full_proof_id(graph, proof_id).removeprefix(f"{graph.names.graph.value}/proof/")
    return graph.proofs.get(proof_id) if len(proof_id) == 64 and set(proof_id) <= _HEX else None


def no_such_proof(graph: NamespacedGraph, proof_id: str) -> CortexError:
    """The error for an unknown id."""
    hint = "give the id of a proof, a file, or another namespace"
    return CortexError("proof_not_found", f"{graph.namespace} has no proof {proof_id[:100]!r}", hint=hint)


def _named(call: OperationCall, proof_id: str) -> StoredProof:
    found = find_proof(call, proof_id)
    if found is None:
        raise no_such_proof(call.host.graph, proof_id)
    return found


def proof_state(call: OperationCall) -> ObjectState | None:
    """The proof that a record names, and its type."""
    found = find_proof(call, call.about) if call.about else None
    return None if found is None else (found.id, f"{type_of(found.kind, found.content)}, {found.time}")


def _context(
    call: OperationCall,
    *,
    replay: bool = True,
    nonce: str | None = None,
    credentials: Sequence[str] = (),
    limit_ms: int | None = None,
) -> CheckContext:
    """What the proofs of a call are checked against; their time limit begins now."""
    config = call.host.config
    most = config.skill_sandbox.proof_timeout_ms if limit_ms is None else limit_ms
    deadline = time.monotonic() + min(most, config.skill_sandbox.proof_timeout_ms) / 1000
    return CheckContext(
        datetime.now(UTC),
        config,
        call.host.graph,
        replay=replay,
        credentials=tuple(credentials),
        nonce=nonce,
        deadline=deadline,
        cancel=call.cancel,
    )


def _checked(call: OperationCall, proof: StoredProof, context: CheckContext) -> CheckedProof:
    began = time.perf_counter()
    checks = check_stored(proof, call.host.graph, context)
    verdict = Verdict.of_all(check.verdict for check in checks)
    call.host.shared(counts_of).add(call.host.graph.namespace, verdict)
    return CheckedProof(proof, verdict, checks, now_text(), round((time.perf_counter() - began) * 1e6))


@dataclass(frozen=True, slots=True)
class OneProof:
    """A proof: its id, or the beginning of it."""

    proof: Id


@operation("proofs.show", effect="reads", permission="read")
def show(call: OperationCall, given: OneProof) -> StoredProof:
    """Return a stored proof."""
    return _named(call, given.proof)


@dataclass(frozen=True, slots=True)
class ListProofs:
    """Which proofs: of a type or a kind, made by a moment; those of a verdict, or verified ones, are checked now."""

    limit: Annotated[int, Ge(1), Le(MAX_LIMIT)] = LIMIT
    cursor: str | None = None
    type: str | None = None
    kind: str | None = None
    until: datetime | None = None
    verdict: Verdict | None = None
    verified: bool | None = None


@dataclass(frozen=True, slots=True)
class FoundProofs:
    """Some proofs, and where the next begin."""

    proofs: tuple[CheckedProof, ...]
    next_cursor: str | None


@operation("proofs.list", effect="reads", permission="read")
def list_proofs(call: OperationCall, given: ListProofs) -> FoundProofs:
    """List the stored proofs; they are verified where the list is filtered by that, within the time limit."""
    context, graph = _context(call), call.host.graph
    checks = given.verdict is not None or given.verified is not None
    found: list[CheckedProof] = []
    cursor, read, size = given.cursor, 0, 0
    while True:
        most = 1 if checks else min(given.limit - len(found), _PAGE)
        proofs, cursor = graph.proofs.page(most, cursor)
        read += most
        for proof in proofs:
            size += len(proof.content)
            if not _is_wanted(proof, given):
                continue
            row = _checked(call, proof, context) if checks else CheckedProof(proof)
            is_verified = row.verdict is Verdict.VERIFIED
            if given.verdict in (None, row.verdict) and given.verified in (None, is_verified):
                found.append(row)
        is_over = len(found) >= given.limit or read >= _MAX_READ or size >= _MAX_SIZE
        if cursor is None or is_over or (checks and not context.limit_ms):
            return FoundProofs(tuple(found), cursor)


def _is_wanted(proof: StoredProof, given: ListProofs) -> bool:
    if given.kind not in (None, proof.kind) or given.type not in (None, type_of(proof.kind, proof.content)):
        return False
    return given.until is None or is_before(proof.time, given.until)


def is_before(text: str, until: datetime) -> bool:
    """Whether the time of a proof, an `xsd:dateTime`, is not after a moment."""
    try:
        made = datetime.fromisoformat(text)
    except ValueError:
        return False
    return made.tzinfo is not None and made <= until


@dataclass(frozen=True, slots=True)
class VerifyProofs:
    """Stored proofs; whether their rules are evaluated again, and what zero-knowledge proofs must be bound to."""

    proofs: Annotated[Sequence[Id], MaxLen(MAX_TOGETHER)]
    replay: bool = True
    nonce: Annotated[str, MaxLen(256)] | None = None
    credentials: Sequence[str] = ()


@operation("proofs.verify", effect="reads", permission="read")
def verify(call: OperationCall, given: VerifyProofs) -> list[CheckedProof | None]:
    """Verify stored proofs; None for one that does not exist."""
    context = _context(call, replay=given.replay, nonce=given.nonce, credentials=given.credentials)
    done: dict[str, CheckedProof | None] = {}
    for proof_id in dict.fromkeys(given.proofs):
        proof = find_proof(call, proof_id)
        done[proof_id] = None if proof is None else _checked(call, proof, context)
    return [done[proof_id] for proof_id in given.proofs]


@dataclass(frozen=True, slots=True)
class ImportProof:
    """A proof that was made elsewhere, what its sender declares of it, and the texts of the rules that it names."""

    document: Any  # a JSON object
    type: str
    subject: str | None = None
    predicate: str | None = None
    rules: Sequence[str] = ()
    limit_ms: Annotated[int, Ge(0)] | None = None


@operation("proofs.import", effect="changes", permission="write", object_="type", state=proof_state)
def import_(call: OperationCall, given: ImportProof) -> ImportedProof:
    """Check a proof that was made elsewhere, and store it unless it is refuted."""
    shown = ProofToImport(given.document, given.type, given.subject, given.predicate, tuple(given.rules))
    taken = import_proof(shown, call.host.graph, _context(call, limit_ms=given.limit_ms))
    call.host.shared(counts_of).add(call.host.graph.namespace, taken.verdict)
    call.about = taken.proof.id
    if not taken.is_new:
        call.before = proof_state(call)
    return taken


@operation("proofs.remove", effect="changes", permission="write", object_="proof", state=proof_state)
def remove(call: OperationCall, given: OneProof) -> str:
    """Remove a stored proof, and the links to it; returns its id."""
    proof, graph, caller = _named(call, given.proof), call.host.graph, call.caller
    may_remove = "provenance" in caller.permissions or not graph.proofs.is_linked(proof.id)
    if not may_remove and not all(is_author(graph, caller.name, each) for each in proof.proves):
        raise CortexError(
            "permission_denied",
            "a record links to the proof: removing it needs the permission `provenance`",
            hint="`cortex-skills token create NAME --permission provenance` makes a token with it",
            details={"missing": ["provenance"]},
        )
    graph.proofs.remove(proof.id)
    return proof.id


@dataclass(frozen=True, slots=True)
class RequestProof:
    """What a zero-knowledge proof is asked for, with the names of `skill_request_zk_proof`; its subject is one."""

    subject: str
    asked: Any  # a JSON object
    skill_version: str = ""


@operation("proofs.request", effect="changes", permission="write", object_="subject", state=proof_state)
def request(call: OperationCall, given: RequestProof) -> tuple[str, Any]:
    """Prove a property of a committed value in zero knowledge, for a skill; returns the id and the proof."""
    from cortex_skills.features.proofs.zk.request import utc_now
    from cortex_skills.features.proofs.zk.service import request as made

    host = call.host
    skill = call.caller.skill or ""
    proof_id, proof = made(
        given.asked,
        host.graph,
        host.config,
        skill=skill,
        skill_version=given.skill_version,
        now=utc_now(),
        cancel=call.cancel,
    )
    call.about = proof_id
    return proof_id, proof


@dataclass(frozen=True, slots=True)
class SignAssertion:
    """An assertion, by its hash or the beginning of it, and the key to sign it with; the configured one by default."""

    assertion: Id
    key: str | None = None


def signed_state(call: OperationCall) -> ObjectState | None:
    """The assertion that a record names, and how many proofs it has."""
    triple_id = full_triple_id(call.host.graph, call.about)
    if call.host.graph.index.find(triple_id) is None:
        return None
    return triple_id, f"{len(call.host.graph.current_proofs(triple_id))} proofs"


@operation("proofs.sign", effect="changes", permission=OWNER, object_="assertion", state=signed_state)
def sign(call: OperationCall, given: SignAssertion) -> tuple[StoredProof, str]:
    """Sign an assertion as a verifiable credential, and store that; returns it, and the issuer."""
    from cortex_skills.features.proofs.signing.credentials import sign_assertion
    from cortex_skills.keys.folder import key_folder, signing_key

    config, graph = call.host.config, call.host.graph
    key = signing_key(config) if given.key is None else key_folder(config).open(given.key)
    call.about = full_triple_id(graph, given.assertion)
    return sign_assertion(graph, call.about, key, datetime.now(UTC)), key.did


class Folders(tuple[Path, ...]):
    """Folders that an interface chose: a text that a caller sends is none, so that no caller names a folder to read."""


@dataclass(frozen=True, slots=True)
class MakeBundle:
    """An assertion, by its hash or the beginning of it, and folders of skills with the one that made it."""

    assertion: Id
    folders: Annotated[Folders, AS_IS]


@operation("proofs.bundle", effect="reads", permission="read")
def bundle(call: OperationCall, given: MakeBundle) -> dict[str, Any]:
    """Make one document with everything that a verifier needs to check an assertion."""
    from cortex_skills.features.proofs.bundle import make_bundle

    graph = call.host.graph
    return make_bundle(graph, full_triple_id(graph, given.assertion), given.folders)
