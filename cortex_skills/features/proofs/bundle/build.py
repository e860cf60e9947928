"""Making a bundle of an assertion from the graph and the folder of the skill that made the assertion.

Rules kept here:
- nothing is checked here: the verifier of the bundle does that;
- a bundle contains only what the verifier needs: the newest credential and the newest Proof of Logic, the newest
  zero-knowledge proof of each claim that was made for the acting skill, the credentials of the commitments, and the
  premises that the Proof of Logic names;
- the skill is signed by its publisher: the signature of the local developer is not valid elsewhere.
"""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import rfc8785

from cortex_graph import NamespacedGraph
from cortex_graph.assertion_records.proofs import StoredProof
from cortex_skills.errors import CortexError
from cortex_skills.features.proofs.bundle.bundle import MAX_BYTES, MAX_FILES, MAX_PROOFS, TYPE, VERSION
from cortex_skills.features.proofs.logic.document import KIND as LOGIC
from cortex_skills.features.proofs.logic.document import read_document
from cortex_skills.features.proofs.signing import KIND as CREDENTIAL
from cortex_skills.features.proofs.zk import read_proof
from cortex_skills.features.proofs.zk.service import KIND as ZERO_KNOWLEDGE
from cortex_skills.features.proofs.zk.service import evidence_of
from cortex_skills.signatures.skill_files import files_of
from cortex_skills.skill_folder.snapshot import MAX_SIGNATURE, SHAPES, SIGNATURE


def make_bundle(graph: NamespacedGraph, triple_id: str, folders: Iterable[Path]) -> dict[str, Any]:
    """Make a bundle.

    Args:
        graph: the namespace.
        triple_id: the id of the assertion.
        folders: folders of skills, with the one that made the assertion.

    Raises:
        CortexError: `invalid_arguments`: the assertion or the skill is missing; `proof_not_found`: a required proof is
            missing; `signature_required`: the skill is not signed by its publisher.
    """
    quad = graph.index.find(triple_id)
    if quad is None:
        if graph.withdrawals.of(triple_id):
            hint = "a bundle is of an assertion in the graph: assert it again, with a proof"
            raise CortexError("invalid_arguments", f"the assertion {triple_id} was withdrawn", hint=hint)
        hint = "give the hash of an assertion, or another namespace"
        raise CortexError("invalid_arguments", f"{graph.namespace} has no triple with the id {triple_id}", hint=hint)
    logic = read_document(_newest(graph, triple_id, LOGIC, "assert it with a proof").content)
    assertion = _newest(graph, triple_id, CREDENTIAL, f"sign it with `cortex-skills proof sign {triple_id}`")
    acting = (logic.fields["skill"] or "", logic.fields["skillVersion"] or "")
    proofs = _newest_of_each(graph.current_proofs(triple_id, ZERO_KNOWLEDGE), acting)
    commitments = [each for proof in proofs for each in read_proof(proof).claim.commitments]
    folder = _folder(logic.fields["skill"], folders)
    files = _files(folder)
    shapes = files.get(SHAPES)
    own = None if shapes is None else hashlib.sha256(shapes).hexdigest()
    others = [each["digest"] for each in logic.fields["rules"][1:] if each["digest"] != own]
    premises = (graph.index.find(each) for each in logic.premises.listed)
    document = {
        "type": TYPE,
        "version": VERSION,
        "statement": f"{quad} .",
        "assertion": json.loads(assertion.content),
        "credentials": evidence_of(graph, commitments)[:MAX_PROOFS],
        "proofs": proofs[:MAX_PROOFS],
        "logic": logic.fields,
        "premises": [f"{premise} ." for premise in premises if premise is not None],
        "rules": [text for each in others if (text := graph.proofs.rules(each)) is not None],
        "skill": {
            "files": {path: b64encode(data).decode() for path, data in files.items()},
            "signature": _signature(folder),
        },
    }
    if len(rfc8785.dumps(document)) > MAX_BYTES:
        raise CortexError("invalid_arguments", f"the bundle would have more than {MAX_BYTES >> 20} MiB")
    return document


def _newest(graph: NamespacedGraph, triple_id: str, kind: str, hint: str) -> StoredProof:
    for proof in graph.current_proofs(triple_id, kind):  # the newest first
        return proof
    named = {LOGIC: "Proof of Logic"}.get(kind, kind)
    raise CortexError("proof_not_found", f"the assertion has no {named}", hint=hint)


def _newest_of_each(proofs: list[StoredProof], acting: tuple[str, str]) -> list[dict[str, Any]]:
    """The newest proof of each claim on behalf of a skill and version, ordered by creation."""
    found: dict[str, dict[str, Any]] = {}
    for proof in proofs:
        document = json.loads(proof.content)
        if (document["statement"]["skill"], document["statement"]["skillVersion"]) == acting:
            found.setdefault(rfc8785.dumps([document["proofType"], document["claim"]]).decode(), document)
    return list(reversed(found.values()))


def _folder(skill: str | None, folders: Iterable[Path]) -> Path:
    for folder in folders:
        if folder.resolve().name == skill:
            return folder
    hint = "name its folder with --skills"
    raise CortexError("invalid_arguments", f"the folders do not include {skill}, the skill that asserted it", hint=hint)


def _files(folder: Path) -> dict[str, bytes]:
    """The content of the files of a skill, by path."""
    listed = files_of(folder)
    if len(listed) > MAX_FILES or sum(each.size for each in listed) > MAX_BYTES:
        raise CortexError("invalid_arguments", f"{folder} is too large for a bundle")
    try:
        return {each.path: (folder / each.path).read_bytes() for each in listed}
    except OSError as error:
        raise CortexError("invalid_arguments", f"{folder} cannot be read: {error.strerror}") from None


def _signature(folder: Path) -> str:
    try:
        with (folder / SIGNATURE).open("rb") as file:
            return file.read(MAX_SIGNATURE).decode()
    except (OSError, UnicodeDecodeError):
        raise CortexError(
            "signature_required",
            f"{folder.name} has no signature of a publisher",
            hint="the publisher signs it with `cortex-skills sign FOLDER --key NAME --publisher NAME`",
        ) from None
