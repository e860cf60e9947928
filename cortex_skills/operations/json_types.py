"""Types of JSON values that operations and interfaces share.

Rules kept here:
- a model is a `TypedDict`: a checked document stays the plain dict that was sent;
- a member that a model does not name is an error, and no value is converted: `"5"` is no integer, `1` is no boolean.
"""

from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field
from typing_extensions import TypeAliasType, TypedDict


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


class ApiModel(TypedDict):
    """The base of all models."""

    __pydantic_config__ = ConfigDict(extra="forbid", strict=True)  # type: ignore[misc]


WHOLE = BeforeValidator(_whole)
"""Takes 1.0 as an integer (JSON Schema Core §4.2.3); it follows the limits, and converts before they are checked."""
Count = Annotated[int, Field(ge=0)]
_DIGEST = r"^[0-9a-f]{64}$"
TripleId = TypeAliasType(
    "TripleId", Annotated[str, Field(pattern=_DIGEST, description="SHA-256 of the canonical N-Quads line.")]
)
ProofId = TypeAliasType(
    "ProofId", Annotated[str, Field(pattern=_DIGEST, description="SHA-256 of the canonical JSON of a proof.")]
)
SandboxId = TypeAliasType(
    "SandboxId", Annotated[str, Field(pattern=r"^sandbox-[0-9a-f]{32}$", description="The id of a sandbox.")]
)
ApprovalId = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$", description="The id of a request for approval.")]
ArtifactId = Annotated[
    str,
    Field(pattern=r"^[a-z0-9_-]+(\.[a-z0-9_-]+)*$", max_length=256, description="The id of an artifact."),
]
CallId = Annotated[
    str,
    Field(
        pattern=r"^[0-9a-f]{8}-[0-9]{1,15}$", description="The id of a call; the server makes others when it starts."
    ),
]
MemoryId = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$", description="The id of a memory.")]
_UUID = r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"
SkillVersionId = TypeAliasType(
    "SkillVersionId", Annotated[str, Field(pattern=_UUID, description="The id of a version of a skill.")]
)
