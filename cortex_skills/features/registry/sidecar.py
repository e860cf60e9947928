"""The sidecar of an exported skill, `.cortex-registry.json`: what was exported, and who signed it.

Rules kept here:
- it states the digest, the executable files and the signature, which is verified where the document is registered;
- a document that is not what its sidecar states is refused (`ChangedError`), and so is a sidecar that cannot be read;
- no input or output.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from cortex_skills.features.registry.content import compat_digest, digest
from cortex_skills.features.registry.document import MAX_RESOURCES, SkillDocument
from cortex_skills.features.registry.registration import UNSIGNED, VersionSignature
from cortex_skills.features.registry.skill_record import SkillVersion
from cortex_skills.safe_io.schemas import shown
from cortex_skills.safe_io.strict_json import read_json

SIDECAR = ".cortex-registry.json"
MAX_SIDECAR = 16 << 20  # bytes, with the paths of all executable files
_FORMAT = "cortex-registry/1"


def executable_of(document: SkillDocument) -> list[str]:
    """The paths of the executable files of a document."""
    return [resource.path for resource in document.resources if resource.executable]


def sidecar_of(version: SkillVersion, executable: list[str]) -> dict[str, Any]:
    """The content of the sidecar of a version."""
    return {
        "format": _FORMAT,
        "namespace": version.key.namespace,
        "name": version.key.name,
        "version": version.number,
        "digest": version.digest,
        "compatDigest": version.compat_digest,
        "executable": executable,
        "publicKey": version.public_key or None,
        "signature": version.signature or None,
    }


class ChangedError(Exception):
    """Why a folder is not what its sidecar states."""


def as_exported(document: SkillDocument, sidecar: bytes | None) -> tuple[SkillDocument, VersionSignature]:
    """The document with the executable files that its sidecar states, and the signature; as it is without a sidecar.

    Args:
        document: as its files are.
        sidecar: the content of the sidecar; None without one.

    Raises:
        ChangedError: the sidecar is about another document, or cannot be read.
    """
    if sidecar is None:
        return document, UNSIGNED
    if not sidecar:
        raise ChangedError(f"{SIDECAR} is empty, or is not a regular file that can be read")
    try:
        stated = read_json(sidecar, max_size=MAX_SIDECAR)
    except ValueError as error:
        raise ChangedError(f"{SIDECAR} cannot be read: {error}") from None
    if not isinstance(stated, dict) or stated.get("format") != _FORMAT:
        raise ChangedError(f"{SIDECAR} is not of the form {_FORMAT}")
    executable = stated.get("executable", [])  # an export of an earlier version has none
    match stated.get("publicKey"), stated.get("signature"):
        case None, None:
            signature = UNSIGNED
        case str(key), str(value):
            signature = VersionSignature(key, value)
        case _:
            raise ChangedError(f"{SIDECAR} has a key without a signature, or a signature without a key")
    if not isinstance(executable, list) or not all(isinstance(path, str) for path in executable):
        raise ChangedError(f"{SIDECAR} is not of the form {_FORMAT}")
    if len(executable) > MAX_RESOURCES:
        raise ChangedError(f"{SIDECAR} names more than {MAX_RESOURCES:,} executable files")
    paths = frozenset(executable)
    resources = tuple(replace(each, executable=each.path in paths) for each in document.resources)
    exported = replace(document, resources=resources)
    found = {
        "namespace": exported.namespace,
        "name": exported.name,
        "digest": digest(exported),
        "compatDigest": compat_digest(exported),
        "executable": executable_of(exported),
    }
    for member, is_now in found.items():
        then = executable if member == "executable" else stated.get(member)
        if then != is_now:
            raise ChangedError(f"its {member} is {shown(is_now)}, and {SIDECAR} states {shown(then)}")
    return exported, signature
