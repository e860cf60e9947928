"""An artifact in an index, as a value.

Rules kept here:
- an entry states which bytes are the artifact (`artifact_sha256`, `artifact_bytes`) and which artifact the bytes are
  (id, version, publisher, payload hash), so that both can be compared;
- an entry is made from an artifact that was verified; what it requests is summed up in single words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any

from cortex_skills.features.artifacts.package import ArtifactManifest, ArtifactSignature, ExpectedArtifact

SUFFIX = ".palyra-skill"
_MAX_NAME = 160  # of a file, before its hash


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """One version of one artifact.

    Attributes:
        skill_id: the id of the skill.
        version: semver.
        publisher: who signed the artifact.
        key_id: the id of the key that signed it.
        payload_sha256: the hash of its payload, in hexadecimal.
        artifact: the address of its file, relative to the first page.
        artifact_sha256: the SHA-256 of the file, in hexadecimal.
        artifact_bytes: the size of the file.
        summary: one line for a person; may be empty.
        categories: words.
        capabilities: what it requests, in words such as `graph.read` and `http`.
        yanked: whether its publisher or the owner of the index has withdrawn it.
    """

    skill_id: str
    version: str
    publisher: str
    key_id: str
    payload_sha256: str
    artifact: str
    artifact_sha256: str
    artifact_bytes: int
    summary: str = ""
    categories: tuple[str, ...] = ()
    capabilities: tuple[str, ...] = ()
    yanked: bool = False

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> IndexEntry:
        """The entry in a checked JSON object."""
        lists = {name: tuple(document[name]) for name in ("categories", "capabilities")}
        return cls(**{**document, **lists})

    def to_json(self) -> dict[str, Any]:
        """The entry as a JSON object."""
        document = asdict(self)
        return {**document, "categories": list(self.categories), "capabilities": list(self.capabilities)}

    @property
    def expected(self) -> ExpectedArtifact:
        """Which artifact the file must be."""
        return ExpectedArtifact(self.skill_id, self.version, self.payload_sha256)


def entry_of(data: bytes, manifest: ArtifactManifest, signature: ArtifactSignature, *, yanked: bool) -> IndexEntry:
    """The entry of a verified artifact; its file is named by id, version and hash.

    Args:
        data: the bytes of the file.
        manifest: its manifest.
        signature: its signature.
        yanked: whether it is withdrawn.
    """
    file_sha256 = sha256(data).hexdigest()
    name = f"{manifest.skill_id}-{manifest.version}"[:_MAX_NAME]
    return IndexEntry(
        skill_id=manifest.skill_id,
        version=manifest.version,
        publisher=manifest.publisher,
        key_id=signature.key_id,
        payload_sha256=signature.payload_sha256,
        artifact=f"artifacts/{name}-{file_sha256[:16]}{SUFFIX}",
        artifact_sha256=file_sha256,
        artifact_bytes=len(data),
        summary=manifest.operator.get("summary", manifest.name),
        categories=tuple(manifest.operator.get("categories", ())),
        capabilities=requested(manifest),
        yanked=yanked,
    )


def requested(manifest: ArtifactManifest) -> tuple[str, ...]:
    """What an artifact requests, in words, sorted."""
    asked = manifest.capabilities
    given = {
        "filesystem.read": asked.read_roots,
        "filesystem.write": asked.write_roots,
        "http": asked.http_hosts,
        "secrets": asked.secrets,
        "device": asked.device,
        "node": asked.node,
        "graph.read": asked.graph_read,
        "graph.write": asked.graph_write,
        "wildcard": asked.wildcard_opt_in,
    }
    return tuple(sorted(word for word, what in given.items() if what))
