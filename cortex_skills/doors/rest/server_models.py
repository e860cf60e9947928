"""The models of errors, of the server's state, and of skills."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field

from cortex_graph.naming.namespace_form import NAMESPACE
from cortex_skills.doors.rest.model_types import WHOLE, ApiModel, Count, PastAnswer, SandboxId


class ErrorBody(ApiModel):
    """What went wrong."""

    error: Annotated[str, Field(description="What happened, and to what.")]
    code: Annotated[str, Field(description="A stable code.")]
    hint: NotRequired[Annotated[str, Field(description="What to do next.")]]
    details: NotRequired[Annotated[dict[str, Any], Field(description="Facts for a program.")]]
    requestId: Annotated[str, Field(description="The id of the request, as in the server's log.")]


class ApiIndex(ApiModel):
    """The name and the version of the server, and where to go on."""

    name: str
    version: str
    links: dict[str, str]


class ComponentHealth(ApiModel):
    """The state of a component."""

    status: Literal["healthy", "degraded", "unavailable"]
    message: NotRequired[str]


class HealthComponents(ApiModel):
    """The components."""

    graph: ComponentHealth
    logic: ComponentHealth


class HealthReport(ApiModel):
    """Whether the server and its store answer."""

    status: Literal["healthy", "degraded"]
    components: HealthComponents


class GraphCounts(PastAnswer):
    """What a namespace holds."""

    triple_count: Count
    subject_count: Count
    predicate_count: Count
    object_count: Count
    exact: Annotated[bool, Field(description="Whether the numbers are exact; else they are lower bounds.")]


class ServerState(ApiModel):
    """The server."""

    version: str
    uptime_seconds: Count
    connected_clients: Annotated[int, Field(ge=1, description="Requests under way, this one included.")]


class NamespaceStats(ApiModel):
    """Numbers of a namespace and of the server."""

    graph: GraphCounts
    server: ServerState
    namespace: Annotated[str, Field(description="The namespace that was counted.")]


class NamespaceList(ApiModel):
    """The namespaces that are not empty and that the token opens."""

    namespaces: list[str]
    baseIri: Annotated[str, Field(description="The beginning of the IRI of every name.")]
    vocabularies: Annotated[dict[str, str], Field(description="The beginning of the IRI by prefix.")]
    memories: NotRequired[
        Annotated[
            dict[str, list[str]],
            Field(description="The agents with memories by namespace, for a token with the permission `memories`."),
        ]
    ]


class FailureReason(ApiModel):
    """Why a skill failed or was refused."""

    code: str
    message: str
    hint: str


class FailedCall(ApiModel):
    """Calls of a host function by the code of a skill, such as `graphClient.createTriple`, that failed alike."""

    function: str
    code: Annotated[str, Field(description="A stable code.")]
    count: Count
    message: Annotated[str, Field(description="Of the last one.")]


class LoadedSkill(ApiModel):
    """An active skill, and what it has used."""

    name: str
    version: str
    signed: Annotated[bool, Field(description="Whether a trusted key signed it.")]
    hooks: list[str]
    fault: Annotated[FailureReason | None, Field(description="Why its code runs no more.")]
    degraded: Annotated[FailureReason | None, Field(description="Why its `onActivate` failed.")]
    refused: Annotated[list[FailedCall], Field(description="Also those that its code handles.")]
    queriesUsed: Count
    assertionsUsed: Count
    writesUsed: Count
    shapes: Annotated[str | None, Field(description="The digest of its SHACL shapes.")]


class RefusedSkill(ApiModel):
    """A skill, or a new version of one, that is not active."""

    name: str
    answering: Annotated[str | None, Field(description="The version that stays active.")]
    at: Annotated[str, Field(description="When it was refused (RFC 3339).")]
    error: FailureReason


class SkillList(ApiModel):
    """The skills of a namespace."""

    namespace: str
    skills: list[LoadedSkill]
    rejected: list[RefusedSkill]


class ManifestToValidate(ApiModel):
    """A SKILL.md."""

    manifest: Annotated[str, Field(max_length=1 << 20, description="The text of the file.")]
    name: NotRequired[Annotated[str, Field(max_length=256, description="The name of its folder.")]]
    semantic: NotRequired[Annotated[str, Field(max_length=131_072, description="The text of the companion file.")]]


class DeclaredAssertion(ApiModel):
    """A predicate that may be asserted."""

    predicate: Annotated[str, Field(description="A name.")]
    requireProof: NotRequired[Annotated[bool, Field(description="Whether an assertion needs a proof.")]]
    require_proof: NotRequired[Annotated[bool, Field(description="The same, as some clients spell it.")]]


_NamespacePart = Annotated[
    str,
    Field(
        max_length=256,
        pattern=rf"^{NAMESPACE}(:[a-zA-Z0-9._@-]+)*$",
        description="A namespace, or the beginning of names in it: `mayros:skill:verify-kyc`.",
    ),
]


class DeclarationsToValidate(ApiModel):
    """What a manifest declares."""

    namespace: _NamespacePart
    assertions: Annotated[list[DeclaredAssertion], Field(max_length=1_000, fail_fast=True)]


SkillToValidate = ManifestToValidate | DeclarationsToValidate


class ManifestProblem(ApiModel):
    """One problem of a manifest."""

    field: str
    message: str
    hint: str
    file: str
    line: int | None


class ManifestReport(ApiModel):
    """What is wrong with a manifest."""

    valid: Annotated[bool, Field(description="Whether there is no problem.")]
    errors: list[str]
    problems: list[ManifestProblem]


_Lifetime = Annotated[int, Field(ge=1, le=86_400, description="In seconds; 300 by default."), WHOLE]


class NewSandbox(ApiModel):
    """Where, and for how long."""

    namespace: _NamespacePart
    ttl_seconds: NotRequired[_Lifetime]


class CreatedSandbox(ApiModel):
    """A sandbox."""

    id: SandboxId
    namespace: Annotated[str, Field(description="The beginning of the names in it.")]


class DeletedSandbox(ApiModel):
    """What was deleted."""

    deleted: Annotated[bool, Field(description="Whether the sandbox existed.")]
    namespace: NotRequired[str]
    triples_removed: NotRequired[Count]
    error: NotRequired[str]
