r"""What a skill in the registry contains: one version of its document, as frozen data and as it is stored.

Rules kept here:
- a `SkillDocument` is valid: `SkillDocument.checked` reports every problem with its field, each rule with a message of
  its own, and builds nothing when there is one;
- lengths are counted in characters: a name has 1 to 64, a description 1 to 1,024, a compatibility 1 to 500;
- the path of a resource is relative, has no `.` or `..` segment, no hidden segment, and is not a name of the manifest;
  two paths that differ in case only are refused, since some file systems hold only one of them;
- sizes: a body of 1 MiB, a resource of 4 MiB, 4,096 resources, 64 MiB together;
- metadata is JSON: text, booleans, finite numbers, null, lists, and objects with text keys, at most 16 levels deep;
- a version is stored as one canonical JSON text and blobs. The text has everything of a document but the bytes of its
  body and files, which it names by their SHA-256;
- what is read is checked: a text that is malformed, a blob that is missing or has other bytes, and a document that is
  invalid are `graph_corrupt`;
- the digest, which is signed and shown, covers everything: two documents that differ in anything have different ones.
  It is `SHA-256("cortex-skill-document/1\0" + JCS)`, where JCS is the RFC 8785 form of an object with all front matter,
  the steps, the SHA-256 of the body, and the path, kind, SHA-256 and size of each resource, ordered by path, with
  `"executable": true` for one that can be started and without that member for any other;
- the compat digest is that of other registries of the format, so that skills can be compared across them. It does not
  cover metadata, paths, kinds, executable files and steps, and is ambiguous: a body that ends in the hash of a resource
  has the digest of the shorter body with that resource. Nothing is decided by it. It is the SHA-256 of the compact JSON
  with sorted keys of six members, of the body without newlines first, and of the SHA-256 of each resource, ordered by
  these 32 bytes.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from types import MappingProxyType
from typing import Any, Literal, NoReturn, NotRequired

from typing_extensions import TypedDict

from cortex_graph.exceptions import GraphError
from cortex_graph.naming.names import check_namespace
from cortex_skills.errors import CortexError
from cortex_skills.manifest import ManifestError
from cortex_skills.manifest.declared_reflections import reflection_problems
from cortex_skills.manifest.skill_names import hyphenated, is_skill_name, normalized
from cortex_skills.safe_io.schemas import Path, Problem, schema, shown

MAX_NAME = 64
MAX_DESCRIPTION = 1024
MAX_COMPATIBILITY = 500
MAX_TEXT = 64 << 10  # characters of any other text of the front matter
MAX_LIST = 1_000
MAX_DEPTH = 16
MAX_BODY = 1 << 20  # bytes
MAX_RESOURCE = 4 << 20  # bytes
MAX_RESOURCES = 4_096
MAX_TOTAL = 64 << 20  # bytes of all resources
MAX_PATH = 1_024  # bytes

KINDS = ("instructions", "procedure", "semantic")
FileKind = Literal["script", "reference", "asset", "code", "resource"]
MANIFEST = "SKILL.md"
COMPANION = "semantic.yaml"
_RESERVED = frozenset({MANIFEST.casefold(), COMPANION.casefold()})
_DESCRIPTION = re.compile(schema("skill")["properties"]["description"]["pattern"])
_CODE = re.compile(r"skill\.[cm]?[jt]s")
_FOLDERS: dict[str, FileKind] = {"scripts": "script", "references": "reference", "assets": "asset"}
_LISTS = ("allowed_tools", "depends_on", "conflicts_with")


class StepView(TypedDict):
    """A step."""

    action: str
    tool: str | None
    details: str
    params: NotRequired[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a procedure.

    Attributes:
        action: what to do.
        tool: the tool that does it; None without one.
        details: more about it.
        params: the arguments of the tool, as JSON; None where they are not known.
    """

    action: str
    tool: str | None = None
    details: str = ""
    params: Mapping[str, Any] | None = field(default=None, hash=False)

    def to_json(self) -> StepView:
        """The step as a JSON object."""
        step: StepView = {"action": self.action, "tool": self.tool, "details": self.details}
        return step if self.params is None else {**step, "params": dict(self.params)}


@dataclass(frozen=True, slots=True)
class SkillResource:
    """One file beside the manifest.

    Attributes:
        path: relative to the folder of the skill, with `/`.
        data: its bytes.
        executable: whether it can be started as a program; no other part of its mode is kept.
    """

    path: str
    data: bytes = field(repr=False)
    executable: bool = False

    @property
    def kind(self) -> FileKind:
        """What it is, from its path."""
        head, separator, _ = self.path.partition("/")
        if separator:
            return _FOLDERS.get(head, "resource")
        return "code" if _CODE.fullmatch(self.path) else "resource"

    @property
    def sha256(self) -> str:
        """The SHA-256 of its bytes, in hexadecimal."""
        return sha256(self.data).hexdigest()


@dataclass(frozen=True, slots=True)
class SkillDocument:
    """One version of a skill.

    Attributes:
        namespace: the namespace that it is registered in.
        name: the name of the skill, in normal form.
        description: what it does and when to use it.
        license: a licence, or the name of a file with it.
        compatibility: what it needs of its environment.
        allowed_tools: the tools that it uses, in their order.
        metadata: everything else of the front matter, as JSON.
        body: the Markdown below the front matter, as written.
        steps: the steps of a procedure.
        trigger_pattern: what a request that it serves looks like.
        depends_on: names of skills that it needs.
        conflicts_with: names of skills that it must not be used with.
        reflections: `composes_with_reflections`: where reflections come from, as JSON; None without them.
        semantic: the semantic block, as JSON; None without one.
        resources: its files, ordered by the bytes of their paths.
    """

    namespace: str
    name: str
    description: str
    license: str | None = None
    compatibility: str | None = None
    allowed_tools: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    body: str = ""
    steps: tuple[Step, ...] = ()
    trigger_pattern: str | None = None
    depends_on: tuple[str, ...] = ()
    conflicts_with: tuple[str, ...] = ()
    reflections: Mapping[str, Any] | list[Any] | None = None
    semantic: Mapping[str, Any] | None = None
    resources: tuple[SkillResource, ...] = ()

    @property
    def kind(self) -> str:
        """`semantic` with a semantic block, `procedure` with steps, else `instructions`."""
        if self.semantic is not None:
            return "semantic"
        return "procedure" if self.steps else "instructions"

    @property
    def summary(self) -> str:
        """The description as it is shown and offered to a model: without the white space around it."""
        return self.description.strip()

    @classmethod
    def checked(cls, *, stored: bool = False, **fields: Any) -> SkillDocument:
        """Build a document from its fields.

        Args:
            stored: whether it was registered before; older versions accepted control characters in descriptions, and
                any declaration of reflections.
            fields: the attributes.

        Raises:
            ManifestError: with all problems.
        """
        document = cls(**fields)
        problems = list(problems_of(document))
        if not problems and not stored:
            problems += reflection_problems(document.reflections)
            if not _DESCRIPTION.search(document.description):
                problems.append(Problem(("description",), "contains control characters", "remove them"))
        if problems:
            name = document.name if isinstance(document.name, str) else ""
            raise ManifestError(problems, skill=name)
        resources = sorted(document.resources, key=lambda resource: resource.path.encode())
        return replace(document, name=normalized(document.name), resources=tuple(resources))

    def resource(self, path: str) -> SkillResource | None:
        """The file at a path, which may leave `resources/` out or have it before; None without one."""
        files = {resource.path: resource for resource in self.resources}
        places = (path, f"resources/{path}", path.removeprefix("resources/"))
        return next((files[place] for place in places if place in files), None)

    def changed(self, **fields: Any) -> SkillDocument:
        """The same document with other fields, checked.

        Raises:
            ManifestError: with all problems.
        """
        names = self.__dataclass_fields__
        return SkillDocument.checked(**{name: getattr(self, name) for name in names} | fields)


def name_problems(name: Any, path: tuple[str, ...] = ("name",)) -> Iterator[Problem]:
    """The rules that a name of a skill breaks, those of agentskills.io with underscores, each with its own message."""
    if not isinstance(name, str):
        yield Problem(path, f"must be text, not {type(name).__name__}")
        return
    name = normalized(name)
    if not name:
        yield Problem(path, "is empty", f"1 to {MAX_NAME} lower-case letters, digits, hyphens or underscores")
        return
    if len(name) > MAX_NAME:
        yield Problem(path, f"has {len(name)} characters, and at most {MAX_NAME} are allowed", "shorten it")
    if name != name.lower():
        yield Problem(path, "contains upper-case letters", "write it in lower case")
    name = hyphenated(name)
    if name.startswith("-") or name.endswith("-"):
        yield Problem(path, "begins or ends with a hyphen or an underscore", "remove it")
    if "--" in name:
        yield Problem(path, "contains two hyphens or underscores in a row", "write one")
    others = sorted({character for character in name if not (character.isalnum() or character == "-")})
    if others:
        yield Problem(path, f"contains {shown(''.join(others[:8]))}", "use letters, digits, - and _ only")
    elif name == name.lower() and len(name) <= MAX_NAME and "--" not in name and not is_skill_name(name.strip("-")):
        yield Problem(path, f"{shown(name)} is not a name of a skill", "use letters, digits, - and _ only")


def problems_of(document: SkillDocument) -> Iterator[Problem]:
    """The rules that a document breaks, each with the name of the attribute first in its path."""
    yield from name_problems(document.name)
    try:
        check_namespace(document.namespace)
    except GraphError as error:
        yield Problem(("namespace",), error.message, error.hint)
    yield from _text(document.description, ("description",), MAX_DESCRIPTION, needed=True)
    yield from _text(document.license, ("license",), MAX_TEXT)
    yield from _text(document.compatibility, ("compatibility",), MAX_COMPATIBILITY)
    yield from _text(document.trigger_pattern, ("trigger_pattern",), MAX_TEXT)
    if not isinstance(document.body, str) or _fault(document.body):
        yield Problem(("body",), "is not text" if not isinstance(document.body, str) else _fault(document.body))
    elif len(document.body.encode()) > MAX_BODY:
        yield Problem(("body",), f"has more than {MAX_BODY >> 20} MiB", "move parts of it to references")
    for name in _LISTS:
        yield from _texts(getattr(document, name), name)
    for name in ("depends_on", "conflicts_with"):
        for place, other in enumerate(getattr(document, name)):
            yield from name_problems(other, (name, str(place)))
            if isinstance(other, str) and hyphenated(other) == hyphenated(document.name):
                yield Problem((name, str(place)), "is the skill itself", "remove it")
    for place, step in enumerate(document.steps):
        yield from _text(step.action, ("steps", place, "action"), MAX_TEXT, needed=True)
        yield from _text(step.tool, ("steps", place, "tool"), MAX_TEXT)
        yield from _text(step.details, ("steps", place, "details"), MAX_TEXT, empty=True)
        if step.params is not None:
            yield from _params(step.params, ("steps", str(place), "params"))
    for name in ("metadata", "reflections", "semantic"):
        value = getattr(document, name)
        if value is not None:
            yield from _json(value, (name,))
    yield from _resources(document.resources)


def _text(value: Any, path: Path, most: int, *, needed: bool = False, empty: bool = False) -> Iterator[Problem]:
    if value is None and not needed:
        return
    if not isinstance(value, str):
        yield Problem(path, "is missing" if value is None else f"must be text, not {type(value).__name__}")
    elif fault := _fault(value):
        yield Problem(path, fault)
    elif not value.strip() and not empty:
        yield Problem(path, "is empty", "write it, or leave the key out")
    elif len(value) > most:
        yield Problem(path, f"has {len(value):,} characters, and at most {most:,} are allowed", "shorten it")


def _texts(values: Any, name: str) -> Iterator[Problem]:
    if not isinstance(values, tuple) or not all(isinstance(value, str) for value in values):
        yield Problem((name,), "must be a list of texts")
        return
    if len(values) > MAX_LIST:
        yield Problem((name,), f"has more than {MAX_LIST:,} entries")
    for place, value in enumerate(values[:MAX_LIST]):
        yield from _text(value, (name, place), MAX_TEXT)
        if value in values[:place]:
            yield Problem((name, str(place)), f"{shown(value)} is given twice", "remove one")


def _fault(text: str) -> str:
    """Why a text cannot be kept; empty when it can."""
    if "\0" in text:
        return "contains a NUL character"
    try:
        text.encode()
    except UnicodeEncodeError:
        return "contains text that is not valid Unicode"
    return ""


def _json(value: Any, path: tuple[str, ...], depth: int = 0) -> Iterator[Problem]:
    if depth > MAX_DEPTH:
        yield Problem(path, f"is nested more than {MAX_DEPTH} levels deep")
    elif isinstance(value, str):
        if fault := _fault(value):
            yield Problem(path, fault)
    elif isinstance(value, float) and not math.isfinite(value):
        yield Problem(path, "is not a finite number")
    elif isinstance(value, Mapping):
        for key, member in value.items():
            if not isinstance(key, str) or _fault(key):
                yield Problem(path, f"has a key that is not text: {shown(key)}")
            else:
                yield from _json(member, (*path, key), depth + 1)
    elif isinstance(value, list | tuple):
        for place, member in enumerate(value):
            yield from _json(member, (*path, str(place)), depth + 1)
    elif not (value is None or isinstance(value, bool | int | float)):
        yield Problem(path, f"is of the type {type(value).__name__}, which JSON does not have")


def _params(value: Any, path: tuple[str, ...]) -> Iterator[Problem]:
    if not isinstance(value, Mapping):
        yield Problem(path, f"must be an object, not {type(value).__name__}")
        return
    problems = list(_json(value, path))
    yield from problems
    if not problems and len(json.dumps(value, default=dict)) > MAX_TEXT:
        yield Problem(path, f"has more than {MAX_TEXT >> 10} KiB", "shorten it")


def _resources(resources: Iterable[SkillResource]) -> Iterator[Problem]:
    seen: dict[str, str] = {}
    total = 0
    for count, resource in enumerate(resources, 1):
        total += len(resource.data)
        path = ("resources", resource.path)
        if problem := path_problem(resource.path):
            yield Problem(path, problem, "rename the file")
        elif (folded := resource.path.casefold()) in seen:
            yield Problem(path, f"cannot be told from {shown(seen[folded])} on some file systems", "rename one")
        else:
            seen[folded] = resource.path
        if len(resource.data) > MAX_RESOURCE:
            yield Problem(path, f"has more than {MAX_RESOURCE >> 20} MiB", "make it smaller, or link to it")
        if count > MAX_RESOURCES:
            yield Problem(("resources",), f"are more than {MAX_RESOURCES:,} files", "split the skill")
            return
    folders = {parent for path in seen for parent in _parents(path)}
    for folder in sorted(folders & seen.keys()):
        yield Problem(("resources", seen[folder]), "is a file and a folder", "rename one")
    if total > MAX_TOTAL:
        yield Problem(("resources",), f"have more than {MAX_TOTAL >> 20} MiB together", "split the skill")


def path_problem(path: Any) -> str:
    """Why a path cannot name a resource; empty when it can."""
    if not isinstance(path, str) or not path:
        return "is not a path"
    if _fault(path) or any(ord(character) < 32 or character in '\\:*?"<>|\x7f' for character in path):
        return "contains a character that some file systems do not have"
    if len(path.encode()) > MAX_PATH:
        return f"has more than {MAX_PATH:,} bytes"
    if path.casefold() in _RESERVED:
        return "is the name of a file of the manifest"
    for segment in path.split("/"):
        if not segment or segment.startswith("."):
            return "has an empty, hidden, `.` or `..` segment"
        if segment.endswith((".", " ")) or len(segment.encode()) > 255:
            return "has a segment that some file systems do not have"
    return ""


def _parents(path: str) -> Iterator[str]:
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


_BODY = "body"
_PLAIN = ("namespace", "name", "description", "license", "compatibility", "trigger_pattern")
_BLOCKS = ("metadata", "reflections", "semantic")


def front_of(document: SkillDocument) -> str:
    """A document without the bytes of its body and files, as canonical JSON."""
    content: dict[str, Any] = {name: getattr(document, name) for name in (*_PLAIN, *_LISTS, *_BLOCKS)}
    content["steps"] = [step.to_json() for step in document.steps]
    content[_BODY] = sha256(document.body.encode()).hexdigest()
    content["resources"] = [
        {"path": each.path, "sha256": each.sha256, "size": len(each.data)} | flag_of(each)
        for each in document.resources
    ]
    return json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=dict)


def document_of(front: str, bytes_of: Mapping[str, bytes]) -> SkillDocument:
    """The document of a version.

    Args:
        front: what `front_of` returned.
        bytes_of: the content of each blob, by its SHA-256, in hexadecimal.

    Raises:
        CortexError: `graph_corrupt`: a blob is missing or has other content, or the text is malformed.
    """
    try:
        content = _read(front)
        fields = {name: content[name] for name in (*_PLAIN, *_BLOCKS)}
        fields |= {name: tuple(content[name]) for name in _LISTS}
        steps = tuple(Step(**step) for step in content["steps"])
        blobs = {digest: _checked(digest, bytes_of) for digest in _digests(content)}
        resources = tuple(
            SkillResource(entry["path"], blobs[entry["sha256"]], entry.get("executable") is True)
            for entry in content["resources"]
        )
        body = blobs[content[_BODY]].decode()
        return SkillDocument.checked(stored=True, **fields, steps=steps, body=body, resources=resources)
    except CortexError as error:
        if error.code == "graph_corrupt":
            raise
        corrupt(f"a stored document is invalid: {error.message}")
    except (ValueError, KeyError, TypeError) as error:
        corrupt(f"a stored document is malformed: {error}")


def blobs_of(document: SkillDocument) -> dict[str, bytes]:
    """The content of each blob of a document, by its SHA-256, in hexadecimal."""
    body = document.body.encode()
    return {sha256(body).hexdigest(): body, **{each.sha256: each.data for each in document.resources}}


def front_matter(front: str) -> dict[str, Any]:
    """The members of a stored document, as JSON.

    Raises:
        CortexError: `graph_corrupt`: the text is malformed.
    """
    try:
        return _read(front)
    except (ValueError, TypeError) as error:
        corrupt(f"a stored document is malformed: {error}")


def blob_paths(front: str) -> dict[str, str]:
    """The SHA-256 of the body, under an empty path, and of each file, by path.

    Raises:
        CortexError: `graph_corrupt`: the text is malformed.
    """
    try:
        content = _read(front)
        return {"": content[_BODY], **{entry["path"]: entry["sha256"] for entry in content["resources"]}}
    except (ValueError, KeyError, TypeError) as error:
        corrupt(f"a stored document is malformed: {error}")


def _read(front: str) -> dict[str, Any]:
    content = json.loads(front)
    if not isinstance(content, dict):
        raise TypeError("it is no object")
    return content


def _digests(content: Mapping[str, Any]) -> set[str]:
    return {content[_BODY], *(entry["sha256"] for entry in content["resources"])}


def _checked(digest: str, bytes_of: Mapping[str, bytes]) -> bytes:
    data = bytes_of.get(digest)
    if data is None:
        corrupt(f"the content {digest[:12]}… of a skill is missing")
    if sha256(data).hexdigest() != digest:
        corrupt(f"the content {digest[:12]}… of a skill was changed")
    return data


def corrupt(problem: str) -> NoReturn:
    """Raise the error for a registry that was changed from outside: `graph_corrupt`."""
    hint = "`cortex-skills registry events verify` finds where it was changed; restore a backup"
    raise CortexError("graph_corrupt", problem, hint=hint)


_DOMAIN = b"cortex-skill-document/1\0"


def body_elsewhere(body: str) -> str:
    """A body as other registries read it: without newlines first, and with what ends the line before it.

    They drop the line feeds behind the closing `---`, and so not a carriage return.
    """
    line, newline, _ = body.partition("\n")
    return f"\r\n{body}" if newline and line.endswith("\r") else body.lstrip("\n")


def compat_digest(document: SkillDocument, body: str | None = None) -> str:
    """The digest of other registries, in hexadecimal.

    Args:
        document: the document.
        body: as the other registry has it; `body_elsewhere` by default.
    """
    front = {
        "allowed_tools": list(document.allowed_tools),
        "compatibility": document.compatibility,
        "description": document.description,
        "license": document.license,
        "name": document.name,
        "namespace": document.namespace,
    }
    whole = sha256(json.dumps(front, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode())
    whole.update((body_elsewhere(document.body) if body is None else body).encode())
    for digest in sorted(sha256(resource.data).digest() for resource in document.resources):
        whole.update(digest)
    return whole.hexdigest()


def digest(document: SkillDocument) -> str:
    """The digest of everything in a document, in hexadecimal."""
    import rfc8785

    return sha256(_DOMAIN + rfc8785.dumps(_content(document))).hexdigest()


def _content(document: SkillDocument) -> dict[str, Any]:
    body = document.body.encode()
    return {
        "namespace": document.namespace,
        "name": document.name,
        "description": document.description,
        "license": document.license,
        "compatibility": document.compatibility,
        "allowed_tools": list(document.allowed_tools),
        "metadata": _plain(document.metadata),
        "trigger_pattern": document.trigger_pattern,
        "depends_on": list(document.depends_on),
        "conflicts_with": list(document.conflicts_with),
        "composes_with_reflections": _plain(document.reflections),
        "semantic": _plain(document.semantic),
        "steps": [_plain(step.to_json()) for step in document.steps],
        "body": {"sha256": sha256(body).hexdigest(), "size": len(body)},
        "resources": [
            {"path": each.path, "kind": each.kind, "sha256": each.sha256, "size": len(each.data)} | flag_of(each)
            for each in document.resources
        ],
    }


def flag_of(resource: SkillResource) -> dict[str, bool]:
    """The member `executable` of a resource that can be started; none for any other."""
    return {"executable": True} if resource.executable else {}


def _plain(value: Any) -> Any:
    """A JSON value made of dicts and lists; whole numbers beyond 53 bits, which RFC 8785 does not have, as objects."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, int):
        return value if abs(value) < 2**53 else {"$integer": str(value)}
    if isinstance(value, float):
        return {"$double": value.hex()}  # 1.0 is not 1
    if isinstance(value, list | tuple):
        return [_plain(member) for member in value]
    return {key if not key.startswith("$") else f"${key}": _plain(member) for key, member in value.items()}
