"""Skills as resources, by progressive disclosure: the list of skills, then a skill's instructions, then its files.

Rules kept here:
- `skill://NAME` is the skill's SKILL.md, `skill://NAME/` lists its files, one level at a time, and `skill://NAME/PATH`
  is one of them; `cortex://context` is the context that the active skills declare;
- `skill_folder.resources` decides what may be read: nothing outside the folder, no link, no hidden file;
- a source file can be read only while it is the version that runs; reading runs nothing.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping
from urllib.parse import quote, unquote

import mcp_types as types

from cortex_skills.errors import CortexError
from cortex_skills.runtime.skill import Skill
from cortex_skills.safe_io.display import shown_name
from cortex_skills.skill_folder.resources import media_type
from cortex_skills.skill_folder.snapshot import MANIFEST, digest_of

CONTEXT = "cortex://context"
_SCHEME = "skill://"
_MAX_URI = 4096
_MARKDOWN, _JSON, _XML = "text/markdown", "application/json", "application/xml"


class ResourceNotFoundError(Exception):
    """There is no resource with that URI."""


def listed(skills: Mapping[str, Skill]) -> list[types.Resource]:
    """The resources of the first level: the skills, and the context."""
    context = types.Resource(
        uri=CONTEXT,
        name="context",
        description="Context for an agent before it starts: the results of the queries that the active skills declare.",
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
    """The templates of the other resources."""
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
        types.ResourceTemplate(
            uri_template="cortex://approvals/{id}",
            name="request for approval",
            description="An action of yours that waits for a person. Subscribe to it to be notified when it ends.",
            mime_type=_JSON,
        ),
    ]


def read(uri: str, skills: Mapping[str, Skill]) -> types.TextResourceContents | types.BlobResourceContents:
    """The resource of a `skill://` URI; reads from the disk.

    Raises:
        ResourceNotFoundError: there is none.
    """
    if len(uri) > _MAX_URI or not uri.startswith(_SCHEME):
        raise ResourceNotFoundError(f"there is no resource {shown_name(uri[:200])}")
    name, slash, rest = uri.removeprefix(_SCHEME).partition("/")
    skill = skills.get(name)
    if skill is None:
        raise ResourceNotFoundError(f"no skill {shown_name(name[:200])} is active")
    path = unquote(rest)
    if not slash or path == MANIFEST:
        return types.TextResourceContents(uri=uri, mime_type=_MARKDOWN, text=instructions(skill))
    if not path or path.endswith("/"):
        return types.TextResourceContents(uri=uri, mime_type=_JSON, text=_level(skill, path))
    return _file(uri, skill, path)


def instructions(skill: Skill) -> str:
    """A skill's SKILL.md as it was loaded: its name, its description and its body."""
    manifest = skill.manifest
    front = {"name": manifest.name, "description": manifest.description}
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in front.items()]
    return "\n".join(["---", *lines, "---", "", manifest.body.lstrip("\n")])


def _level(skill: Skill, folder: str) -> str:
    """The entries of a folder of a skill."""
    files = [resource.path for resource in skill.resources()]
    inside = sorted({_entry(name.removeprefix(folder)) for name in files if name.startswith(folder)})
    if not inside:
        raise ResourceNotFoundError(f"{skill.name} has no folder {shown_name(folder[:200])}")
    entries = [{"name": entry, "uri": f"{_SCHEME}{skill.name}/{quote(folder + entry)}"} for entry in inside]
    return json.dumps({"entries": entries}, ensure_ascii=False)


def _entry(path: str) -> str:
    name, slash, _ = path.partition("/")
    return name + slash


def _file(uri: str, skill: Skill, path: str) -> types.TextResourceContents | types.BlobResourceContents:
    """A file of a skill; a source file only if it is the version that runs."""
    try:
        data = skill.read_resource(path)
    except CortexError as error:
        raise ResourceNotFoundError(f"{skill.name}: {error.message}") from None
    kind = media_type(path)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return types.BlobResourceContents(uri=uri, mime_type=kind, blob=b64encode(data).decode())
    if skill.digests.get(path, digest_of(text)) != digest_of(text):
        raise ResourceNotFoundError(f"{shown_name(path[:200])} of {skill.name} has changed since it was loaded")
    return types.TextResourceContents(uri=uri, mime_type=kind, text=text)
