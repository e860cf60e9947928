"""The settings of the feature: `artifacts`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cortex_skills.config.setting import PRIVATE, READ_ONLY, PathSetting, setting


@dataclass(frozen=True, slots=True)
class ArtifactSettings:
    """Where artifacts are installed, and how they are audited."""

    folder: str = setting(
        "",
        "The folder of installed artifacts; beside that of the store, with .artifacts behind its name, when empty.",
        path=PRIVATE,
        maxLength=4096,
    )
    in_store: bool = setting(
        True,
        "Whether the bytes of artifacts are kept in a store on a server, for all hosts that use it: true or false, "
        "for hosts that share the folder.",
    )
    audit_hours: int = setting(
        6, "How often a server audits what is installed: a number of hours; 0 for never.", minimum=0, maximum=8760
    )
    vulnerability_feed: str = setting(
        "",
        "A file or a folder of known vulnerabilities in the OSV format; none when empty.",
        path=READ_ONLY,
        maxLength=4096,
    )
    storage_bytes: int = setting(
        16 << 20, "How much an artifact may store: a number of bytes.", minimum=0, maximum=1073741824
    )
    channels: Mapping[str, str] = setting(
        {},
        "Where the messages to each channel go, by its name: the absolute path of a folder, an https "
        "address, or artifact:SKILL_ID, which delivers them.",
        path=PathSetting("public", may_be_address=True),
        maxProperties=1000,
        propertyNames={"pattern": "^[a-z0-9._:-]{1,256}$"},
        additionalProperties={
            "type": "string",
            "maxLength": 4096,
            "pattern": r"^(/|~/|[A-Za-z]:\\|https://|http://(127\.0\.0\.1|localhost|\[::1\])[:/]|artifact:[a-z0-9._-]+$)",
        },
    )
    addresses: Mapping[str, str] = setting(
        {},
        "Where granted hosts are reached, by their names: https://HOST:PORT, or http:// on this machine.",
        maxProperties=1000,
        propertyNames={"pattern": "^[a-z0-9.-]{1,253}$"},
        additionalProperties={
            "type": "string",
            "maxLength": 300,
            "pattern": r"^(https://[A-Za-z0-9.-]+|http://(127\.0\.0\.1|localhost|\[::1\]))(:[0-9]{1,5})?$",
        },
    )
    config: Mapping[str, Any] = setting(
        {},
        "The values that artifacts declare in operator.config, by the id of the artifact and their names.",
        maxProperties=1000,
        propertyNames={"pattern": "^[a-z0-9._-]{1,256}$"},
        additionalProperties={
            "description": "The values of one artifact: texts, numbers, true or false, or lists of text.",
            "type": "object",
            "maxProperties": 256,
            "propertyNames": {"pattern": "^[a-z0-9._-]{1,64}$"},
            "additionalProperties": {"type": ["string", "number", "boolean", "array"]},
        },
    )
    serve_index: bool = setting(
        False, "Whether a server offers the artifacts that are active here to others, as an index: true or false."
    )
    builder: bool = setting(False, "Whether skills may be built from learned ones or a prompt: true or false.")
