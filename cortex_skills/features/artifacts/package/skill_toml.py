"""Reads the manifest of an artifact, `skill.toml` (TOML 1.0).

Rules kept here:
- it is UTF-8 of at most 256 KiB; no line has more than 100 dots, since `tomllib` takes cubic time for long dotted keys;
- its values are those of JSON: no dates, no infinite numbers, integers of 64 bits;
- it has the form of `skill_toml_form`, where unknown keys are errors, and then the rules of `manifest_rules`;
- the old names of `[compat]` are read as the new ones;
- every problem names its field.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator
from itertools import islice
from typing import Any

from cortex_skills.features.artifacts.package.artifact_error import ArtifactError
from cortex_skills.features.artifacts.package.artifact_manifest import ArtifactManifest, manifest_of
from cortex_skills.features.artifacts.package.entry_paths import MANIFEST
from cortex_skills.features.artifacts.package.manifest_rules import problems_of, warnings_of
from cortex_skills.safe_io.schemas import LocatedDocument, Path, Problem, check, summary
from cortex_skills.safe_io.schemas.validation import MAX_PROBLEMS

MAX_MANIFEST = 256 << 10

_MAX_DOTS = 100
_MAX_DEPTH = 64
_INTEGERS = range(-(1 << 63), 1 << 63)
_OLD_NAMES = {"min_protocol_major": "required_protocol_major", "min_runtime_version": "min_palyra_version"}
_CURRENT_VERSION = 2


def read_skill_toml(data: bytes) -> ArtifactManifest:
    """The manifest in the bytes of a `skill.toml`.

    Raises:
        ArtifactError: `manifest_invalid`, with every problem in `details["errors"]`.
    """
    document = read_document(data)
    return manifest_of(document, warnings_of(document))


def read_document(data: bytes) -> dict[str, Any]:
    """The checked document in the bytes of a `skill.toml`, with the current names.

    Raises:
        ArtifactError: as for `read_skill_toml`.
    """
    from cortex_skills.features.artifacts.package.skill_toml_form import SkillToml

    document = parse_document(data)
    problems = list(islice(_not_json(document), MAX_PROBLEMS)) or _renamed(document)
    document.setdefault("manifest_version", _CURRENT_VERSION)
    problems = problems or check(SkillToml, LocatedDocument(document)) or list(problems_of(document))
    if problems:
        raise _invalid(problems)
    return document


def parse_document(data: bytes) -> dict[str, Any]:
    """The document in the bytes of a `skill.toml`, which is not checked.

    Raises:
        ArtifactError: `manifest_invalid`: it is not TOML, or too large.
    """
    if len(data) > MAX_MANIFEST:
        raise _unreadable(f"is longer than {MAX_MANIFEST >> 10} KiB")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise _unreadable("is not UTF-8") from None
    if any(line.count(".") > _MAX_DOTS for line in text.split("\n")):
        raise _unreadable(f"has a line with more than {_MAX_DOTS} dots")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise _unreadable("is nested too deeply") from None
    except ValueError as error:
        raise _unreadable(f"is not TOML: {str(error)[:200]}") from None


def _not_json(document: dict[str, Any]) -> Iterator[Problem]:
    """The values that JSON does not have."""
    pending: list[tuple[Path, Any]] = [((), document)]
    while pending:
        path, value = pending.pop()
        if len(path) > _MAX_DEPTH:
            yield Problem(path[:8], f"is nested more than {_MAX_DEPTH} levels deep")
        elif isinstance(value, dict):
            pending.extend(((*path, key), inner) for key, inner in value.items())
        elif isinstance(value, list):
            pending.extend(((*path, index), inner) for index, inner in enumerate(value))
        elif isinstance(value, int):
            if value not in _INTEGERS:
                yield Problem(path, "is an integer of more than 64 bits")
        elif isinstance(value, float):
            if not math.isfinite(value):
                yield Problem(path, "is not a finite number")
        elif not isinstance(value, str):
            yield Problem(path, "is a date or a time", "write it in quotes")


def _renamed(document: dict[str, Any]) -> list[Problem]:
    """Replace the old names in a document; the problems of names that are given twice."""
    compat = document.get("compat")
    if not isinstance(compat, dict):
        return []
    twice = [old for old, new in _OLD_NAMES.items() if old in compat and new in compat]
    document["compat"] = {_OLD_NAMES.get(key, key): value for key, value in compat.items()}
    return [Problem(("compat", old), f"is the old name of {_OLD_NAMES[old]}, given too", "remove it") for old in twice]


def _unreadable(problem: str) -> ArtifactError:
    return ArtifactError(
        f"{MANIFEST} {problem}", code="manifest_invalid", hint="correct it, and build the artifact again"
    )


def _invalid(problems: list[Problem]) -> ArtifactError:
    return ArtifactError(
        summary(MANIFEST, problems),
        code="manifest_invalid",
        hint="correct the fields above, and build the artifact again",
        errors=tuple(problem.to_json() for problem in problems),
    )
