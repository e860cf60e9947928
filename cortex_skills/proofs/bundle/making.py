"""Making a bundle of an assertion, out of the graph and the folder of the skill that made it.

Rules kept here:
- it takes what is there, and judges nothing: what came of it says whoever checks the bundle;
- nothing goes in but what the check needs: the newest credential and the newest Proof of Logic, the newest
  zero-knowledge proof of each claim that was made for the skill which asserted, the credentials of the commitments,
  and the premises that the proof names;
- the skill is one that its publisher signed: the local developer's signature is of no use elsewhere.
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
from cortex_graph.proofs import StoredProof
from cortex_skills.errors import CortexError
from cortex_skills.proofs.bundle.document import MAX_BYTES, MAX_FILES, MAX_PROOFS, TYPE, VERSION
from cortex_skills.proofs.logic.document import read_document
from cortex_skills.proofs.zk import read_proof
from cortex_skills.proofs.zk.service import evidence_of
from cortex_skills.reading import MAX_SIGNATURE, SHAPES, SIGNATURE
from cortex_skills.signatures.files import files_of


def make_bundle(graph: NamespacedGraph, triple_id: str, folders: Iterable[Path]) -> dict[str, Any]:
    """Everything that somebody elsewhere needs to check an assertion.

    Args:
        graph: the namespace.
        triple_id: the id of the assertion.
        folders: of skills, the one that made the assertion among them.

    Raises:
        CortexError: `invalid_arguments`: there is no such assertion, or not that skill; `proof_not_found`: a proof that
            belongs into a bundle was not made; `signature_required`: the skill's publisher did not sign it.

    """
    quad = graph.index.find(triple_id)
    if quad is None:
        hint = "give the hash of an assertion, or another namespace"
        raise CortexError("invalid_arguments", f"no triple of {graph.namespace} has the id {triple_id}", hint=hint)
    kept = graph.proofs.of(triple_id)
    logic = read_document(_newest(kept, "pol", "assert it with a proof").content)
    assertion = _newest(kept, "credential", f"sign it with `cortex-skills proof sign {triple_id}`")
    acting = (logic.fields["skill"] or "", logic.fields["skillVersion"] or "")
    proofs = _newest_of_each(kept, acting)
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


def _newest(kept: list[StoredProof], kind: str, hint: str) -> StoredProof:
    """The newest proof of a kind; `kept` has the newest first."""
    for proof in kept:
        if proof.kind == kind:
            return proof
    named = {"pol": "Proof of Logic", "credential": "credential"}[kind]
    raise CortexError("proof_not_found", f"the assertion has no {named}", hint=hint)


def _newest_of_each(kept: list[StoredProof], acting: tuple[str, str]) -> list[dict[str, Any]]:
    """The newest zero-knowledge proof of each claim on behalf of a skill and version, in the order of their making."""
    found: dict[str, dict[str, Any]] = {}
    for proof in kept:
        document = json.loads(proof.content) if proof.kind == "zk" else {}
        if document and (document["statement"]["skill"], document["statement"]["skillVersion"]) == acting:
            found.setdefault(rfc8785.dumps([document["proofType"], document["claim"]]).decode(), document)
    return list(reversed(found.values()))


def _folder(skill: str | None, folders: Iterable[Path]) -> Path:
    for folder in folders:
        if folder.resolve().name == skill:
            return folder
    hint = "name its folder with --skills"
    raise CortexError("invalid_arguments", f"the skill that asserted it, {skill}, is not among the folders", hint=hint)


def _files(folder: Path) -> dict[str, bytes]:
    """What the files of a skill hold, by their paths."""
    listed = files_of(folder)
    if len(listed) > MAX_FILES or sum(each.size for each in listed) > MAX_BYTES:
        raise CortexError("invalid_arguments", f"{folder} holds more than fits into a bundle")
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
            f"{folder.name} has no signature that holds elsewhere",
            hint="its publisher makes one with `cortex-skills sign FOLDER --key NAME --publisher NAME`",
        ) from None
