r"""Parses the text of a SKILL.md into a `Manifest`, without input or output.

Rules kept here:
- the first line is `---`, and the frontmatter ends at the next line that is `---`; it has at most 64 KiB;
- the body is kept as written, has at most 1 MiB and contains no NUL;
- the semantic block is in the frontmatter, or it is the whole companion file named by
  `metadata: {semantic: semantic.yaml}`; the companion also has at most 64 KiB, and `type: semantic` is then optional;
- the fields of agentskills.io are text: an unquoted `1.0` or `no` is read as that text, and a list or mapping in
  `license`, `compatibility`, `allowed-tools` and `metadata` as JSON, with a warning; `metadata` without a
  value is empty, as the reference validator reads it;
- the description is held without the white space around it, which YAML adds to a folded text;
- a word that YAML readers read differently (`no`, a date) is text outside the semantic block;
- frontmatter without a semantic block is a plain agentskills.io skill;
- `skillVersion` may be `1` or `1.2`, quoted or not; it is completed with a warning;
- all problems are reported together, and only `ManifestError` is raised.

>>> parse_manifest("---\nname: hello\ndescription: Says hello.\n---\nSay hello.\n").body
'Say hello.\n'
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from cortex_skills.manifest.model import (
    Dependency,
    EnrichmentField,
    Manifest,
    ManifestAssertion,
    ManifestError,
    Permissions,
    Query,
    Semantic,
    default_tools,
)
from cortex_skills.manifest.rules import check_rules, nested_values, warnings_of
from cortex_skills.manifest.skill_names import normalized
from cortex_skills.manifest.versions import completed
from cortex_skills.safe_io.schemas import LocatedDocument, Mark, Path, Problem, check

FILE_NAME = "SKILL.md"
MAX_FRONTMATTER_BYTES = 64 << 10
MAX_BODY_BYTES = 1 << 20

_SEMANTIC_PATH: Path = ("semantic",)
_VERSION_PATH: Path = ("semantic", "skillVersion")
_TEXTS = frozenset({("name",), ("description",), ("license",), ("compatibility",), ("allowed-tools",)})
_FRONTMATTER = re.compile(r"\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)


def parse_manifest(text: str, folder_name: str | None = None, companion: str | None = None) -> Manifest:
    """Parse a SKILL.md.

    Args:
        text: the whole file.
        folder_name: the name of its folder, which must equal the skill's name; None without a folder.
        companion: the text of the file that `metadata.semantic` names, if any.

    Raises:
        ManifestError: with all problems.
    """
    front = read_frontmatter(text)
    block = None
    if front.companion_name is not None and companion is not None:
        block = read_companion(companion, front.companion_name)
    return build(front, block, folder_name)


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """A SKILL.md split into its frontmatter, as a document, and its body."""

    document: LocatedDocument
    body: str = ""

    @property
    def companion_name(self) -> str | None:
        """The value of `metadata.semantic`; None when it is absent or not text."""
        data = self.document.data
        metadata = data.get("metadata") if isinstance(data, dict) else None
        name = metadata.get("semantic") if isinstance(metadata, dict) else None
        return name if isinstance(name, str) else None


def read_frontmatter(text: str) -> Frontmatter:
    """Split a SKILL.md; its problems are in the document."""
    if fault := _text_fault(text):
        return Frontmatter(unreadable(fault))
    # A match that reaches the end of the slice is too long in any case, so the rest of the text is not needed.
    match = _FRONTMATTER.match(text[: MAX_FRONTMATTER_BYTES + 64])
    if match is None and not text.removeprefix("\ufeff").startswith("---"):
        return Frontmatter(unreadable("does not begin with frontmatter", "make --- the first line"))
    if match is None and len(text) <= MAX_FRONTMATTER_BYTES:
        return Frontmatter(unreadable("has frontmatter without an end", "close it with a line that is ---"))
    if match is None or len(match[1].encode("utf-8")) > MAX_FRONTMATTER_BYTES:
        hint = "move text into the body; or close the frontmatter with a line that is ---"
        return Frontmatter(unreadable("has more than 64 KiB of frontmatter", hint))
    document, body = _read_yaml(match[1], FILE_NAME, first_line=2, is_text=_is_text), text[match.end() :]
    if isinstance(document.data, dict) and document.data.get("metadata", {}) in (None, ""):
        document = replace(document, data={**document.data, "metadata": {}})
    if len(body.encode("utf-8")) > MAX_BODY_BYTES:
        problem = Problem(("body",), "has more than 1 MiB", "move parts of it to other files", Mark(FILE_NAME))
        document = replace(document, problems=(*document.problems, problem))
    return Frontmatter(document, body)


def frontmatter_of(text: str) -> str:
    """The YAML between the `---` lines; empty when there is none."""
    match = _FRONTMATTER.match(text[: MAX_FRONTMATTER_BYTES + 64])
    return match[1] if match is not None else ""


def read_companion(text: str, name: str) -> LocatedDocument:
    """Read the companion file `name` into a document at the path `semantic`."""
    fault = _text_fault(text)
    if not fault and len(text.encode("utf-8")) > MAX_FRONTMATTER_BYTES:
        fault = "has more than 64 KiB"
    if fault:
        return unreadable(fault, file=name, path=_SEMANTIC_PATH)
    return _read_yaml(text.removeprefix("\ufeff"), name, path=_SEMANTIC_PATH, is_text=_is_text)


def unreadable(message: str, hint: str = "", *, file: str = FILE_NAME, path: Path = ()) -> LocatedDocument:
    """The document of a file that cannot be read."""
    return LocatedDocument(None, problems=(Problem(path, message, hint, Mark(file)),))


def build(front: Frontmatter, block: LocatedDocument | None, folder_name: str | None, place: str = "") -> Manifest:
    """Check all rules and create the manifest.

    Args:
        front: the SKILL.md.
        block: the companion file, if any.
        folder_name: the name of the skill's folder, if any.
        place: the path of that folder, for the message of the error.

    Raises:
        ManifestError: with all problems.
    """
    given = _with_normal_name(front.document if front.companion_name is None else _joined(front, block))
    document = _with_texts(given)
    problems = [*check("skill", document), *check_rules(document, folder_name)]
    data = document.data
    if problems:
        name = data.get("name") if isinstance(data, dict) else None
        raise ManifestError(problems, folder_name or (name if isinstance(name, str) else ""), place)
    return Manifest(
        name=data["name"],
        description=data["description"].strip(),
        license=data.get("license"),
        compatibility=data.get("compatibility"),
        metadata=MappingProxyType(data.get("metadata", {})),
        allowed_tools_text=" ".join(tools) if isinstance(tools := data.get("allowed-tools"), list) else tools,
        semantic=_semantic(data["semantic"]) if "semantic" in data else None,
        body=front.body,
        warnings=tuple(warnings_of(given, folder_name)),
    )


def _with_normal_name(document: LocatedDocument) -> LocatedDocument:
    name = document.data.get("name") if isinstance(document.data, dict) else None
    if not isinstance(name, str) or name.isascii():
        return document
    return replace(document, data={**document.data, "name": normalized(name)})


def _with_texts(document: LocatedDocument) -> LocatedDocument:
    """The document with JSON in place of the lists and mappings where text is expected, which existing skills have."""
    data = document.data
    for path in nested_values(document):
        data = _with_text(data, path)
    return replace(document, data=data)


def _with_text(data: Any, path: Path) -> Any:
    if not path:
        return json.dumps(data, ensure_ascii=False)
    if isinstance(data, list):
        return [_with_text(each, path[1:]) if place == path[0] else each for place, each in enumerate(data)]
    return {**data, path[0]: _with_text(data[path[0]], path[1:])}


def _joined(front: Frontmatter, block: LocatedDocument | None) -> LocatedDocument:
    """The frontmatter with the companion's block inserted at `semantic`."""
    document = front.document
    if "semantic" in document.data:
        hint = "keep the block in one of the two places"
        problem = document.problem(_SEMANTIC_PATH, "is given here, and metadata.semantic names a file for it", hint)
        return replace(document, problems=(*document.problems, problem))
    if block is None:
        block = unreadable("was not given, though metadata.semantic names its file", path=_SEMANTIC_PATH)
    return LocatedDocument(
        {"type": "semantic", **document.data, "semantic": block.data},
        {**block.marks, **document.marks},
        {**block.texts, **document.texts},
        (*document.problems, *block.problems),
    )


def _read_yaml(
    text: str, file: str, *, first_line: int = 1, path: Path = (), is_text: Callable[[Path], bool] = lambda _: False
) -> LocatedDocument:
    from cortex_skills.safe_io.strict_yaml import read

    return read(text, file=file, first_line=first_line, at=path, is_text=is_text, is_foreign=_is_foreign)


def _is_text(path: Path) -> bool:
    """Whether only text is allowed at this path of the frontmatter."""
    return path == _VERSION_PATH or path[:1] in _TEXTS or (len(path) > 1 and path[0] == "metadata")


def _is_foreign(path: Path) -> bool:
    """Whether the value at this path of the frontmatter has no meaning here."""
    return bool(path) and path[0] not in ("semantic", "type")


def _text_fault(text: str) -> str:
    """The reason why `text` is not a text file; empty when it is one."""
    if "\0" in text:
        return "contains a NUL character, as a binary file does"
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return "contains text that is not valid Unicode"
    return ""


def _semantic(block: dict[str, Any]) -> Semantic:
    """The semantic block, which the schema has accepted, with defaults."""
    granted = block.get("permissions", {})
    return Semantic(
        version=int(block.get("version", 1)),
        permissions=Permissions(**{area: frozenset(actions) for area, actions in granted.items()}),
        assertions=tuple(
            ManifestAssertion(entry["predicate"], entry.get("requireProof", False))
            for entry in block.get("assertions", [])
        ),
        queries=tuple(Query(entry["predicate"], entry.get("scope", "agent")) for entry in block.get("queries", [])),
        allowed_tools=tuple(block.get("allowedTools", [])) or default_tools(),
        max_queries=int(block["maxQueries"]) if "maxQueries" in block else None,
        skill_version=completed(block.get("skillVersion", "0.0.0")),
        dependencies=tuple(Dependency(entry["slug"], entry["version"]) for entry in block.get("dependencies", [])),
        fields=tuple(
            EnrichmentField(name, tuple(field.get("enum", ())))
            for name, field in block.get("enrichment", {}).get("fields", {}).items()
        ),
        states_tools=bool(block.get("allowedTools")),
    )
