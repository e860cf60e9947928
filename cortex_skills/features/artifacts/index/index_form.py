"""The form of a page of an index, whose JSON Schema is made from these types."""

from __future__ import annotations

from typing import Annotated, Any, NotRequired, Required

from pydantic import ConfigDict, Field
from typing_extensions import TypedDict


class _Part(TypedDict):
    __pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[misc]


_FormVersion = Annotated[int, Field(ge=2, le=2)]
_Time = Annotated[int, Field(ge=0, le=9007199254740991)]
_Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
_Id = Annotated[str, Field(max_length=256, pattern=r"^[a-z0-9_-]+(\.[a-z0-9_-]+)*$")]
_Word = Annotated[str, Field(pattern="^[a-z0-9._-]{1,64}$")]
_Words = Annotated[list[Annotated[_Word, Field(description="A word of a-z, 0-9, dot, _ and -.")]], Field(max_length=32)]


class _Page(_Part):
    """A page."""

    sha256: Annotated[_Sha256, Field(description="The SHA-256 of its file: 64 digits of 0-9 and a-f.")]
    bytes: Annotated[int, Field(ge=1, le=2097152, description="Its size in bytes: at most 2 MiB.")]


class _Entry(_Part):
    """An artifact."""

    skill_id: Annotated[_Id, Field(description="The id of the skill: the publisher, a dot, and a name.")]
    version: Annotated[str, Field(min_length=5, max_length=256, description="The version: semver.")]
    publisher: Annotated[_Id, Field(description="The publisher of the artifact.")]
    key_id: Annotated[
        str, Field(pattern="^ed25519:[0-9a-f]{16}$", description="The id of the key that signed the artifact.")
    ]
    payload_sha256: Annotated[_Sha256, Field(description="The hash of its payload: 64 digits of 0-9 and a-f.")]
    artifact: Annotated[
        str,
        Field(
            max_length=1024,
            pattern="^[A-Za-z0-9_+-][A-Za-z0-9._+-]*(/[A-Za-z0-9_+-][A-Za-z0-9._+-]*)*$",
            description="The address of its file, relative to the first page: segments of A-Z, a-z, 0-9, dot, _, +, -.",
        ),
    ]
    artifact_sha256: Annotated[_Sha256, Field(description="The SHA-256 of its file: 64 digits of 0-9 and a-f.")]
    artifact_bytes: Annotated[
        int, Field(ge=1, le=67108864, description="The size of its file in bytes: at most 64 MiB.")
    ]
    summary: Annotated[str, Field(max_length=512, description="One line: at most 512 characters.")]
    categories: Annotated[_Words, Field(description="Its categories.")]
    capabilities: Annotated[_Words, Field(description="What it requests.")]
    yanked: Annotated[bool, Field(description="Whether it is withdrawn: true or false.")]


class _Index(_Part, total=False):
    """What is signed."""

    schema_version: Required[Annotated[_FormVersion, Field(description="The version of this format: 2.")]]
    snapshot: Required[
        Annotated[
            int,
            Field(
                ge=1,
                le=9007199254740991,
                description="The number of the snapshot, which rises with each change: from 1.",
            ),
        ]
    ]
    publisher: Annotated[
        str,
        Field(
            pattern="^[a-z0-9][a-z0-9._-]{0,63}$", description="Who signs the index: 1 to 64 of a-z, 0-9, dot, _ and -."
        ),
    ]
    generated_at_unix_ms: Annotated[_Time, Field(description="When it was made, in milliseconds since 1970.")]
    expires_at_unix_ms: Annotated[_Time, Field(description="When it expires, in milliseconds since 1970.")]
    pages: Annotated[
        list[_Page],
        Field(
            max_length=19,
            description="The other pages of this snapshot, each in the file pages/ and its hash and .json.",
        ),
    ]
    entries: Required[
        Annotated[list[_Entry], Field(max_length=10000, description="The artifacts: at most 10,000 in all pages.")]
    ]


class IndexDocument(_Part):
    """The first page is signed and names the others, which have a snapshot number and entries only."""

    schema_version: Annotated[_FormVersion, Field(description="The version of this format: 2.")]
    index: _Index
    signature: NotRequired[
        Annotated[dict[str, Any], Field(description="The signature of the first page, in the form of signature.json.")]
    ]
