"""The provenance of an artifact, in `provenance.json`: an in-toto Statement v1 with an SLSA v1 predicate.

Rules kept here:
- it is strict JSON of at most 1 MiB with the types of both specifications, a builder id, and subjects;
- the form of Palyra, a `builder` and a `subject` without `_type`, is read, too: the unattested form. A subject that
  names an entry and has a digest must have that of the entry. Palyra requires neither, so a subject may have no digest,
  and be something else, such as a file of the project; `skill.toml` is not compared, because the build changes it;
- the SHA-256 of each subject is that of a module or an asset; if the name of the subject is the path of entries or the
  end of it, that of one of these. A placeholder is an error.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any

from cortex_skills.features.artifacts.package.artifact_error import ArtifactError
from cortex_skills.features.artifacts.package.entry_paths import MANIFEST, PROVENANCE, SIGNATURE, is_content
from cortex_skills.safe_io.schemas import shown
from cortex_skills.safe_io.strict_json import read_json

UNATTESTED = "unattested form"
STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "https://slsa.dev/provenance/v1"

_NOT_COMPARED = (MANIFEST, PROVENANCE, SIGNATURE)
_MAX_FILE = 1 << 20
_MAX_DEPTH = 64
_SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)


@dataclass(frozen=True, slots=True)
class ProvenanceStatement:
    """Who built what.

    Attributes:
        builder_id: of the builder; empty if an unattested form names none.
        build_type: of the build; empty in the unattested form.
        subjects: the name and the SHA-256 of each; the latter is empty for a subject without a digest.
    """

    builder_id: str
    build_type: str
    subjects: tuple[tuple[str, str], ...]

    def absent(self, entries: Mapping[str, bytes]) -> list[str]:
        """The subjects of which nothing could be compared: they have no digest, or are no entry."""
        known = set(_digests(entries, _NOT_COMPARED).values())
        return [name for name, digest in self.subjects if digest not in known]

    @property
    def is_statement(self) -> bool:
        """Whether it is an in-toto statement, not the unattested form."""
        return bool(self.build_type)

    def to_json(self) -> dict[str, Any]:
        """It as a JSON object."""
        return {"form": "in-toto" if self.is_statement else UNATTESTED, **asdict(self)}

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
    if isinstance(document, dict) and "_type" not in document and isinstance(document.get("builder"), dict):
        builder_id = document["builder"].get("id", "")
        if not isinstance(builder_id, str):
            raise _refused("builder.id is not a text")
        digests = _digests(entries, _NOT_COMPARED)
        return ProvenanceStatement(builder_id, "", _subjects(document, digests, is_statement=False))
    for key, wanted in (("_type", STATEMENT_TYPE), ("predicateType", PREDICATE_TYPE)):
        if (given := _member(document, key)) != wanted:
            raise _refused(f"{key} is {shown(given)}, not {wanted}")
    predicate = _member(document, "predicate")
    build_type = _member(_member(predicate, "buildDefinition"), "buildType")
    builder_id = _member(_member(_member(predicate, "runDetails"), "builder"), "id")
    for key, text in (("buildDefinition.buildType", build_type), ("runDetails.builder.id", builder_id)):
        if not isinstance(text, str) or not text.strip():
            raise _refused(f"predicate.{key} is missing (SLSA v1)")
    return ProvenanceStatement(builder_id, build_type, _subjects(document, _digests(entries), is_statement=True))


def _subjects(document: Any, digests: Mapping[str, str], *, is_statement: bool) -> tuple[tuple[str, str], ...]:
    subjects = _member(document, "subject")
    if not isinstance(subjects, list) or not subjects:
        raise _refused("subject is not a list with a subject")
    return tuple(_subject(each, digests, is_statement=is_statement) for each in subjects)


def _subject(subject: Any, digests: Mapping[str, str], *, is_statement: bool) -> tuple[str, str]:
    name, digest = _member(subject, "name"), _member(_member(subject, "digest"), "sha256")
    if not isinstance(name, str) or not name:
        raise _refused("a subject has no name")
    if not is_statement and isinstance(subject, dict) and not subject.get("digest"):
        return name, ""
    if not isinstance(digest, str) or not _SHA256.fullmatch(digest):
        raise _refused(f"the subject {shown(name)} has no SHA-256 but {shown(digest)}")
    named = {known for path, known in digests.items() if f"/{path}".endswith(f"/{name}")}
    if digest not in (named or (digests.values() if is_statement else {digest})):
        raise _refused(f"the SHA-256 of the subject {shown(name)} is that of no such module or asset")
    return name, digest


def _digests(entries: Mapping[str, bytes], left_out: Collection[str] = ()) -> dict[str, str]:
    """The SHA-256 of modules and assets; with `left_out` that of every other entry, too, but these."""
    return {
        path: sha256(content).hexdigest()
        for path, content in entries.items()
        if is_content(path) or (left_out and path not in left_out)
    }


def _member(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def _refused(problem: str) -> ArtifactError:
    return ArtifactError(f"{PROVENANCE}: {problem}", hint="build the artifact again: the build writes its provenance")
