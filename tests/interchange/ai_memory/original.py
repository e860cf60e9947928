"""How ai-memory 0.7.0 reads, hashes and writes skills: a port of its rules, for files that go between the systems.

Rules kept here, which are those of the original:
- the front matter ends at the first line that begins with `---`; newlines before the body are dropped, no other space;
- `namespace`, `name` and `description` are needed; lengths are counted in bytes; every other key is metadata;
- an entry of `composes_with_reflections` has a namespace, and a least depth from 0, which is 0 when it is not given;
- files are those below `resources/`, with paths relative to that folder;
- an export has text values of the metadata only, and `resources/`.

`vectors.json` has what the original's own parser, compiled, returned; `test_port.py` compares this port with it.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import yaml

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_KNOWN = ("namespace", "name", "description", "license", "compatibility", "allowed_tools", "composes_with_reflections")


class RefusedError(Exception):
    """The original refuses the text."""


class _CoreSchema(yaml.SafeLoader):
    """YAML 1.2, core schema."""


_CoreSchema.yaml_implicit_resolvers = {
    first: [(tag, shape) for tag, shape in found if tag.endswith((":null", ":int", ":float"))]
    for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_CoreSchema.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("true|false"), list("tf"))


@dataclass
class OriginalSkill:
    """A skill as the original reads it."""

    namespace: str
    name: str
    description: str
    license: str | None
    compatibility: str | None
    allowed_tools: list[str]
    composes_with_reflections: list[dict[str, Any]]
    metadata: dict[str, Any]
    body: str
    resources: dict[str, bytes] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """The digest that the original signs, in hexadecimal."""
        names = ("namespace", "name", "description", "license", "compatibility", "allowed_tools")
        front = {name: getattr(self, name) for name in names}
        whole = sha256(json.dumps(front, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode())
        whole.update(self.body.encode())
        for each in sorted(sha256(data).digest() for data in self.resources.values()):
            whole.update(each)
        return whole.hexdigest()


def read(text: str, resources: dict[str, bytes] | None = None) -> OriginalSkill:
    """Read the text of a SKILL.md."""
    if not text.startswith("---"):
        raise RefusedError("no front matter")
    inner = text[3:].lstrip("\r").lstrip("\n")
    end = inner.find("\n---")
    if end < 0:
        raise RefusedError("front matter without an end")
    try:
        node = yaml.compose(inner[:end], Loader=_CoreSchema)
        front = yaml.load(inner[:end], Loader=_CoreSchema)
    except (yaml.YAMLError, ValueError) as error:
        raise RefusedError(str(error)) from None
    if not isinstance(front, dict):
        raise RefusedError("front matter is no mapping")
    nodes = {key.value: value for key, value in node.value}
    found = {name: _text(nodes.get(name)) for name in ("namespace", "name", "description", "license", "compatibility")}
    for name in ("namespace", "name", "description"):
        if not found[name]:
            raise RefusedError(f"{name} is missing")
    if not _NAME.fullmatch(found["name"]) or len(found["name"]) > 64:
        raise RefusedError("no name of a skill")
    for name, most in (("description", 1024), ("compatibility", 500)):
        if len((found[name] or "").encode()) > most:
            raise RefusedError(f"{name} is too long")
    if not isinstance(front.get("allowed_tools", []), list):
        raise RefusedError("allowed_tools is no list")
    tools = [_text(each) for each in nodes["allowed_tools"].value] if "allowed_tools" in nodes else []
    if None in tools:
        raise RefusedError("allowed_tools is no list of texts")
    composes = _composes(front)
    metadata = {key: value for key, value in front.items() if key not in _KNOWN}
    if composes:
        metadata["composes_with_reflections"] = composes
    return OriginalSkill(
        **{name: found[name] for name in ("namespace", "name", "description", "license")},
        compatibility=found["compatibility"] or None,
        allowed_tools=[tool for tool in tools if tool is not None],
        composes_with_reflections=composes,
        metadata=metadata,
        body=inner[end + 4 :].lstrip("\n"),
        resources=resources or {},
    )


def _text(node: yaml.Node | None) -> str | None:
    """A scalar as it is written, also one that looks like a number; None without one."""
    if node is None or node.tag == "tag:yaml.org,2002:null":
        return None
    if not isinstance(node, yaml.ScalarNode):
        raise RefusedError("a list or a mapping is no text")
    return str(node.value)


def _composes(front: dict[str, Any]) -> list[dict[str, Any]]:
    given = front.get("composes_with_reflections", [])
    if not isinstance(given, list):
        raise RefusedError("composes_with_reflections is no list")
    found = []
    for entry in given:
        if not isinstance(entry, dict) or not isinstance(entry.get("namespace"), str) or not entry["namespace"]:
            raise RefusedError("an entry of composes_with_reflections has no namespace")
        depth = entry.get("min_depth")
        depth = 0 if depth is None else depth
        if type(depth) is not int or not 0 <= depth < 2**32:
            raise RefusedError("min_depth is no whole number from 0")
        found.append({"namespace": entry["namespace"], "min_depth": depth})
    return found


def read_folder(folder: Path) -> OriginalSkill:
    """Read a folder with a SKILL.md."""
    below = folder / "resources"
    files = {path.relative_to(below).as_posix(): path.read_bytes() for path in below.rglob("*") if path.is_file()}
    return read((folder / "SKILL.md").read_bytes().decode(), files)


def write_folder(skill: OriginalSkill, folder: Path) -> None:
    """Export a skill as the original does."""
    lines = [f"namespace: {skill.namespace}", f"name: {skill.name}", f"description: {_quoted(skill.description)}"]
    lines += [f"license: {_quoted(skill.license)}"] if skill.license is not None else []
    lines += [f"compatibility: {_quoted(skill.compatibility)}"] if skill.compatibility is not None else []
    lines += ["allowed_tools:", *(f"  - {tool}" for tool in skill.allowed_tools)] if skill.allowed_tools else []
    lines += [f"{key}: {_quoted(value)}" for key, value in sorted(skill.metadata.items()) if isinstance(value, str)]
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\n{}\n---\n\n{}".format("\n".join(lines), skill.body), newline="")
    for path, data in skill.resources.items():
        place = folder / "resources" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)


def _quoted(text: str) -> str:
    is_plain = not set(text) & set(":#\"'\n") and text == text.strip(" ")
    return text if is_plain else '"{}"'.format(text.replace('"', '\\"'))
