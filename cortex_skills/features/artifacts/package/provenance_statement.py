"""The provenance of an artifact: an in-toto Statement v1 with an SLSA v1 predicate, in `provenance.json`.

Rules kept here:
- it is strict JSON of at most 1 MiB with the types of both specifications, a builder id, and subjects;
- the SHA-256 of each subject is that of a module or an asset; if the name of the subject is the path of entries or the
  end of it, that of one of these. A placeholder is an error.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from cortex_skills.features.artifacts.package.artifact_error import ArtifactError
from cortex_skills.features.artifacts.package.entry_paths import PROVENANCE, is_content
from cortex_skills.safe_io.schemas import shown
from cortex_skills.safe_io.strict_json import read_json

STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "https://slsa.dev/provenance/v1"

_MAX_FILE = 1 << 20
_MAX_DEPTH = 64
_SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)


@dataclass(frozen=True, slots=True)
class ProvenanceStatement:
    """Who built what: the id of the builder, the type of the build, and the SHA-256 of each subject by name."""

    builder_id: str
    build_type: str
    subjects: tuple[tuple[str, str], ...]

    def uncovered(self, entries: Mapping[str, bytes]) -> list[str]:
        """The modules and assets that are no subject."""
        known = {digest for _, digest in self.subjects}
        return [path for path, digest in _digests(entries).items() if digest not in known]


def read_provenance(data: bytes, entries: Mapping[str, bytes]) -> ProvenanceStatement:
    """The provenance in `provenance.json`, compared with the entries of its artifact.

    Raises:
        ArtifactError: it is not such a statement, or states another digest.
    """
    try:
        document = read_json(data, max_size=_MAX_FILE, max_depth=_MAX_DEPTH)
    except ValueError as error:
        raise _refused(f"is not JSON: {error}") from None
    for key, wanted in (("_type", STATEMENT_TYPE), ("predicateType", PREDICATE_TYPE)):
        if (given := _member(document, key)) != wanted:
            raise _refused(f"{key} is {shown(given)}, not {wanted}")
    predicate = _member(document, "predicate")
    build_type = _member(_member(predicate, "buildDefinition"), "buildType")
    builder_id = _member(_member(_member(predicate, "runDetails"), "builder"), "id")
    for key, text in (("buildDefinition.buildType", build_type), ("runDetails.builder.id", builder_id)):
        if not isinstance(text, str) or not text.strip():
            raise _refused(f"predicate.{key} is missing (SLSA v1)")
    subjects = _member(document, "subject")
    if not isinstance(subjects, list) or not subjects:
        raise _refused("subject is not a list with a subject")
    digests = _digests(entries)
    return ProvenanceStatement(builder_id, build_type, tuple(_subject(each, digests) for each in subjects))


def _subject(subject: Any, digests: Mapping[str, str]) -> tuple[str, str]:
    name, digest = _member(subject, "name"), _member(_member(subject, "digest"), "sha256")
    if not isinstance(name, str) or not name:
        raise _refused("a subject has no name")
    if not isinstance(digest, str) or not _SHA256.fullmatch(digest):
        raise _refused(f"the subject {shown(name)} has no SHA-256 but {shown(digest)}")
    named = {known for path, known in digests.items() if f"/{path}".endswith(f"/{name}")}
    if digest not in (named or digests.values()):
        raise _refused(f"the SHA-256 of the subject {shown(name)} is that of no such module or asset")
    return name, digest


def _digests(entries: Mapping[str, bytes]) -> dict[str, str]:
    return {path: sha256(content).hexdigest() for path, content in entries.items() if is_content(path)}


def _member(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def _refused(problem: str) -> ArtifactError:
    return ArtifactError(f"{PROVENANCE}: {problem}", hint="build the artifact again: the build writes its provenance")
