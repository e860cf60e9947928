"""`InstalledArtifact`: one version of an artifact as it is installed, and its form in the store.

Rules kept here:
- a version is exactly its id, its version and the hash of its payload; its status is that of these three;
- the status is `active`, `quarantined` or `disabled`; a version without one of these does not run;
- what is read from the store is checked: a document of another form is an error, never a default.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Any, Literal, get_args

from cortex_graph.checks.datetimes import date_time
from cortex_skills.errors import CortexError
from cortex_skills.features.artifacts.installed.artifact_grants import Granted, read_grant
from cortex_skills.safe_io.strict_json import read_json

Status = Literal["active", "quarantined", "disabled"]
STATUSES: tuple[Status, ...] = get_args(Status)
MAX_REASON = 500
OF_A_HOST = "host/"  # what a finding begins with that is about one host
_SHA256_LENGTH = 64


@dataclass(frozen=True, slots=True, order=True)
class ArtifactKey:
    """Which artifact: its id, its version, and the SHA-256 of its payload."""

    skill_id: str
    version: str
    payload_sha256: str

    def __str__(self) -> str:
        return f"{self.skill_id} {self.version}"


@dataclass(frozen=True, slots=True)
class InstalledArtifact:
    """One installed version.

    Attributes:
        key: which artifact.
        publisher: who signed it.
        key_id: of the publisher's key, `ed25519:…`.
        file_sha256: of the installed file.
        status: whether it runs.
        reason: why it has this status; empty for none.
        requests: what its manifest requests, and the user was asked.
        grants: what the user granted.
        installed_at: the time, in UTC.
        current: whether it is the version that runs where none is named.
        experimental: whether a builder made it, so that a person has to look at it first.
        findings: what the last security audit found against it, as `check` or `check:what`.
        accepted: the findings that a person accepted by enabling it nevertheless.
        trust: how the publisher was trusted (`signatures.artifact_trust.TrustDecision`).
        source: the address of the index that it was installed from; empty for a file.
        host: the name of the host that installed it; empty where an earlier version did.
        host_id: its id.
    """

    key: ArtifactKey
    publisher: str
    key_id: str
    file_sha256: str
    status: Status
    reason: str
    requests: Granted
    grants: Granted
    installed_at: datetime
    current: bool
    experimental: bool = False
    findings: tuple[str, ...] = ()
    accepted: tuple[str, ...] = ()
    trust: str = "allowlisted"
    source: str = ""
    host: str = ""
    host_id: str = ""

    def to_json(self) -> dict[str, Any]:
        """The version as a JSON object, for people and programs."""
        return {
            "skillId": self.key.skill_id,
            "version": self.key.version,
            "payloadSha256": self.key.payload_sha256,
            "publisher": self.publisher,
            "keyId": self.key_id,
            "fileSha256": self.file_sha256,
            "status": self.status,
            "reason": self.reason,
            "requests": [str(grant) for grant in sorted(self.requests.grants())],
            "grants": [str(grant) for grant in sorted(self.grants.grants())],
            "installedAt": date_time(self.installed_at),
            "current": self.current,
            "experimental": self.experimental,
            "findings": list(self.findings),
            "accepted": list(self.accepted),
            "trust": self.trust,
            "source": self.source,
            "host": self.host,
            "hostId": self.host_id,
        }


@dataclass(frozen=True, slots=True)
class ArtifactVersions:
    """All versions of an artifact, and how often they were changed.

    Attributes:
        skill_id: of the artifact.
        changes: the number of the last change.
        versions: those that are installed, by the time of their installation.
        removed: those that were removed while they did not run: installed again, they have the same status.
    """

    skill_id: str
    changes: int = 0
    versions: tuple[InstalledArtifact, ...] = ()
    removed: tuple[InstalledArtifact, ...] = ()

    def find(self, version: str | None) -> InstalledArtifact | None:
        """The installed version; without a version the current one. None if there is none."""
        if version is None:
            return next((each for each in self.versions if each.current), None)
        return next((each for each in self.versions if each.key.version == version), None)


def judged(artifact: InstalledArtifact) -> InstalledArtifact:
    """A version after an audit: quarantined, if it has findings that no person accepted, and that are for all hosts."""
    new = [each for each in artifact.findings if each not in artifact.accepted and not each.startswith(OF_A_HOST)]
    if not new or artifact.status == "quarantined":
        return artifact
    return replace(artifact, status="quarantined", reason=f"the security audit found {', '.join(new)}"[:MAX_REASON])


def text_of(versions: ArtifactVersions) -> str:
    """The versions of an artifact as they are stored."""
    document = {
        "skillId": versions.skill_id,
        "changes": versions.changes,
        "versions": [each.to_json() for each in versions.versions],
        "removed": [each.to_json() for each in versions.removed],
    }
    return json.dumps(document, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


@lru_cache(maxsize=256)  # a text is read at each call of a tool, and changes rarely
def read_versions(text: str, skill_id: str) -> ArtifactVersions:
    """The versions of an artifact in a stored text.

    Raises:
        ValueError: the text has another form, or is about another artifact.
    """
    try:
        document = read_json(text, max_depth=8)
        found = ArtifactVersions(
            document["skillId"],
            document["changes"],
            tuple(_read(each) for each in document["versions"]),
            tuple(_read(each) for each in document["removed"]),
        )
    except (KeyError, TypeError, AttributeError, ValueError, CortexError) as error:
        raise ValueError(f"not a list of versions: {str(error)[:100]}") from None
    every = (*found.versions, *found.removed)
    versions = [each.key.version for each in found.versions]
    is_one = len(set(versions)) == len(versions) and sum(each.current for each in found.versions) <= 1
    if found.skill_id != skill_id or any(each.key.skill_id != skill_id for each in every) or not is_one:
        raise ValueError("a list of versions of another artifact, or of one version twice")
    if type(found.changes) is not int or found.changes < 1:
        raise ValueError("a list of versions without the number of its change")
    return found


def _read(given: Mapping[str, Any]) -> InstalledArtifact:
    texts = {
        name: given[name]
        for name in ("skillId", "version", "payloadSha256", "publisher", "keyId", "fileSha256", "reason", "trust")
    }
    texts |= {name: given.get(name, "") for name in ("source", "host", "hostId")}  # earlier versions did not store them
    if not all(isinstance(value, str) for value in texts.values()) or given["status"] not in STATUSES:
        raise ValueError("a field is not text, or the status is not one of the three")
    if any(len(texts[name]) != _SHA256_LENGTH for name in ("payloadSha256", "fileSha256")):
        raise ValueError("a hash is not a SHA-256")
    if not isinstance(given["current"], bool) or not isinstance(given["experimental"], bool):
        raise ValueError("a flag is neither true nor false")
    return InstalledArtifact(
        key=ArtifactKey(texts["skillId"], texts["version"], texts["payloadSha256"]),
        publisher=texts["publisher"],
        key_id=texts["keyId"],
        file_sha256=texts["fileSha256"],
        status=given["status"],
        reason=texts["reason"],
        requests=Granted.of(read_grant(text) for text in given["requests"]),
        grants=Granted.of(read_grant(text) for text in given["grants"]),
        installed_at=datetime.fromisoformat(given["installedAt"]),
        current=given["current"],
        experimental=given["experimental"],
        findings=_texts(given["findings"]),
        accepted=_texts(given["accepted"]),
        trust=texts["trust"],
        source=texts["source"],
        host=texts["host"],
        host_id=texts["hostId"],
    )


def _texts(given: object) -> tuple[str, ...]:
    if not isinstance(given, list) or not all(isinstance(text, str) for text in given):
        raise ValueError("a list of texts is something else")
    return tuple(given)
