r"""Reads and writes the `SKILL.md` of a registered skill.

Two dialects are read: agentskills.io (`name`, `description`, `license`, `compatibility`, `allowed-tools`, `metadata`),
and the older one with `namespace`, `allowed_tools`, `trigger_pattern`, `depends_on`, `conflicts_with` and
`composes_with_reflections` at the top level. One is written, which the reference validator of agentskills.io accepts.

Rules kept here:
- `read_skill_md(write_skill_md(document))` contains what the document contains, for every document;
- every scalar is written in double quotes, as JSON writes it, so that `yes`, `null`, `1.0` and `- x` stay text. What a
  YAML reader would not read back as it is, and `---`, which ends the front matter for the reference validator, is
  written as an escape;
- what agentskills.io has no key for is one JSON text below `metadata`, under the key `cortex`; it holds nothing else;
- an unknown key at the top level is kept in the metadata, with its JSON type; a key of both is an error;
- numbered steps of the body (`1. **Title** — use tool_name`) are the steps of a document without steps;
- a semantic block is written as the companion file `semantic.yaml`, which `metadata.semantic` names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from cortex_skills.manifest import ManifestError
from cortex_skills.manifest.frontmatter import MAX_FRONTMATTER_BYTES, Frontmatter, read_companion, read_frontmatter
from cortex_skills.registry.document import COMPANION, SkillDocument, SkillResource, Step
from cortex_skills.safe_io.schemas import Problem
from cortex_skills.safe_io.strict_json import read_json

EXTENSION = "cortex"  # the key below `metadata` for what agentskills.io has no key for

_TOP = ("name", "description", "license", "compatibility")
_OLD = ("trigger_pattern", "depends_on", "conflicts_with", "composes_with_reflections")
_KNOWN = frozenset(
    {*_TOP, *_OLD, "namespace", "allowed-tools", "allowed_tools", "metadata", "semantic", "type", "steps"}
)
_EXTRAS = frozenset({"namespace", "steps", "metadata", "allowed_tools", *_OLD})
_STEP = re.compile(
    r"^ {0,3}[0-9]{1,4}[.)] +\*\*(?P<title>[^*\n]{1,500})\*\*"
    r"(?:[ \t]*(?:—|–|-|:)?[ \t]*use `?(?P<tool>[A-Za-z0-9_.:/-]{1,128}[A-Za-z0-9_])`?)?(?P<rest>[^\n]*)$",
    re.MULTILINE,
)
_UNQUOTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def read_skill_md(
    text: str,
    *,
    namespace: str,
    resources: tuple[SkillResource, ...] = (),
    companion: str | None = None,
) -> SkillDocument:
    """Read a SKILL.md of either dialect.

    Args:
        text: the whole file.
        namespace: the namespace of a document that names none.
        resources: the files beside it.
        companion: the text of the file that `metadata.semantic` names, if any.

    Raises:
        ManifestError: with all problems.

    """
    front = read_frontmatter(text)
    data = front.document.data
    if front.document.problems or not isinstance(data, dict):
        problems = front.document.problems or (Problem((), "has front matter that is not a mapping"),)
        raise ManifestError(problems, skill="")
    return SkillDocument.checked(**_fields(front, namespace, companion), resources=resources)


def write_skill_md(document: SkillDocument) -> dict[str, str]:
    """The files of the manifest, text by name: `SKILL.md`, and the companion file of a semantic skill."""
    metadata = {key: value for key, value in document.metadata.items() if _is_plain(key, value)}
    extras: dict[str, Any] = {"namespace": document.namespace}
    if others := {key: value for key, value in document.metadata.items() if key not in metadata}:
        extras["metadata"] = others
    if document.steps != steps_of(document.body):
        extras["steps"] = [step.to_json() for step in document.steps]
    if any(re.search(r"\s|,", tool) for tool in document.allowed_tools):
        extras["allowed_tools"] = list(document.allowed_tools)
    for key in ("trigger_pattern", "depends_on", "conflicts_with"):
        if value := getattr(document, key):
            extras[key] = value
    if document.reflections is not None:
        extras["composes_with_reflections"] = document.reflections
    files = {}
    if document.semantic is not None:
        metadata["semantic"] = COMPANION
        files[COMPANION] = _yaml(document.semantic) + "\n"
    metadata[EXTENSION] = json.dumps(extras, ensure_ascii=False, sort_keys=True)
    lines = ["---", f"name: {_quoted(document.name)}", f"description: {_quoted(document.description)}"]
    optional = {"license": document.license, "compatibility": document.compatibility}
    lines += [f"{key}: {_quoted(value)}" for key, value in optional.items() if value is not None]
    if document.allowed_tools and "allowed_tools" not in extras:
        lines.append(f"allowed-tools: {_quoted(' '.join(document.allowed_tools))}")
    lines.append("metadata:")
    lines += [f"  {_quoted(key)}: {_quoted(value)}" for key, value in sorted(metadata.items())]
    files["SKILL.md"] = "\n".join([*lines, "---", ""]) + document.body
    _check_sizes(files, document)
    return files


def steps_of(body: str) -> tuple[Step, ...]:
    """The numbered steps with a bold title in a Markdown text.

    >>> steps_of("1. **Read the log** — use fs_read, then stop.")
    (Step(action='Read the log', tool='fs_read', details=', then stop.'),)
    """
    return tuple(
        Step(found["title"].strip(), found["tool"], found["rest"].strip())
        for found in _STEP.finditer(body)
        if found["title"].strip()
    )


def _fields(front: Frontmatter, namespace: str, companion: str | None) -> dict[str, Any]:
    data: dict[str, Any] = front.document.data
    problems: list[Problem] = []
    given = data.get("metadata")
    metadata: dict[str, Any] = dict(given) if isinstance(given, dict) else {}
    if given is not None and not isinstance(given, dict):
        problems.append(front.document.problem(("metadata",), "must be a mapping"))
    semantic = data.get("semantic")
    if semantic is None and front.companion_name is not None:
        del metadata["semantic"]
        semantic = _companion(companion, front.companion_name, problems)
    extras = _extension(metadata, problems)
    for key, value in extras.pop("metadata", {}).items():
        _keep(metadata, key, value, problems)
    for key in data.keys() - _KNOWN:
        _keep(metadata, key, data[key], problems)
    body = front.body
    settings = {key: data.get(key, extras.get(key)) for key in (*_OLD, "namespace", "steps")}
    if settings["namespace"] is None:
        settings["namespace"] = namespace
    tools = extras.get("allowed_tools", data.get("allowed_tools", data.get("allowed-tools")))
    fields = {key: data.get(key) for key in _TOP}
    fields |= {
        "namespace": settings["namespace"],
        "allowed_tools": _tools(tools, problems),
        "metadata": metadata,
        "body": body,
        "steps": steps_of(body) if settings["steps"] is None else _steps(settings["steps"], problems),
        "trigger_pattern": settings["trigger_pattern"],
        "depends_on": _names(settings["depends_on"], "depends_on", problems),
        "conflicts_with": _names(settings["conflicts_with"], "conflicts_with", problems),
        "reflections": settings["composes_with_reflections"],
        "semantic": semantic,
    }
    if not isinstance(semantic, Mapping | None):
        problems.append(Problem(("semantic",), "must be a mapping"))
    if not isinstance(fields["reflections"], Mapping | list | None):
        problems.append(Problem(("composes_with_reflections",), "must be a list or a mapping"))
    if problems:
        name = fields["name"]
        raise ManifestError(problems, skill=name if isinstance(name, str) else "")
    return fields


def _extension(metadata: dict[str, Any], problems: list[Problem]) -> dict[str, Any]:
    """What a document of this registry has below `metadata`; taken out of the metadata."""
    text = metadata.get(EXTENSION)
    if text is None:
        return {}
    path = ("metadata", EXTENSION)
    try:
        extras = read_json(text) if isinstance(text, str) else None
    except ValueError:
        extras = None
    if not isinstance(extras, dict) or not extras.keys() <= _EXTRAS or "namespace" not in extras:
        problems.append(Problem(path, "is not what this registry writes there", "rename the key"))
        return {}
    if not isinstance(extras.get("metadata", {}), dict):
        problems.append(Problem((*path, "metadata"), "must be a mapping"))
        return {}
    del metadata[EXTENSION]
    return extras


def _keep(metadata: dict[str, Any], key: str, value: Any, problems: list[Problem]) -> None:
    if key in metadata:
        problems.append(Problem(("metadata", key), "is given twice: here and at the top level", "keep one of the two"))
    metadata[key] = value


def _companion(text: str | None, name: str, problems: list[Problem]) -> Any:
    if text is None:
        problems.append(Problem(("metadata", "semantic"), f"names the file {name}, which is missing"))
        return None
    document = read_companion(text, name)
    problems.extend(document.problems)
    return document.data


def _tools(given: Any, problems: list[Problem]) -> tuple[str, ...]:
    if given is None:
        return ()
    if isinstance(given, str):
        return tuple(dict.fromkeys(filter(None, re.split(r"[\s,]+", given))))
    return _names(given, "allowed_tools", problems)


def _names(given: Any, name: str, problems: list[Problem]) -> tuple[str, ...]:
    if given is None:
        return ()
    if isinstance(given, str):
        return (given,)
    if isinstance(given, list) and all(isinstance(each, str) for each in given):
        return tuple(given)
    problems.append(Problem((name,), "must be a list of texts"))
    return ()


def _steps(given: Any, problems: list[Problem]) -> tuple[Step, ...]:
    if not isinstance(given, list):
        problems.append(Problem(("steps",), "must be a list"))
        return ()
    steps = []
    for place, entry in enumerate(given):
        step = {"action": entry} if isinstance(entry, str) else entry
        if not isinstance(step, dict) or not step.keys() <= {"action", "tool", "details"} or "action" not in step:
            problems.append(Problem(("steps", str(place)), "must be a text, or have `action`, `tool` and `details`"))
            continue
        steps.append(Step(step["action"], step.get("tool"), step.get("details") or ""))
    return tuple(steps)


def _check_sizes(files: Mapping[str, str], document: SkillDocument) -> None:
    """Refuse a manifest that a reader of the format would not read again."""
    sizes = {COMPANION: len(files.get(COMPANION, "").encode()), "SKILL.md": len(files["SKILL.md"].encode())}
    sizes["SKILL.md"] -= len(document.body.encode())
    problems = [
        Problem((name,), f"would have more than {MAX_FRONTMATTER_BYTES >> 10} KiB of front matter", "shorten it")
        for name, size in sizes.items()
        if size > MAX_FRONTMATTER_BYTES
    ]
    if problems:
        raise ManifestError(problems, skill=document.name)


def _is_plain(key: str, value: Any) -> bool:
    """Whether a member of the metadata is written as it is."""
    return isinstance(value, str) and key not in ("semantic", EXTENSION) and len(key) + len(value) < 4096


def _quoted(text: str) -> str:
    """A text as a YAML scalar in double quotes."""
    quoted = json.dumps(text, ensure_ascii=False)
    quoted = _UNQUOTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", quoted)
    return quoted.replace("---", "-\\u002d-")


def _yaml(value: Any, indent: str = "") -> str:
    """A JSON value in YAML of block style, which every reader of the format reads."""
    if isinstance(value, Mapping):
        if not value:
            return "{}"
        return "\n".join(f"{indent}{_quoted(key)}:{_below(member, indent)}" for key, member in value.items())
    if isinstance(value, list | tuple):
        if not value:
            return "[]"
        return "\n".join(f"{indent}-{_below(member, indent)}" for member in value)
    return _quoted(value) if isinstance(value, str) else json.dumps(value)


def _below(value: Any, indent: str) -> str:
    if isinstance(value, Mapping | list | tuple) and value:
        return "\n" + _yaml(value, indent + "  ")
    return " " + _yaml(value)
