r"""SKILL.md text → `Manifest`, without any input or output.

Rules kept here:
- the first line is `---`, and the frontmatter ends at the next line that is `---`; it has at most 64 KiB;
- the body is kept as it was written, and holds no NUL;
- the semantic block stands in the frontmatter, or, word for word, as the whole of the companion file that
  `metadata: {semantic: semantic.yaml}` names; the companion has at most 64 KiB too, `type: semantic` may then
  be left out, and both forms mean the same;
- the fields of agentskills.io are text: a plain `1.0` or `no` there is what is written;
- a frontmatter without either is a plain agentskills.io skill;
- all problems are reported together, and nothing but `ManifestError` is raised.

>>> parse_manifest("---\nname: hello\ndescription: Says hello.\n---\nSay hello.\n").body
'Say hello.\n'
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from cortex_skills.manifest.errors import ManifestError
from cortex_skills.manifest.model import (
    DEFAULT_TOOLS,
    Assertion,
    Dependency,
    Manifest,
    Permissions,
    Query,
    Semantic,
)
from cortex_skills.manifest.rules import check_rules
from cortex_skills.schemas import Document, Mark, Path, Problem, check

FILE_NAME = "SKILL.md"
MAX_FRONTMATTER_BYTES = 64 << 10

_SEMANTIC_PATH: Path = ("semantic",)
_TEXTS = frozenset({"name", "description", "license", "compatibility", "allowed-tools"})
_FRONTMATTER = re.compile(r"\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)


def parse_manifest(text: str, folder_name: str | None = None, companion: str | None = None) -> Manifest:
    """Read a SKILL.md.

    Args:
        text: the whole file.
        folder_name: the name of its folder, which has to be the skill's; None where there is no folder.
        companion: the text of the file that `metadata.semantic` names, if it names one.

    Raises:
        ManifestError: with everything that is wrong.

    """
    front = read_frontmatter(text)
    block = None
    if front.companion_name is not None and companion is not None:
        block = read_companion(companion, front.companion_name)
    return build(front, block, folder_name)


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """A SKILL.md taken apart: the frontmatter as a document, and the body."""

    document: Document
    body: str = ""

    @property
    def companion_name(self) -> str | None:
        """What `metadata.semantic` says; None when it says nothing, or no text."""
        data = self.document.data
        metadata = data.get("metadata") if isinstance(data, dict) else None
        name = metadata.get("semantic") if isinstance(metadata, dict) else None
        return name if isinstance(name, str) else None


def read_frontmatter(text: str) -> Frontmatter:
    """Take a SKILL.md apart; what is wrong with it is in the document's problems."""
    if fault := _text_fault(text):
        return Frontmatter(unreadable(fault))
    # A match that reaches the end of the slice is too long in any case, so what is cut off does not matter.
    match = _FRONTMATTER.match(text[: MAX_FRONTMATTER_BYTES + 64])
    if match is None and not text.removeprefix("\ufeff").startswith("---"):
        return Frontmatter(unreadable("does not begin with frontmatter", "let the first line be ---"))
    if match is None and len(text) <= MAX_FRONTMATTER_BYTES:
        return Frontmatter(unreadable("has frontmatter without an end", "close it with a line that is ---"))
    if match is None or len(match[1].encode("utf-8")) > MAX_FRONTMATTER_BYTES:
        hint = "move text into the body; or close the frontmatter with a line that is ---"
        return Frontmatter(unreadable("has more than 64 KiB of frontmatter", hint))
    return Frontmatter(_read_yaml(match[1], FILE_NAME, first_line=2, is_text=_is_text), text[match.end() :])


def frontmatter_of(text: str) -> str:
    """The YAML between the lines of ---; empty when there is none."""
    match = _FRONTMATTER.match(text[: MAX_FRONTMATTER_BYTES + 64])
    return match[1] if match is not None else ""


def read_companion(text: str, name: str) -> Document:
    """Read the companion file `name`; the document stands at `semantic`."""
    fault = _text_fault(text)
    if not fault and len(text.encode("utf-8")) > MAX_FRONTMATTER_BYTES:
        fault = "has more than 64 KiB"
    if fault:
        return unreadable(fault, file=name, path=_SEMANTIC_PATH)
    return _read_yaml(text.removeprefix("\ufeff"), name, path=_SEMANTIC_PATH)


def unreadable(message: str, hint: str = "", *, file: str = FILE_NAME, path: Path = ()) -> Document:
    """The document of a file that could not be read at all."""
    return Document(None, problems=(Problem(path, message, hint, Mark(file)),))


def build(front: Frontmatter, block: Document | None, folder_name: str | None) -> Manifest:
    """Check everything and make the manifest.

    Args:
        front: the SKILL.md.
        block: the companion file, if there is one.
        folder_name: the name of the skill's folder, if there is one.

    Raises:
        ManifestError: with everything that is wrong.

    """
    document = front.document if front.companion_name is None else _joined(front, block)
    problems = [*check("skill", document), *check_rules(document, folder_name)]
    data = document.data
    if problems:
        name = data.get("name") if isinstance(data, dict) else None
        raise ManifestError(problems, skill=folder_name or (name if isinstance(name, str) else ""))
    return Manifest(
        name=data["name"],
        description=data["description"],
        license=data.get("license"),
        compatibility=data.get("compatibility"),
        metadata=MappingProxyType(data.get("metadata", {})),
        allowed_tools_text=" ".join(tools) if isinstance(tools := data.get("allowed-tools"), list) else tools,
        semantic=_semantic(data["semantic"]) if "semantic" in data else None,
        body=front.body,
    )


def _joined(front: Frontmatter, block: Document | None) -> Document:
    """The frontmatter with the companion's block put in at `semantic`."""
    document = front.document
    if "semantic" in document.data:
        hint = "keep the block in one of the two places"
        problem = document.problem(_SEMANTIC_PATH, "stands here, and metadata.semantic names a file for it", hint)
        return replace(document, problems=(*document.problems, problem))
    if block is None:
        block = unreadable("was not given, though metadata.semantic names its file", path=_SEMANTIC_PATH)
    return Document(
        {"type": "semantic", **document.data, "semantic": block.data},
        {**block.marks, **document.marks},
        {**block.texts, **document.texts},
        (*document.problems, *block.problems),
    )


def _read_yaml(
    text: str, file: str, *, first_line: int = 1, path: Path = (), is_text: Callable[[Path], bool] = lambda _: False
) -> Document:
    from cortex_skills.safe_yaml import read

    return read(text, file=file, first_line=first_line, at=path, is_text=is_text)


def _is_text(path: Path) -> bool:
    """Whether agentskills.io has text at this path of the frontmatter, and nothing else."""
    return bool(path) and (path[0] in _TEXTS or (len(path) > 1 and path[0] == "metadata"))


def _text_fault(text: str) -> str:
    """Why `text` is no text file; empty when it is one."""
    if "\0" in text:
        return "holds a NUL character, as a binary file does"
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return "holds text that is not valid Unicode"
    return ""


def _semantic(block: dict[str, Any]) -> Semantic:
    """The semantic block, which the schema has accepted, with the defaults filled in."""
    granted = block.get("permissions", {})
    return Semantic(
        version=int(block["version"]),
        permissions=Permissions(**{area: frozenset(actions) for area, actions in granted.items()}),
        assertions=tuple(
            Assertion(entry["predicate"], entry.get("requireProof", False)) for entry in block.get("assertions", [])
        ),
        queries=tuple(Query(entry["predicate"], entry.get("scope", "agent")) for entry in block.get("queries", [])),
        allowed_tools=tuple(block.get("allowedTools", [])) or DEFAULT_TOOLS,
        max_queries=int(block["maxQueries"]) if "maxQueries" in block else None,
        skill_version=block.get("skillVersion", "0.0.0"),
        dependencies=tuple(Dependency(entry["slug"], entry["version"]) for entry in block.get("dependencies", [])),
        states_tools=bool(block.get("allowedTools")),
    )
