"""The folder of a skill as ai-memory reads it: everything at the top level of the front matter, files in `resources/`.

Rules kept here:
- no input or output;
- the original reads its own members, and keeps every other key as metadata. What it cannot read is refused, with each
  problem: it takes ASCII names, counts bytes, and needs a list in `composes_with_reflections`;
- `read_skill_md` reads the same document from it, and `path_here` the same paths;
- what has a number that YAML readers read differently, and metadata whose key has another meaning here, is in the JSON
  text below `metadata` that the other form has too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from cortex_skills.features.registry.documents.document import (
    MAX_COMPATIBILITY,
    MAX_DESCRIPTION,
    SkillDocument,
    path_problem,
)
from cortex_skills.features.registry.documents.skill_md import (
    EXTENSION,
    KNOWN,
    check_sizes,
    former_steps_of,
    in_yaml,
    steps_of,
)
from cortex_skills.manifest import ManifestError
from cortex_skills.manifest.declared_reflections import KEY
from cortex_skills.safe_io.schemas import Problem, shown

FOLDER = "resources/"
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def path_there(path: str) -> str:
    """The path of a file in such a folder."""
    return path if path.startswith(FOLDER) else f"{FOLDER}{path}"


def named_here(path: str) -> str:
    """The path by which the original names a file of such a folder."""
    return path.removeprefix(FOLDER)


def ai_memory_md(document: SkillDocument) -> str:
    """The text of the SKILL.md of a document.

    Raises:
        ManifestError: ai-memory could not read the skill; with all problems.
    """
    if problems := list(_problems(document)):
        raise ManifestError(problems, skill=document.name)
    front: dict[str, Any] = {name: getattr(document, name) for name in ("namespace", "name", "description")}
    front |= {name: value for name in ("license", "compatibility") if (value := getattr(document, name)) is not None}
    for name in ("allowed_tools", "trigger_pattern", "depends_on", "conflicts_with", "semantic"):
        if value := getattr(document, name):
            front[name] = value
    if document.semantic is not None:
        front["type"] = "semantic"
    if document.reflections is not None:
        front[KEY] = document.reflections
    extras: dict[str, Any] = {}
    if not document.steps == steps_of(document.body) == former_steps_of(document.body):
        steps = [step.to_json() for step in document.steps]
        (front if _is_plain(steps) else extras)["steps"] = steps
    plain = {key: value for key, value in document.metadata.items() if key not in _TAKEN and _is_plain(value)}
    if others := {key: value for key, value in document.metadata.items() if key not in plain}:
        extras["metadata"] = others
    if extras:
        extras["namespace"] = document.namespace
        front["metadata"] = {EXTENSION: json.dumps(extras, ensure_ascii=False, sort_keys=True, default=dict)}
    line, newline, _ = document.body.partition("\n")
    end = "\r\n" if newline and line.endswith("\r") else "\n"
    text = f"---\n{in_yaml(front | dict(sorted(plain.items())))}\n---{end}"
    check_sizes({"SKILL.md": text + document.body}, document)
    return text + document.body


_TAKEN = KNOWN | {EXTENSION}


def _is_plain(value: Any) -> bool:
    """Whether YAML readers agree on a value: all JSON but numbers with a fraction, or of more than 53 bits."""
    if isinstance(value, Mapping):
        return all(map(_is_plain, value.values()))
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    return not isinstance(value, float) and (not isinstance(value, int) or abs(value) < 2**53)


def _problems(document: SkillDocument) -> Iterator[Problem]:
    if not _NAME.fullmatch(document.name):
        yield Problem(("name",), "has a letter that ai-memory does not take", "use a to z, digits and single hyphens")
    for name, most in (("description", MAX_DESCRIPTION), ("compatibility", MAX_COMPATIBILITY)):
        if (size := len((getattr(document, name) or "").encode())) > most:
            yield Problem((name,), f"has {size:,} bytes, and ai-memory reads at most {most:,}", "shorten it")
    if document.reflections is not None and not isinstance(document.reflections, list | tuple):
        hint = "write a list of {namespace, min_depth}"
        yield Problem((KEY,), "is not the list that ai-memory reads", hint)
    paths: set[str] = set()
    for resource in document.resources:
        there = path_there(resource.path)
        if problem := path_problem(there):
            yield Problem(("resources", resource.path), problem, "rename the file")
        if there.casefold() in paths:
            yield Problem(("resources", resource.path), f"is there twice, as {shown(there)}", "rename one")
        paths.add(there.casefold())
