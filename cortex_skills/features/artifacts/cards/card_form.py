"""The form of a card: `cortex-skill-card/1`; its JSON Schema is made from these types."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, TypeAdapter
from typing_extensions import TypedDict

from cortex_skills.features.artifacts.installed.installed_artifact import Status

_Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
_Number = Annotated[int, Field(ge=0)]


class _Part(TypedDict):
    __pydantic_config__ = ConfigDict(extra="forbid", strict=True)  # type: ignore[misc]


class CardPublisher(_Part):
    """A publisher and its key."""

    name: str
    key: Annotated[str, Field(description="did:key, or the id of the key of an artifact.")]


class CardSignature(_Part):
    """Whether it is signed and trusted here, now."""

    status: Literal["trusted", "none", "refused"]
    message: Annotated[str, Field(description="Why, or how its publisher is trusted.")]
    signed: Annotated[str, Field(description="The time, where the signature covers one.")]


class CardModelSignature(_Part):
    """Whether a skill.oms.sig of OpenSSF model signing is there, and valid here, now."""

    status: Annotated[
        Literal["none", "not_evaluated", "verified", "refused"],
        Field(description="not_evaluated: no keys are configured."),
    ]
    message: Annotated[str, Field(description="Why.")]


class CardTool(_Part):
    """A tool of an artifact."""

    name: Annotated[str, Field(description="Its id.")]
    description: str
    requiresApproval: Annotated[bool, Field(description="Whether a person approves each call.")]


class CardProof(_Part):
    """A kind of proof that it can make."""

    kind: Literal["credential", "pol", "zk"]
    predicates: Annotated[list[str], Field(description="For these predicates; empty for no particular one.")]


class CardFinding(_Part):
    """What the scanner found at one place."""

    rule: str
    severity: Annotated[Literal["critical", "warning"], Field(description="A critical one stops the load.")]
    file: str
    line: _Number
    column: _Number
    evidence: str
    message: str
    hint: Annotated[str, Field(description="What to do.")]


class CardFindings(_Part):
    """What the scanner found in its sources and texts."""

    critical: _Number
    warnings: _Number
    items: Annotated[list[CardFinding], Field(description="The first hundred.")]


class CardInstallation(_Part):
    """How an artifact is installed."""

    status: Status
    reason: str
    grants: Annotated[list[str], Field(description="What the user granted.")]
    installedAt: str
    current: Annotated[bool, Field(description="Whether it is the version that runs.")]
    findings: Annotated[list[str], Field(description="What the last security audit found.")]


class Card(_Part):
    """What a skill is, who signed it, what it may do, and what was found in it."""

    format: Literal["cortex-skill-card/1"]
    source: Annotated[Literal["folder", "artifact", "installed"], Field(description="Where the skill was read.")]
    kind: Literal["semantic", "instructions", "wasm"]
    name: Annotated[str, Field(min_length=1, description="The name of a skill in a folder, or the id of an artifact.")]
    version: Annotated[str, Field(description="Empty for none.")]
    description: str
    license: str | None
    publisher: Annotated[CardPublisher | None, Field(description="Who signed it.")]
    digests: Annotated[
        dict[str, _Sha256],
        Field(min_length=1, description="Of the files of a folder, or of the payload of an artifact."),
    ]
    signature: CardSignature
    modelSignature: CardModelSignature
    permissions: Annotated[list[str], Field(description="Of its manifest, as area:action.")]
    asserts: Annotated[list[str], Field(description="The predicates that it may assert; * for all.")]
    queries: Annotated[list[str], Field(description="The predicates that it states to query.")]
    tools: list[CardTool]
    requests: Annotated[list[str], Field(description="The capabilities that an artifact requests, as kind=value.")]
    proofs: list[CardProof]
    findings: CardFindings
    components: Annotated[list[str], Field(description="In the bill of materials: a package URL, or a name.")]
    installed: CardInstallation | None


def card_schema() -> dict[str, Any]:
    """The JSON Schema of a card."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **TypeAdapter(Card).json_schema()}
