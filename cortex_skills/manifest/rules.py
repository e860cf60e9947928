"""The rules of a manifest that a JSON Schema cannot express.

`validate`, the loader and the registry apply them, with the schema, so that they agree on every SKILL.md. A rule has
one of two strengths.

A problem (`check_rules`) stops this product from loading the skill:
- `type: semantic` requires a semantic block;
- the `name` of a skill with a semantic block is the name of its folder, both in normal form; the folder of the project
  of an artifact may be named by its id, `PUBLISHER.NAME`. It has no underscores;
- `allowed-tools` has at most 1,000 entries;
- a predicate is a name, or an IRI that is well formed;
- `composes_with_reflections` is well formed (`declared_reflections`);
- an assertion with `requireProof: true` needs `proofs: [request]`, queries need `graph: [read]`, assertions
  need `graph: [write]`;
- queries of predicates of memories need `memory: [inspect]`; no skill asserts them;
- `"*"` is the only entry of `allowedTools`;
- a predicate is declared once under `assertions`, a slug once under `dependencies`;
- a skill does not depend on itself;
- the `version` of a dependency is an npm range.

A warning (`warnings_of`) does not, and states what is ignored or read differently:
- the `name` of a skill without a semantic block is not the name of its folder: it is loaded under its `name`;
- the `name` has underscores;
- a key is unknown, such as one for an agent host; so is `type` with another value than `semantic`;
- a list or a mapping is where other readers expect text;
- a version is incomplete.

The data may also violate the schema: a problem ignores data of the wrong type. `warnings_of` is for data that does not.
What only other readers reject is in `portable.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from cortex_graph import GraphError, Names
from cortex_graph.naming.vocabulary import MEMORY_TERMS
from cortex_skills.manifest.declared_reflections import KEY, reflection_problems
from cortex_skills.manifest.model import ANY
from cortex_skills.manifest.skill_names import hyphenated, normalized
from cortex_skills.manifest.versions import completed, is_range
from cortex_skills.safe_io.schemas import LocatedDocument, Path, Problem, did_you_mean, schema, shown

MAX_TOOLS = 1_000

_MEMORIES = frozenset(term.value for term in MEMORY_TERMS)
_NAMES = Names("mayros")  # any namespace: which IRIs are well formed does not depend on it
_TEXTS = ("license", "compatibility")
_TOOLS = "allowed-tools"


def check_rules(document: LocatedDocument, folder_name: str | None) -> Iterator[Problem]:
    """The violations of the rules above that stop the load.

    Args:
        document: the frontmatter, with the block of the companion file inserted at `semantic`.
        folder_name: the name of the skill's folder; None without a folder.
    """
    data = document.data
    if not isinstance(data, dict):
        return
    name = data.get("name")
    if "semantic" in data and not (isinstance(name, str) and _is_id(folder_name, name)):
        yield from _other_name(document, folder_name, "give both the same name")
    if "semantic" in data and isinstance(name, str) and "_" in name:
        yield document.problem(("name",), f"{shown(name)} has an underscore", f"write {hyphenated(name)}")
    if data.get("type") == "semantic" and "semantic" not in data:
        hint = "add a `semantic` block, or remove `type`"
        yield document.problem(("semantic",), "is missing, though `type` is given", hint)
    if len(tools_of(data.get(_TOOLS))) > MAX_TOOLS:
        yield document.problem((_TOOLS,), f"has more than {MAX_TOOLS:,} entries", "name fewer tools")
    for wrong in reflection_problems(data.get(KEY)):
        yield document.problem(wrong.path, wrong.message, wrong.hint)
    if isinstance(semantic := data.get("semantic"), dict):
        yield from _permission_rules(document, semantic)
        yield from _tool_rules(document, semantic)
        yield from _dependency_rules(document, semantic, name)


def tools_of(given: object) -> tuple[str, ...]:
    """The tools of an `allowed-tools`: a text with spaces or commas, or a list; each once."""
    names = re.split(r"[\s,]+", given) if isinstance(given, str) else given if isinstance(given, list) else []
    return tuple(dict.fromkeys(name for name in names if isinstance(name, str) and name.strip()))


def nested_values(document: LocatedDocument) -> Iterator[Path]:
    """The paths of the lists and mappings where readers of the format expect text."""
    data = document.data if isinstance(document.data, dict) else {}
    metadata, tools = data.get("metadata"), data.get(_TOOLS)
    values: dict[Path, Any] = {(key,): data.get(key) for key in _TEXTS}
    values |= {("metadata", key): value for key, value in (metadata.items() if isinstance(metadata, dict) else ())}
    values |= {(_TOOLS, place): value for place, value in enumerate(tools if isinstance(tools, list) else ())}
    values |= {(_TOOLS,): tools} if isinstance(tools, dict) else {}
    return (path for path, value in values.items() if isinstance(value, dict | list))


def warnings_of(document: LocatedDocument, folder_name: str | None) -> Iterator[Problem]:
    """What is ignored in a valid document, and what is read differently than it is written.

    Args:
        document: as given, before lists and mappings were read as text.
        folder_name: the name of the skill's folder; None without a folder.
    """
    data = document.data
    if "semantic" not in data:
        yield from _other_name(document, folder_name, "give both the same name, which other readers expect")
        if "_" in data["name"]:
            hint = f"write {hyphenated(data['name'])}; this product finds it by either spelling"
            yield document.problem(("name",), "has an underscore, which other readers of the format refuse", hint)
    known = schema("skill")["properties"]
    for key in (key for key in data if key not in known):
        hint = did_you_mean(key, known.keys() - data.keys()) or "keys for agent hosts have no effect here"
        yield document.problem((key,), "is not a field of a skill and is ignored", hint)
    if "type" in data and "semantic" not in data:
        hint = "write `semantic`, with a semantic block, or nothing; keys for agent hosts have no effect here"
        yield document.problem(("type",), f"{shown(data['type'])} is not `semantic` and is ignored", hint)
    for path in nested_values(document):
        yield document.problem(path, "is read as JSON, a text", "other readers of the format expect text")
    version = data.get("semantic", {}).get("skillVersion")
    if version is not None and (full := completed(version)) != version:
        yield document.problem(("semantic", "skillVersion"), f"is read as {full}", f'write "{full}"')


def _is_id(folder_name: str | None, name: str) -> bool:
    return folder_name is not None and normalized(folder_name).rpartition(".")[1:] == (".", name)


def _other_name(document: LocatedDocument, folder_name: str | None, hint: str) -> Iterator[Problem]:
    name = document.data.get("name")
    if folder_name is not None and isinstance(name, str) and name != normalized(folder_name):
        yield document.problem(("name",), f"{shown(name)} is not the name of the folder, {shown(folder_name)}", hint)


def _permission_rules(document: LocatedDocument, semantic: dict[str, Any]) -> Iterator[Problem]:
    granted = _granted(semantic)
    if semantic.get("queries") and "graph:read" not in granted:
        yield _needs(document, ("semantic", "queries"), "graph", "read")
    if semantic.get("assertions") and "graph:write" not in granted:
        yield _needs(document, ("semantic", "assertions"), "graph", "write")
    declared = set()
    for path, assertion in _entries(semantic, "assertions"):
        if assertion.get("requireProof") is True and "proofs:request" not in granted:
            yield _needs(document, (*path, "requireProof"), "proofs", "request")
        if isinstance(predicate := assertion.get("predicate"), str):
            if predicate in declared:
                message = f"{shown(predicate)} is declared twice"
                yield document.problem((*path, "predicate"), message, "keep one of the two")
            declared.add(predicate)
            yield from _malformed(document, (*path, "predicate"), predicate)
            if _is_of_memories(predicate):
                hint = "call memory.remember, with the permission memory: [remember]"
                yield document.problem((*path, "predicate"), f"{shown(predicate)} is not asserted by any skill", hint)
    for path, query in _entries(semantic, "queries"):
        yield from _malformed(document, (*path, "predicate"), query.get("predicate"))
        if _is_of_memories(query.get("predicate")) and "memory:inspect" not in granted:
            yield _needs(document, (*path, "predicate"), "memory", "inspect")


def _tool_rules(document: LocatedDocument, semantic: dict[str, Any]) -> Iterator[Problem]:
    tools = semantic.get("allowedTools")
    if isinstance(tools, list) and "*" in tools and len(tools) > 1:
        path: Path = ("semantic", "allowedTools", tools.index("*"))
        yield document.problem(path, "'*' allows any tool", 'write ["*"] alone, or name the tools')


def _dependency_rules(document: LocatedDocument, semantic: dict[str, Any], name: object) -> Iterator[Problem]:
    slugs = set()
    for path, dependency in _entries(semantic, "dependencies"):
        if isinstance(slug := dependency.get("slug"), str):
            if slug == name:
                yield document.problem((*path, "slug"), "is the skill itself", "remove this dependency")
            if slug in slugs:
                yield document.problem((*path, "slug"), f"{shown(slug)} is listed twice", "keep one of the two")
            slugs.add(slug)
        if isinstance(version := dependency.get("version"), str) and not is_range(version):
            message = f"{shown(version)} is not a version range"
            yield document.problem((*path, "version"), message, 'write it as npm does: "^1.0.0", ">=1.2 <3"')


def _needs(document: LocatedDocument, path: Path, area: str, action: str) -> Problem:
    message = f"needs the permission {area}:{action}"
    return document.problem(path, message, f"add {action} to semantic.permissions.{area}")


def _malformed(document: LocatedDocument, path: Path, predicate: object) -> Iterator[Problem]:
    """The problem of a predicate with which every call would fail."""
    if isinstance(predicate, str) and predicate not in ("", ANY) and not predicate.startswith(_NAMES.prefix):
        try:
            _NAMES.node(predicate, "predicate")
        except GraphError as error:
            yield document.problem(path, error.message, error.hint)


def _is_of_memories(predicate: object) -> bool:
    return isinstance(predicate, str) and predicate.removeprefix("<").removesuffix(">") in _MEMORIES


def _granted(semantic: dict[str, Any]) -> set[str]:
    permissions = semantic.get("permissions")
    areas = permissions.items() if isinstance(permissions, dict) else ()
    return {f"{area}:{action}" for area, actions in areas if isinstance(actions, list) for action in actions}


def _entries(semantic: dict[str, Any], key: str) -> Iterator[tuple[Path, dict[str, Any]]]:
    entries = semantic.get(key)
    for index, entry in enumerate(entries if isinstance(entries, list) else []):
        if isinstance(entry, dict):
            yield ("semantic", key, index), entry
