"""The models of installed artifacts."""

from typing import Annotated, Literal

from pydantic import Field

from cortex_skills.doors.rest.model_types import ApiModel, Count, NamespaceQuery, QueryBoolean
from cortex_skills.features.artifacts.installed.installed_artifact import MAX_REASON

ArtifactStatus = Literal["active", "quarantined", "disabled"]
_Version = Annotated[str, Field(min_length=5, max_length=256, description="Which version.")]


class InstalledVersion(ApiModel):
    """One installed version of an artifact."""

    skillId: str
    version: str
    payloadSha256: str
    publisher: str
    keyId: Annotated[str, Field(description="Of the publisher's key.")]
    fileSha256: str
    status: Annotated[ArtifactStatus, Field(description="Only an active version runs.")]
    reason: Annotated[str, Field(description="Why it has this status; empty for none.")]
    requests: Annotated[list[str], Field(description="What its manifest requests, as kind=value.")]
    grants: Annotated[list[str], Field(description="What the user granted, as kind=value.")]
    installedAt: str
    current: Annotated[bool, Field(description="Whether it runs where no version is named.")]
    experimental: Annotated[bool, Field(description="Whether a builder made it.")]
    findings: Annotated[list[str], Field(description="What the last security audit found against it.")]
    accepted: Annotated[list[str], Field(description="The findings that a person accepted.")]
    trust: Annotated[str, Field(description="How its publisher was trusted.")]
    source: Annotated[str, Field(description="The address of the index that it came from; empty for a file.")]


class InstalledList(ApiModel):
    """What is installed, sorted by id."""

    artifacts: list[InstalledVersion]
    damaged: Annotated[list[str], Field(description="Artifacts whose record was changed in the store.")]
    count: Annotated[Count, Field(description="How many are listed.")]


class InstalledOne(ApiModel):
    """All versions of one artifact."""

    skillId: str
    versions: list[InstalledVersion]


class InstalledQuery(NamespaceQuery, total=False):
    """Which versions."""

    publisher: Annotated[str, Field(min_length=1, max_length=256)]
    status: ArtifactStatus
    currentOnly: QueryBoolean


class QuarantineRequest(ApiModel):
    """Which version, and why."""

    version: _Version
    reason: Annotated[str, Field(min_length=1, max_length=MAX_REASON, pattern=r"\S")]


class _EnableOptions(ApiModel, total=False):
    override: Annotated[bool, Field(description="true for a quarantined version, with a reason.")]
    reason: Annotated[str, Field(max_length=MAX_REASON)]


class EnableRequest(_EnableOptions):
    """Which version."""

    version: _Version
