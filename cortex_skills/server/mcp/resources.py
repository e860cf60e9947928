"""Skills as resources, by progressive disclosure: what there is, then a skill's instructions, then a file of it.

Rules kept here:
- `skill://NAME` is the skill's SKILL.md, `skill://NAME/` lists its files, one level at a time, and `skill://NAME/PATH`
  is one of them; `cortex://context` is what the active skills want an agent to know;
- a path is a key, not a way: only a file that the loader read has one, and it is shown only as it was read then;
- nothing of a file's content is run, and nothing beyond the folder is opened.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from urllib.parse import quote, unquote

import mcp_types as types

from cortex_skills.escaping import shown_name
from cortex_skills.reading import MANIFEST, digest_of
from cortex_skills.scanner.source import SOURCE_LIMIT
from cortex_skills.skill import Skill

CONTEXT = "cortex://context"
_SCHEME = "skill://"
_MAX_URI = 4096
_MARKDOWN, _JSON, _XML, _TEXT = "text/markdown", "application/json", "application/xml", "text/plain"
_KINDS = {".ts": "text/typescript", ".js": "text/javascript", ".mjs": "text/javascript", ".json": _JSON}
_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


class NotThereError(Exception):
    """There is no resource of that name."""


def listed(skills: Mapping[str, Skill]) -> list[types.Resource]:
    """The resources of the first level: the skills, and what they want an agent to know."""
    context = types.Resource(
        uri=CONTEXT,
        name="context",
        description="What the active skills want an agent to know before it starts: their declared queries, answered.",
        mime_type=_XML,
    )
    return [
        *(
            types.Resource(
                uri=f"{_SCHEME}{name}", name=name, description=skill.manifest.description, mime_type=_MARKDOWN
            )
            for name, skill in sorted(skills.items())
        ),
        context,
    ]


def templates() -> list[types.ResourceTemplate]:
    """What else there is to read."""
    return [
        types.ResourceTemplate(
            uri_template=_SCHEME + "{name}/",
            name="files of a skill",
            description="Its files and folders, one level; skill://NAME/FOLDER/ for those of a folder.",
            mime_type=_JSON,
        ),
        types.ResourceTemplate(
            uri_template=_SCHEME + "{name}/{+path}", name="file of a skill", description="A file, as it was loaded."
        ),
    ]


def read(uri: str, skills: Mapping[str, Skill]) -> types.TextResourceContents:
    """What a URI of a skill names; reads from the disk.

    Raises:
        NotThereError: it names nothing.

    """
    if len(uri) > _MAX_URI or not uri.startswith(_SCHEME):
        raise NotThereError(f"there is no resource {shown_name(uri[:200])}")
    name, slash, rest = uri.removeprefix(_SCHEME).partition("/")
    skill = skills.get(name)
    if skill is None:
        raise NotThereError(f"no skill {shown_name(name[:200])} is active")
    path = unquote(rest, errors="strict") if rest.isascii() else rest
    if not slash or path == MANIFEST:
        return types.TextResourceContents(uri=uri, mime_type=_MARKDOWN, text=instructions(skill))
    if not path or path.endswith("/"):
        return types.TextResourceContents(uri=uri, mime_type=_JSON, text=_level(skill, path))
    kind = _KINDS.get(os.path.splitext(path)[1].lower(), _TEXT)  # noqa: PTH122 - it is a key, not a path
    return types.TextResourceContents(uri=uri, mime_type=kind, text=_file(skill, path))


def instructions(skill: Skill) -> str:
    """A skill's SKILL.md as it was loaded: what it is called and for, and its body."""
    manifest = skill.manifest
    front = {"name": manifest.name, "description": manifest.description}
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in front.items()]
    return "\n".join(["---", *lines, "---", "", manifest.body.lstrip("\n")])


def _level(skill: Skill, folder: str) -> str:
    """What lies directly in a folder of a skill."""
    files = [MANIFEST, *skill.digests]
    inside = sorted({_entry(name.removeprefix(folder)) for name in files if name.startswith(folder)})
    if not inside:
        raise NotThereError(f"{skill.name} has no folder {shown_name(folder[:200])}")
    entries = [{"name": entry, "uri": f"{_SCHEME}{skill.name}/{quote(folder + entry)}"} for entry in inside]
    return json.dumps({"entries": entries}, ensure_ascii=False)


def _entry(path: str) -> str:
    name, slash, _ = path.partition("/")
    return name + slash


def _file(skill: Skill, path: str) -> str:
    digest = skill.digests.get(path)
    if digest is None:
        raise NotThereError(f"{skill.name} has no file {shown_name(path[:200])}")
    text = _text(skill, path)
    if text is None or digest_of(text) != digest:
        raise NotThereError(f"{shown_name(path[:200])} of {skill.name} is not on the disk as it was loaded")
    return text


def _text(skill: Skill, path: str) -> str | None:
    """The text of a regular file; None when it is none, is too large or is no text."""
    try:
        descriptor = os.open(skill.folder / path, _FLAGS)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return None
            data = file.read(SOURCE_LIMIT + 1)
        return None if len(data) > SOURCE_LIMIT else data.decode("utf-8-sig")
    except (OSError, ValueError):
        return None
