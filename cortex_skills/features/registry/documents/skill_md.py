r"""Reads and writes the `SKILL.md` of a registered skill, and reads a document that a client gives inline.

Two dialects are read: agentskills.io (`name`, `description`, `license`, `compatibility`, `allowed-tools`, `metadata`),
and the older one with `namespace`, `allowed_tools`, `trigger_pattern`, `depends_on`, `conflicts_with` and
`composes_with_reflections` at the top level. One is written, which the reference validator of agentskills.io accepts.

Rules kept here:
- `read_skill_md(write_skill_md(document))` contains what the document contains, for every document;
- every scalar is written in double quotes, as JSON writes it, so that `yes`, `null`, `1.0` and `- x` stay text. What a
  YAML reader would not read back as it is, and `---`, which ends the front matter for the reference validator, is
  written as an escape;
- what agentskills.io has no key for is one JSON text below `metadata`, under the key `cortex`; it holds nothing else;
- the rules of the manifest (`manifest/rules.py`) decide whether a skill is refused, and a malformed declaration of
  reflections refuses it too; every other finding is a warning;
- an unknown key at the top level is kept in the metadata, with its JSON type, and so is a value that the registry has
  no use for, such as `steps` in another form; of a key in both places, the value in the metadata is kept;
- agentskills.io has no underscores in names: a name with them is written with hyphens, and as it is in `metadata.name`;
- numbered steps of the body (`1. **Title** — use tool_name`) are the steps of a document without steps. The tool of one
  follows `use`, `uses`, `using`, `with` or `via` at the beginning of the text behind the title, or is all of that text;
  else it is in backticks behind one of these words but `with`, in that text or in the title. A word without backticks
  is a tool if it looks like the name of one, or, behind `use`, if it ends its clause;
- a semantic block is written as the companion file `semantic.yaml`, which `metadata.semantic` names;
- a document that is given inline is the text of a `SKILL.md`, or its fields. These have the names of the older dialect;
  files are texts, or bytes in Base64;
- an update has the fields that are given, and the others of the document before.
"""

from __future__ import annotations

import base64
import binascii
import json
import logging
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any, NotRequired, Required

from pydantic import Field
from typing_extensions import TypedDict

from cortex_skills.features.registry.documents.document import (
    COMPANION,
    SkillDocument,
    SkillResource,
    Step,
    problems_of,
)
from cortex_skills.manifest import ManifestError
from cortex_skills.manifest.declared_reflections import reflection_problems
from cortex_skills.manifest.frontmatter import (
    MAX_FRONTMATTER_BYTES,
    Frontmatter,
    build,
    read_companion,
    read_frontmatter,
)
from cortex_skills.manifest.rules import tools_of
from cortex_skills.manifest.skill_names import hyphenated, normalized
from cortex_skills.safe_io.schemas import Problem
from cortex_skills.safe_io.strict_json import read_json

log = logging.getLogger(__name__)

EXTENSION = "cortex"  # the key below `metadata` for what agentskills.io has no key for

_TOP = ("name", "description", "license", "compatibility", "allowed-tools", "metadata", "semantic", "type")
_SETTINGS = {  # the keys of the older dialect, and the attributes of a document
    "namespace": "namespace",
    "trigger_pattern": "trigger_pattern",
    "depends_on": "depends_on",
    "conflicts_with": "conflicts_with",
    "composes_with_reflections": "reflections",
    "steps": "steps",
    "allowed_tools": "allowed_tools",
}
KNOWN = frozenset({*_TOP, *_SETTINGS})
_EXTRAS = frozenset({"metadata", *_SETTINGS})
_STEP = re.compile(r"^ {0,3}[0-9]{1,4}[.)] +\*\*(?P<title>[^*\n]{1,500})\*\*(?P<rest>[^\n]*)$", re.MULTILINE)
_NAME = r"[A-Za-z0-9_.:/-]{0,128}[A-Za-z0-9_]"
_TOOL_FIRST = re.compile(
    r"[ \t]*(?:—|–|-|:)?[ \t]*(?:"
    rf"(?:use|uses|using) `(?P<asked>{_NAME})`|(?:with|via) `(?P<quoted>[A-Za-z0-9_.-]{{0,128}}[A-Za-z0-9_])`"
    rf"|(?:use|uses|using|with|via) (?P<named>{_NAME})"
    rf"|`(?P<alone>{_NAME})`(?=[\s.;]*$))(?P<rest>.*)",
    re.IGNORECASE,
)
_TOOL_IN_TEXT = re.compile(r"\b(?:use|uses|using|via) `([A-Za-z0-9_.-]{0,128}[A-Za-z0-9_])`", re.IGNORECASE)
_LIKE_A_TOOL = re.compile(r"[A-Za-z0-9]+[_.:/][A-Za-z0-9_.:/-]+")
_ENDS_CLAUSE = re.compile(r"\s*(?:[.,;:)(—–-]|$)")
_FORMER_STEP = re.compile(
    r"^ {0,3}[0-9]{1,4}[.)] +\*\*(?P<title>[^*\n]{1,500})\*\*"
    r"(?:[ \t]*(?:—|–|-|:)?[ \t]*use `?(?P<tool>[A-Za-z0-9_.:/-]{1,128}[A-Za-z0-9_])`?)?(?P<rest>[^\n]*)$",
    re.MULTILINE,
)
_STEP_MEMBERS = frozenset({"action", "tool", "details", "params"})
_UNQUOTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def read_skill_md(
    text: str,
    *,
    namespace: str,
    resources: tuple[SkillResource, ...] = (),
    companion: str | None = None,
    warnings: list[Problem] | None = None,
) -> SkillDocument:
    """Read a SKILL.md of either dialect.

    Args:
        text: the whole file.
        namespace: the namespace of a document that names none.
        resources: the files beside it.
        companion: the text of the file that `metadata.semantic` names, if any.
        warnings: receives what the registry has no use for; without it that is logged.

    Raises:
        ManifestError: with all problems.
    """
    front = read_frontmatter(text)
    named = front.companion_name
    block = read_companion(companion, named) if named is not None and companion is not None else None
    manifest = build(front, block, None)
    reading = _Reading(front)
    fields = {
        "name": reading.name or manifest.name,
        "description": front.document.data["description"],
        "license": _filled(manifest.license),
        "compatibility": _filled(manifest.compatibility),
        "metadata": reading.metadata,
        "body": front.body,
        "semantic": front.document.data.get("semantic") if block is None else block.data,
        "resources": resources,
    }
    settings = {"namespace": namespace, "steps": steps_of(front.body)} | reading.settings()
    if problems := list(reflection_problems(settings.get("reflections"))):
        located = (front.document.problem(each.path, each.message, each.hint) for each in problems)
        raise ManifestError(located, skill=manifest.name)
    found = problems_of(SkillDocument(**fields, **settings))
    for problem in [problem for problem in found if problem.path[0] in reading.sources]:
        reading.refuse(problem)
    fields["metadata"] = reading.metadata
    settings = {"namespace": namespace, "steps": steps_of(front.body)} | reading.settings()
    if warnings is not None:
        warnings.extend(reading.warnings)
    else:
        for warning in reading.warnings:
            log.warning("%s: %s", manifest.name, warning)
    return SkillDocument.checked(**fields, **settings)


def write_skill_md(document: SkillDocument) -> dict[str, str]:
    """The files of the manifest, text by name: `SKILL.md`, and the companion file of a semantic skill."""
    metadata = {key: value for key, value in document.metadata.items() if _is_plain(key, value)}
    extras: dict[str, Any] = {"namespace": document.namespace}
    if others := {key: value for key, value in document.metadata.items() if key not in metadata}:
        extras["metadata"] = others
    if not document.steps == steps_of(document.body) == former_steps_of(document.body):
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
        files[COMPANION] = in_yaml(document.semantic) + "\n"
    metadata[EXTENSION] = json.dumps(extras, ensure_ascii=False, sort_keys=True, default=dict)
    name = hyphenated(document.name)
    if name != document.name:
        metadata["name"] = document.name
    lines = ["---", f"name: {quoted(name)}", f"description: {quoted(document.description)}"]
    optional = {"license": document.license, "compatibility": document.compatibility}
    lines += [f"{key}: {quoted(value)}" for key, value in optional.items() if value is not None]
    if document.allowed_tools and "allowed_tools" not in extras:
        lines.append(f"allowed-tools: {quoted(' '.join(document.allowed_tools))}")
    lines.append("metadata:")
    lines += [f"  {quoted(key)}: {quoted(value)}" for key, value in sorted(metadata.items())]
    files["SKILL.md"] = "\n".join([*lines, "---", ""]) + document.body
    check_sizes(files, document)
    return files


def steps_of(body: str) -> tuple[Step, ...]:
    """The numbered steps with a bold title in a Markdown text.

    >>> steps_of("1. **Read the log** — use fs_read, then stop.")
    (Step(action='Read the log', tool='fs_read', details=', then stop.', params=None),)
    """
    found = ((each["title"].strip(), *_tool_of(each["title"], each["rest"])) for each in _STEP.finditer(body))
    return tuple(Step(title, tool, rest) for title, tool, rest in found if title)


def _tool_of(title: str, text: str) -> tuple[str | None, str]:
    """The tool of a step, by its title and the text behind that; and what the text has beside the tool."""
    first = _TOOL_FIRST.match(text)
    if first is not None:
        if tool := first["asked"] or first["quoted"] or first["alone"]:
            return tool, first["rest"].strip()
        is_asked = first[0].lstrip(" \t—–-:").lower().startswith("us")
        if _LIKE_A_TOOL.fullmatch(first["named"]) or (is_asked and _ENDS_CLAUSE.match(first["rest"])):
            return first["named"], first["rest"].strip()
    inside = _TOOL_IN_TEXT.search(text) or _TOOL_IN_TEXT.search(title)
    return (inside[1] if inside else None), text.strip()


def former_steps_of(body: str) -> tuple[Step, ...]:
    """The steps of a text as earlier versions read them, whose exports do not repeat the steps of the body."""
    return tuple(
        Step(found["title"].strip(), found["tool"], found["rest"].strip())
        for found in _FORMER_STEP.finditer(body)
        if found["title"].strip()
    )


class _Reading:
    """What the registry reads of a frontmatter beyond the manifest: the metadata, and the settings of either dialect.

    Attributes:
        metadata: everything that is no setting.
        name: the name as it was written, where the format has another spelling of it; else empty.
        sources: the attributes of a document that are given, each with its key and the value there.
        warnings: what was not read.
    """

    def __init__(self, front: Frontmatter) -> None:
        self._front = front
        data = front.document.data
        self.metadata: dict[str, Any] = dict(data.get("metadata", {}))
        self.sources: dict[str, tuple[str, Any]] = {}
        self.warnings: list[Problem] = []
        if "semantic" not in data and front.companion_name is not None:
            del self.metadata["semantic"]
        self.name = self._written_name(data.get("name"))
        self._extension: Any = self.metadata.get(EXTENSION)
        extras = self._extras()
        for key, value in extras.pop("metadata", {}).items():
            self._keep(key, value)
        for key in data.keys() - KNOWN:
            self._keep(key, data[key])
        if "type" in data and data["type"] != "semantic":
            self._keep("type", data["type"])
        for key, attribute in _SETTINGS.items():
            given, value = (key, data[key]) if data.get(key) is not None else (EXTENSION, extras.get(key))
            if value is not None:
                self.sources[attribute] = (given, value)
        tools = data.get("allowed-tools")
        if "allowed_tools" not in self.sources and tools is not None:
            self.sources["allowed_tools"] = ("allowed-tools", tools)
        self._values: dict[str, Any] = {}
        for attribute, (_, value) in list(self.sources.items()):
            try:
                self._values[attribute] = _READ.get(attribute, _as_given)(value)
            except ValueError as error:
                self.refuse(Problem((attribute,), str(error)))

    def settings(self) -> dict[str, Any]:
        """The attributes that are given and can be used."""
        return {attribute: self._values[attribute] for attribute in self.sources}

    def refuse(self, problem: Problem) -> None:
        """Keep a setting that cannot be used in the metadata, with a warning."""
        key, value = self.sources.pop(str(problem.path[0]), ("", None))
        if not key:
            return  # it has several problems
        self.metadata[key] = self._extension if key == EXTENSION else value
        path = ("metadata", key) if key == EXTENSION else (key,)
        self._warn(path, f"cannot be used and is kept as metadata: {problem.message}", problem.hint)

    def _written_name(self, name: object) -> str:
        written = self.metadata.get("name")
        if not isinstance(written, str) or not isinstance(name, str) or written == name:
            return ""
        if hyphenated(normalized(written)) != normalized(name):
            return ""
        del self.metadata["name"]
        return written

    def _extras(self) -> dict[str, Any]:
        """What a document of this registry has below `metadata`; taken out of the metadata."""
        if self._extension is None:
            return {}
        try:
            extras = read_json(self._extension) if isinstance(self._extension, str) else None
        except ValueError:
            extras = None
        known = isinstance(extras, dict) and "namespace" in extras and extras.keys() <= _EXTRAS
        if isinstance(extras, dict) and known and isinstance(extras.get("metadata", {}), dict):
            del self.metadata[EXTENSION]
            return extras
        self._warn(("metadata", EXTENSION), "is not what this registry writes there, and is kept as metadata")
        return {}

    def _keep(self, key: str, value: Any) -> None:
        if key not in self.metadata:
            self.metadata[key] = value
        elif self.metadata[key] != value:
            self._warn((key,), "is given in `metadata` too, whose value is kept", "keep one of the two")

    def _warn(self, path: tuple[str, ...], message: str, hint: str = "") -> None:
        self.warnings.append(self._front.document.problem(path, message, hint))


def _filled(text: str | None) -> str | None:
    return text if text and text.strip() else None


def _as_given(value: Any) -> Any:
    return value


def _tools(given: Any) -> tuple[str, ...]:
    listed = [given] if isinstance(given, dict) else given
    if isinstance(listed, list):
        return tools_of([each if isinstance(each, str) else json.dumps(each, ensure_ascii=False) for each in listed])
    if isinstance(given, str):
        return tools_of(given)
    raise ValueError("must be a list of texts")


def _names(given: Any) -> tuple[str, ...]:
    if isinstance(given, str):
        return (given,)
    if isinstance(given, list) and all(isinstance(each, str) for each in given):
        return tuple(given)
    raise ValueError("must be a list of texts")


def _steps(given: Any) -> tuple[Step, ...]:
    if not isinstance(given, list):
        raise ValueError("must be a list")
    steps = []
    for entry in given:
        step = {"action": entry} if isinstance(entry, str) else entry
        if not isinstance(step, dict) or not step.keys() <= _STEP_MEMBERS or "action" not in step:
            raise ValueError("each must be a text, or have `action`, `tool`, `details` and `params`")
        steps.append(Step(step["action"], step.get("tool"), step.get("details") or "", step.get("params")))
    return tuple(steps)


_READ: dict[str, Callable[[Any], Any]] = {
    "allowed_tools": _tools,
    "depends_on": _names,
    "conflicts_with": _names,
    "steps": _steps,
}


def check_sizes(files: Mapping[str, str], document: SkillDocument) -> None:
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
    return isinstance(value, str) and key not in ("semantic", "name", EXTENSION) and len(key) + len(value) < 4096


def quoted(text: str) -> str:
    """A text as a YAML scalar in double quotes."""
    quoted = json.dumps(text, ensure_ascii=False)
    quoted = _UNQUOTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", quoted)
    return quoted.replace("---", "-\\u002d-")


def in_yaml(value: Any, indent: str = "") -> str:
    """A JSON value in YAML of block style, which every reader of the format reads."""
    if isinstance(value, Mapping):
        if not value:
            return "{}"
        return "\n".join(f"{indent}{quoted(key)}:{_below(member, indent)}" for key, member in value.items())
    if isinstance(value, list | tuple):
        if not value:
            return "[]"
        return "\n".join(f"{indent}-{_below(member, indent)}" for member in value)
    return quoted(value) if isinstance(value, str) else json.dumps(value)


def _below(value: Any, indent: str) -> str:
    if isinstance(value, Mapping | list | tuple) and value:
        return "\n" + in_yaml(value, indent + "  ")
    return " " + in_yaml(value)


_Names = Annotated[list[Annotated[str, Field(max_length=256)]], Field(max_length=1000)]
_Removable = Annotated[str | None, Field(description="null removes it.")]


class InlineStep(TypedDict):
    """A step that a client gives."""

    action: Annotated[str, Field(description="What to do.")]
    tool: NotRequired[Annotated[str | None, Field(description="The tool that does it.")]]
    details: NotRequired[str]
    params: NotRequired[Annotated[dict[str, Any], Field(description="The arguments of the tool.")]]


class InlineFile(TypedDict):
    """A file that a client gives: `text` or `base64`."""

    path: Annotated[str, Field(max_length=1024)]
    text: NotRequired[str]
    base64: NotRequired[str]
    executable: NotRequired[Annotated[bool, Field(description="Whether it can be started as a program.")]]


class InlineFields(TypedDict, total=False):
    """The fields of a document, without its name."""

    description: Annotated[str, Field(description="What it does and when to use it: 1 to 1,024 characters.")]
    body: Annotated[str, Field(description="The instructions, in Markdown.")]
    steps: Annotated[
        list[InlineStep],
        Field(
            max_length=200,
            description="The steps; those of the body (`1. **Title** — use tool_name`) when they are not given.",
        ),
    ]
    allowed_tools: Annotated[_Names, Field(description="The tools that it uses.")]
    trigger_pattern: Annotated[
        _Removable, Field(description="What a request that it serves looks like; null removes it.")
    ]
    depends_on: Annotated[_Names, Field(description="Registered skills that it needs.")]
    conflicts_with: Annotated[_Names, Field(description="Skills that it must not be used with.")]
    license: _Removable
    compatibility: _Removable
    metadata: Annotated[dict[str, Any], Field(description="Anything else, as JSON.")]
    resources: Annotated[list[InlineFile], Field(max_length=4096, description="Its files.")]


class _Named(TypedDict):
    name: Annotated[str, Field(max_length=256)]
    namespace: NotRequired[Annotated[str, Field(max_length=256)]]


class InlineSkill(_Named, InlineFields):
    """A document; its description is needed."""

    description: Required[Annotated[str, Field(description="What it does and when to use it: 1 to 1,024 characters.")]]  # type: ignore[misc]


FIELDS = tuple(InlineFields.__annotations__)
_TUPLES = ("allowed_tools", "depends_on", "conflicts_with")


def inline_document(given: str | Mapping[str, Any], namespace: str) -> SkillDocument:
    """The document of a text or of fields.

    Args:
        given: the text of a `SKILL.md`, or an `InlineSkill`.
        namespace: the namespace of a document that names none.

    Raises:
        ManifestError: with all problems.
    """
    if isinstance(given, str):
        return read_skill_md(given, namespace=namespace)
    fields = {"namespace": given.get("namespace", namespace), "name": given["name"]}
    return SkillDocument.checked(**{"description": None} | fields | _fields(given))


def updated_document(before: SkillDocument, given: Mapping[str, Any]) -> SkillDocument:
    """A document with the fields that are given, and the steps of a body that is given, if it had those of its body.

    Raises:
        ManifestError: with all problems.
    """
    fields = _fields(given)
    if "steps" not in given and before.steps != steps_of(before.body):
        fields.pop("steps", None)
    return before.changed(**fields)


def _fields(given: Mapping[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {name: given[name] for name in FIELDS if name in given}
    fields |= {name: tuple(fields[name]) for name in _TUPLES if name in fields}
    if "steps" in fields:
        given_steps = fields["steps"]
        fields["steps"] = tuple(
            Step(each["action"], each.get("tool"), each.get("details", ""), each.get("params")) for each in given_steps
        )
    elif "body" in fields:
        fields["steps"] = steps_of(fields["body"])
    if "resources" in fields:
        fields["resources"] = tuple(map(_resource, fields["resources"]))
    return fields


def _resource(given: Mapping[str, Any]) -> SkillResource:
    path = ("resources", given["path"])
    if ("text" in given) == ("base64" in given):
        raise ManifestError([Problem(path, "must have `text` or `base64`", "give one of the two")])
    try:
        data = given["text"].encode() if "text" in given else base64.b64decode(given["base64"], validate=True)
    except (UnicodeEncodeError, binascii.Error, ValueError):
        raise ManifestError([Problem(path, "is not valid Unicode or Base64")]) from None
    return SkillResource(given["path"], data, given.get("executable", False))
