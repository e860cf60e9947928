"""Skills as resources, by progressive disclosure: what there is, then a skill's instructions, then a file of it.

Rules kept here:
- `skill://NAME` is the skill's SKILL.md, `skill://NAME/` lists its files, one level at a time, and `skill://NAME/PATH`
  is one of them; `cortex://context` is what the active skills want an agent to know;
- what may be read, and how, is `cortex_skills.resources`': nothing beyond the folder, no link, nothing that is hidden;
- a source file is shown only while it is the one that runs; nothing is run by being read.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping
from urllib.parse import quote, unquote

import mcp_types as types

from cortex_skills.errors import CortexError
from cortex_skills.escaping import shown_name
from cortex_skills.reading import MANIFEST, digest_of
from cortex_skills.resources import media_type
from cortex_skills.skill import Skill

CONTEXT = "cortex://context"
_SCHEME = "skill://"
_MAX_URI = 4096
_MARKDOWN, _JSON, _XML = "text/markdown", "application/json", "application/xml"


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


def read(uri: str, skills: Mapping[str, Skill]) -> types.TextResourceContents | types.BlobResourceContents:
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
    path = unquote(rest)
    if not slash or path == MANIFEST:
        return types.TextResourceContents(uri=uri, mime_type=_MARKDOWN, text=instructions(skill))
    if not path or path.endswith("/"):
        return types.TextResourceContents(uri=uri, mime_type=_JSON, text=_level(skill, path))
    return _file(uri, skill, path)


def instructions(skill: Skill) -> str:
    """A skill's SKILL.md as it was loaded: what it is called and for, and its body."""
    manifest = skill.manifest
    front = {"name": manifest.name, "description": manifest.description}
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in front.items()]
    return "\n".join(["---", *lines, "---", "", manifest.body.lstrip("\n")])


def _level(skill: Skill, folder: str) -> str:
    """What lies directly in a folder of a skill."""
    files = [resource.path for resource in skill.resources()]
    inside = sorted({_entry(name.removeprefix(folder)) for name in files if name.startswith(folder)})
    if not inside:
        raise NotThereError(f"{skill.name} has no folder {shown_name(folder[:200])}")
    entries = [{"name": entry, "uri": f"{_SCHEME}{skill.name}/{quote(folder + entry)}"} for entry in inside]
    return json.dumps({"entries": entries}, ensure_ascii=False)


def _entry(path: str) -> str:
    name, slash, _ = path.partition("/")
    return name + slash


def _file(uri: str, skill: Skill, path: str) -> types.TextResourceContents | types.BlobResourceContents:
    """A file of a skill; a source file only if it is the one that runs."""
    try:
        data = skill.read_resource(path)
    except CortexError as error:
        raise NotThereError(f"{skill.name}: {error.message}") from None
    kind = media_type(path)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return types.BlobResourceContents(uri=uri, mime_type=kind, blob=b64encode(data).decode())
    if skill.digests.get(path, digest_of(text)) != digest_of(text):
        raise NotThereError(f"{shown_name(path[:200])} of {skill.name} is not what was loaded, and is not shown")
    return types.TextResourceContents(uri=uri, mime_type=kind, text=text)
