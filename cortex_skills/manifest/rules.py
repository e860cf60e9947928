"""The rules of a manifest that concern several fields, which a JSON Schema cannot express.

Rules kept here:
- `name` is the name of the folder, both in normal form;
- `type: semantic` requires a semantic block;
- an assertion with `requireProof: true` needs `proofs: [request]`, queries need `graph: [read]`, assertions
  need `graph: [write]`;
- queries of predicates of memories need `memory: [inspect]`; no skill asserts them;
- `"*"` is the only entry of `allowedTools`;
- a predicate is declared once under `assertions`, a slug once under `dependencies`;
- a skill does not depend on itself;
- the `version` of a dependency is an npm range.

The data may also violate the schema: a rule ignores data of the wrong type. `warnings_of` is for data that does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cortex_graph.vocabulary import MEMORY_TERMS
from cortex_skills.manifest.skill_names import normalized
from cortex_skills.manifest.versions import completed, is_range
from cortex_skills.safe_io.schemas import LocatedDocument, Path, Problem, did_you_mean, schema, shown

_MEMORIES = frozenset(term.value for term in MEMORY_TERMS)


def check_rules(document: LocatedDocument, folder_name: str | None) -> Iterator[Problem]:
    """The violations of the rules above.

    Args:
        document: the frontmatter, with the block of the companion file inserted at `semantic`.
        folder_name: the name of the skill's folder; None without a folder.

    """
    data = document.data
    if not isinstance(data, dict):
        return
    name = data.get("name")
    if folder_name is not None and isinstance(name, str) and name != normalized(folder_name):
        message = f"{shown(name)} is not the name of the folder, {shown(folder_name)}"
        yield document.problem(("name",), message, "give both the same name")
    if "type" in data and "semantic" not in data:
        hint = "add a `semantic` block, or remove `type`"
        yield document.problem(("semantic",), "is missing, though `type` is given", hint)
    if isinstance(semantic := data.get("semantic"), dict):
        yield from _permission_rules(document, semantic)
        yield from _tool_rules(document, semantic)
        yield from _dependency_rules(document, semantic, name)


def is_nested(value: object) -> bool:
    """Whether a value of `metadata` is a list or a mapping."""
    return isinstance(value, dict | list)


def warnings_of(document: LocatedDocument) -> Iterator[Problem]:
    """The unknown keys of a valid document, which are ignored, and values that are read as others."""
    known = schema("skill")["properties"]
    for key in (key for key in document.data if key not in known):
        hint = did_you_mean(key, known.keys() - document.data.keys()) or "keys for agent hosts have no effect here"
        yield document.problem((key,), "is not a field of a skill and is ignored", hint)
    for key in (key for key, value in document.data.get("metadata", {}).items() if is_nested(value)):
        yield document.problem(("metadata", key), "is read as JSON, a text", "other readers of the format expect text")
    version = document.data.get("semantic", {}).get("skillVersion")
    if version is not None and (full := completed(version)) != version:
        yield document.problem(("semantic", "skillVersion"), f"is read as {full}", f'write "{full}"')


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
            if _is_of_memories(predicate):
                hint = "call memory.remember, with the permission memory: [remember]"
                yield document.problem((*path, "predicate"), f"{shown(predicate)} is not asserted by any skill", hint)
    for path, query in _entries(semantic, "queries"):
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
