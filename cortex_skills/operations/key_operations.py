"""The signing keys of this installation, and the skills that it signs.

Rules kept here:
- they are the owner's: no token can create a key, or sign a skill;
- no operation returns the secret part of a key, and no record has it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cortex_skills.feature import functions
from cortex_skills.keys.folder import key_folder
from cortex_skills.manifest import load_manifest
from cortex_skills.operations.caller import OWNER
from cortex_skills.operations.operation import ObjectState, OperationCall, operation
from cortex_skills.signatures import sign_for_oneself, sign_for_others
from cortex_skills.signatures.signing import own_folder, own_signature
from cortex_skills.signatures.statement import Signature, read_signature
from cortex_skills.skill_folder.snapshot import MAX_SIGNATURE, SIGNATURE, read_beside


def key_named(call: OperationCall) -> ObjectState | None:
    """A key by its name, and its public part."""
    found = next((each for each in key_folder(call.host.config).list() if each.name == call.about), None)
    return None if found is None else (found.name, found.did or "cannot be used")


@dataclass(frozen=True, slots=True)
class ListKeys:
    """No arguments."""


@operation("keys.list", effect="reads", permission=OWNER)
def list_keys(call: OperationCall, given: ListKeys) -> list[dict[str, Any]]:  # noqa: ARG001 - there is none
    """List the signing keys: their names and public parts."""
    return [asdict(key) for key in key_folder(call.host.config).list()]


@dataclass(frozen=True, slots=True)
class NamedKey:
    """The name of a key."""

    key: str


@operation("keys.create", effect="changes", permission=OWNER, object_="key", state=key_named)
def create_key(call: OperationCall, given: NamedKey) -> str:
    """Create a signing key; the answer is its public part, as `did:key`."""
    return key_folder(call.host.config).create(given.key).did


def signature_of(call: OperationCall) -> ObjectState | None:
    """The folder of a skill, and its signatures: of the local developer, and of its publisher."""
    folder = Path(call.about).resolve()
    found = (read_beside(each, MAX_SIGNATURE) for each in (own_signature(folder, own_folder()), folder / SIGNATURE))
    signed = [read_signature(each).statement for each in found if each is not None]
    return str(folder), "; ".join(f"signed by {each.publisher} at {each.signed}" for each in signed) or "not signed"


@dataclass(frozen=True, slots=True)
class SignSkill:
    """The folder of a skill; a publisher with the name of its key, or neither for the local developer."""

    folder: Path
    key: str | None = None
    publisher: str | None = None


@operation("skills.sign", effect="changes", permission=OWNER, object_="folder", state=signature_of)
def sign_skill(call: OperationCall, given: SignSkill) -> Signature:
    """Sign a skill: as a publisher, in its folder, or as the local developer, for this machine only."""
    folder, keys, now = given.folder, key_folder(call.host.config), datetime.now(UTC)
    manifest = load_manifest(folder)
    for check in functions("folder_checks"):
        check(folder)
    if given.key is None or given.publisher is None:
        signature = sign_for_oneself(folder, manifest, keys, own_folder(), now)
    else:
        signature = sign_for_others(folder, manifest, keys.open(given.key), given.publisher, now)
    stated = signature.statement
    call.facts |= {"skill": stated.skill, "version": stated.version, "publisher": stated.publisher, "key": stated.key}
    return signature
