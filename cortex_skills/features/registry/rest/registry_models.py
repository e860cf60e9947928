"""The models of registered skills, with the members that the clients of skill registries send and read."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field

from cortex_skills.doors.rest.model_types import (
    FROM_QUERY,
    WHOLE,
    ApiModel,
    Count,
    Cursor,
    MemoryId,
    NamespaceQuery,
    NextCursor,
    QueryBoolean,
    SkillVersionId,
)
from cortex_skills.features.registry.composition import MAX_BUDGET
from cortex_skills.features.registry.document import MAX_COMPATIBILITY, MAX_DESCRIPTION, MAX_LIST, MAX_PATH
from cortex_skills.features.registry.skill_finder import MAX_LIMIT, MAX_QUERY

LONGEST_REASON = 1_000
_PART = r"[^\W_A-Z]+(-[^\W_A-Z]+)*"
_Bare = Annotated[
    str,
    Field(max_length=64, pattern=rf"^{_PART}$", description="Lower-case letters, digits, single hyphens."),
]
_SkillName = Annotated[
    str,
    Field(
        max_length=129,
        pattern=rf"^([a-zA-Z][a-zA-Z0-9_-]*/)?{_PART}$",
        description="`NAME`, or `NAMESPACE/NAME` of a skill of another namespace in this registry.",
    ),
]
_Fraction = Annotated[float, Field(ge=0, le=1)]
_State = Literal["candidate", "verified", "released", "degraded", "deprecated", "archived"]
_Origin = Literal["builtin", "human", "learned"]
_Level = Literal["unsigned", "unknown_key", "self_signed", "publisher_signed", "invalid"]
_Text = Annotated[str, Field(min_length=1, max_length=4_096, pattern=r"\S")]
_Expected = Annotated[
    SkillVersionId, Field(description="Register nothing (409) unless this version is the current one of the skill.")
]
_Lines = Annotated[list[_Text], Field(max_length=MAX_LIST)]


class NamedSkillQuery(NamespaceQuery):
    """A skill."""

    name: _SkillName


class SkillListQuery(NamespaceQuery, total=False):
    """Which skills."""

    origin: Annotated[Literal["builtin", "human", "learned", "llm"], Field(description="`llm` is `learned`.")]
    lifecycle: _State
    limit: Annotated[int, Field(ge=1, le=1000, description="50 by default."), FROM_QUERY]


class FindSkillsQuery(NamespaceQuery):
    """What a skill should do."""

    query: Annotated[str, Field(min_length=1, max_length=MAX_QUERY, pattern=r"\S", description="In any words.")]
    limit: NotRequired[Annotated[int, Field(ge=1, le=MAX_LIMIT, description="10 by default."), FROM_QUERY]]
    candidates: NotRequired[Annotated[QueryBoolean, Field(description="Candidates too; false by default.")]]


class RegistryPageQuery(NamespaceQuery, total=False):
    """Which skills of a page."""

    filter: Annotated[str, Field(max_length=256, description="Words; each is in the name or in the description.")]
    skillNamespace: Annotated[str, Field(max_length=64, description="The namespace of the skill itself.")]
    lifecycle: _State
    limit: Annotated[int, Field(ge=1, le=1000, description="100 by default."), FROM_QUERY]
    cursor: Cursor


class SkillFileQuery(NamespaceQuery):
    """A file of a skill."""

    path: Annotated[str, Field(min_length=1, max_length=MAX_PATH, description="Relative to the folder of the skill.")]


class SkillToDelete(NamespaceQuery, total=False):
    """A skill."""

    name: _SkillName


class SkillsToDelete(ApiModel):
    """Skills."""

    names: Annotated[list[_SkillName], Field(min_length=1, max_length=1000)]


class ReflectionToPromote(ApiModel):
    """The skill that a reflection becomes."""

    name: _Bare
    description: Annotated[str, Field(min_length=1, max_length=MAX_DESCRIPTION, pattern=r"\S")]
    parameters_schema: NotRequired[
        Annotated[dict[str, Any], Field(max_length=1000, description="What it needs to know, as a JSON Schema.")]
    ]


class CompositionBudget(ApiModel, total=False):
    """How much is composed."""

    budget_tokens: Annotated[
        int, Field(ge=0, le=MAX_BUDGET, description="For the reflections; 4,000 by default."), WHOLE
    ]


class PromotedReflection(ApiModel):
    """The skill that was made of the reflection."""

    promoted: Literal[True]
    skill_id: SkillVersionId
    namespace: str
    name: str
    digest: str
    signed: bool
    derived_from_reflection_id: MemoryId
    original_reflection_depth: Annotated[int, Field(ge=1, le=3)]
    sources_attached: Count


class ComposedNamespace(ApiModel):
    """A namespace whose reflections the skill declares."""

    namespace: str
    min_depth: Count
    max_reflection_depth: Count
    problem: Annotated[str | None, Field(description="Why it was not read.")]


class ComposedEntry(ApiModel):
    """A reflection that fits."""

    id: MemoryId
    namespace: str
    content: str
    created_at: str
    access_count: Count
    reflection_depth: Annotated[int, Field(ge=1, le=3)]
    memory_kind: Literal["reflection"]
    score: Annotated[float, Field(ge=0, le=2)]


class ComposedSkill(ApiModel):
    """A version with the reflections that it composes with."""

    skill_id: SkillVersionId
    skill_namespace: str
    skill_name: str
    body: str
    compositional_namespaces: list[ComposedNamespace]
    reflections: list[ComposedEntry]
    budget_tokens: Count
    tokens_used: Annotated[Count, Field(description="Estimated.")]
    memories_dropped: Annotated[Count, Field(description="How many did not fit.")]


class SkillToPromote(ApiModel):
    """A skill."""

    name: _SkillName
    unmeasured: NotRequired[
        Annotated[bool, Field(description="Verify a learned skill that a person has checked, without a measured gain.")]
    ]


class ProcedureStep(ApiModel):
    """A step of a procedure."""

    action: _Text
    tool: NotRequired[Annotated[_Text | None, Field(description="The tool that does it.")]]
    description: NotRequired[Annotated[str, Field(max_length=4_096, description="More about it.")]]
    step: NotRequired[Annotated[int, Field(description="Not read: the order of the list counts."), WHOLE]]
    params: NotRequired[Annotated[dict[str, Any], Field(description="Not kept.", max_length=100)]]


class ProceduralSkill(ApiModel):
    """A skill to register; members that are not given stay as they are."""

    name: _Bare
    description: NotRequired[
        Annotated[str, Field(max_length=MAX_DESCRIPTION, description="By default the first line of the content.")]
    ]
    triggerPattern: NotRequired[
        Annotated[_Text | None, Field(description="What a request that it serves looks like; null removes it.")]
    ]
    content: NotRequired[Annotated[str, Field(max_length=1 << 20, description="Markdown.")]]
    steps: NotRequired[Annotated[list[ProcedureStep], Field(max_length=MAX_LIST)]]
    metadata: NotRequired[Annotated[dict[str, Any], Field(max_length=1000)]]
    license: NotRequired[Annotated[_Text | None, Field(description="null removes it.")]]
    compatibility: NotRequired[
        Annotated[Annotated[_Text, Field(max_length=MAX_COMPATIBILITY)] | None, Field(description="null removes it.")]
    ]
    allowedTools: NotRequired[_Lines]
    dependsOn: NotRequired[Annotated[list[_Bare], Field(max_length=MAX_LIST)]]
    conflictsWith: NotRequired[Annotated[list[_Bare], Field(max_length=MAX_LIST)]]
    expectedVersion: NotRequired[_Expected]


class SkillsToMerge(ApiModel):
    """Two skills."""

    target: _SkillName
    source: Annotated[_SkillName, Field(description="Archived; its steps, body and counters go to the target.")]


class DeprecatedSkill(ApiModel):
    """A skill, and why it is taken out of use."""

    name: _SkillName
    reason: NotRequired[Annotated[str, Field(min_length=1, max_length=LONGEST_REASON, pattern=r"\S")]]


class TrustedSkill(ApiModel):
    """A skill, and its trust tier."""

    name: _SkillName
    tier: Annotated[int, Field(ge=1, le=4), WHOLE]


class SkillToExport(ApiModel):
    """A skill; its registered document is exported, and the other members are not read."""

    name: _SkillName
    description: NotRequired[str]
    triggerPattern: NotRequired[str]
    content: NotRequired[str]


class SkillToRegister(ApiModel, total=False):
    """One of the first two."""

    inline_skill: Annotated[str, Field(min_length=1, max_length=2 << 20, description="The text of a `SKILL.md`.")]
    folder_path: Annotated[
        str, Field(min_length=1, max_length=MAX_PATH, description="A folder below `registry.importRoot`.")
    ]
    expected_version: _Expected
    accept_changed: Annotated[
        bool,
        Field(
            description="Register a folder that was changed after its export, as another document without a signature."
        ),
    ]


class ExportTarget(ApiModel, total=False):
    """Where to."""

    target_folder: Annotated[
        str, Field(max_length=MAX_PATH, description="Below `registry.exportRoot`; by default that folder itself.")
    ]


class LearnedInView(ApiModel):
    """The session that a version was learned in."""

    session: Annotated[str, Field(description="An id; it opens no session.")]
    agent: Annotated[str, Field(description="Whose calls they were.")]
    time: str


class VersionView(ApiModel):
    """A version."""

    id: SkillVersionId
    version: Annotated[int, Field(ge=1)]
    created: str
    digest: Annotated[str, Field(description="Of everything in the document, in hexadecimal.")]
    compatDigest: Annotated[str, Field(description="That of other registries.")]
    attest: Annotated[_Level, Field(description="How far its signature is trusted.")]
    publicKey: str | None
    signature: str | None
    previous: SkillVersionId | None
    learnedIn: LearnedInView | None


class CurrentOutcomesView(ApiModel):
    """The outcomes of the current version that decide about it: those of the host, and one of each other agent."""

    invocations: Count
    successes: Count
    agents: Annotated[Count, Field(description="How many of them are of agents that loaded it.")]


class ReportsView(ApiModel):
    """How many agents have reported on a skill, and for how many of them it worked; it decides nothing."""

    agents: Count
    working: Count


class QualityView(ApiModel):
    """The counters of a skill; its outcomes are measured ones."""

    invocations: Count
    successes: Count
    current: CurrentOutcomesView
    reports: ReportsView
    successRate: _Fraction
    successInterval: Annotated[list[float], Field(description="95 %, Wilson.")]
    utility: _Fraction
    freshness: _Fraction
    loads: Count
    tokenCost: Annotated[float, Field(ge=0, description="What a load costs, in tokens.")]
    lastUsedAt: str | None


class HealthView(ApiModel):
    """The health of a skill."""

    overall: _Fraction
    utility: _Fraction
    redundancy: _Fraction
    freshness: _Fraction
    risk: _Fraction


class RegisteredSkillView(ApiModel):
    """A registered skill."""

    id: Annotated[SkillVersionId, Field(description="The id of the current version.")]
    namespace: str
    name: str
    description: str
    kind: Literal["instructions", "procedure", "semantic"]
    origin: _Origin
    lifecycle: _State
    trustTier: Annotated[int, Field(ge=1, le=4)]
    reason: Annotated[str | None, Field(description="Why it is deprecated, degraded or archived.")]
    created: str
    current: VersionView
    quality: QualityView
    health: Annotated[HealthView | None, Field(description="Of one skill; null in lists.")]
    dependsOn: list[str]
    conflictsWith: list[str]
    derivedFrom: list[str]
    mergedInto: str | None
    trigger_pattern: str | None
    metadata: dict[str, Any]


class StepView(ApiModel):
    """A step."""

    action: str
    tool: str | None
    details: str


class FileView(ApiModel):
    """A file of a skill."""

    path: str
    kind: Literal["script", "reference", "asset", "code", "resource"]
    size: Count
    sha256: str
    executable: Annotated[bool, Field(description="Whether it can be started as a program.")]


class SkillDetail(RegisteredSkillView):
    """A registered skill with its document."""

    license: str | None
    compatibility: str | None
    allowedTools: list[str]
    steps: list[StepView]
    content: str
    resources: list[FileView]


class VersionDetail(VersionView):
    """A version with its document."""

    namespace: str
    name: str
    description: str
    license: str | None
    compatibility: str | None
    allowed_tools: list[str]
    metadata: dict[str, Any]
    trigger_pattern: str | None
    steps: list[StepView]
    body: str
    resources: list[FileView]


class RegistryPage(ApiModel):
    """A page of skills."""

    skills: list[RegisteredSkillView]
    count: Annotated[Count, Field(description="On this page.")]
    nextCursor: NextCursor


class RegisteredVersion(ApiModel):
    """What the skill is registered as."""

    registered: Literal[True]
    created: Annotated[bool, Field(description="Whether it is a new version.")]
    id: SkillVersionId
    namespace: str
    name: str
    version: Annotated[int, Field(ge=1)]
    digest: str
    compat_digest: str
    signed: bool
    attest: _Level
    superseded_id: Annotated[SkillVersionId | None, Field(description="The version before.")]
    warnings: Annotated[list[str], Field(description="What was left out.")]


class StoredSkill(ApiModel):
    """The id of the version."""

    ok: Literal[True]
    id: SkillVersionId
    created: Annotated[bool, Field(description="Whether it is a new version.")]


class ChangedSkill(ApiModel):
    """The skill after the change."""

    ok: Literal[True]
    skill: RegisteredSkillView


class DeletedSkills(ApiModel):
    """What was deleted, and what was not and why."""

    ok: bool
    deleted: Count
    errors: list[str]


class SkillStats(ApiModel):
    """The numbers of skills, and means over all of them."""

    total: Count
    human: Count
    llm: Annotated[Count, Field(description="Learned ones.")]
    builtin: Count
    activeSkills: Annotated[Count, Field(description="Neither deprecated nor archived.")]
    deprecatedSkills: Count
    avgSuccessRate: _Fraction
    avgUtilityScore: _Fraction
    avgFreshness: _Fraction


class SkillEdges(ApiModel):
    """The skills that it needs, and those that need it."""

    name: str
    dependents: list[str]
    dependencies: list[str]


class SkillHealth(HealthView):
    """The health of a skill."""

    name: str


class FoundBy(ApiModel):
    """How a skill was found."""

    score: Annotated[float, Field(description="What it is ranked by.")]
    coverage: Annotated[float, Field(description="The weight of the query's words that it has, 0 to 1.")]
    similarity: Annotated[float, Field(description="Of its meaning to the query; 0 without an embedder.")]
    by: Literal["meaning", "words", "weak"]


class FoundSkillView(RegisteredSkillView):
    """A skill that was found."""

    found: FoundBy


class FoundSkillsView(ApiModel):
    """The skills that match a query, the best first."""

    skills: list[FoundSkillView]
    problem: Annotated[
        str | None,
        Field(description="Which skills were not found by meaning, although that is configured, and why."),
    ]


class MaintainedSkills(ApiModel):
    """The skills whose state was changed."""

    changed: list[RegisteredSkillView]


class LoadedFolders(ApiModel):
    """What became of the skills in the configured folders."""

    ok: Annotated[bool, Field(description="Whether all of them are registered.")]
    loaded: Annotated[Count, Field(description="How many are registered, new or not.")]
    errors: list[str]
    warnings: Annotated[list[str], Field(description="What was left out of a skill, and folders that are not read.")]


class ExportedSkill(ApiModel):
    """The folder of the exported skill, relative to `registry.exportRoot`."""

    ok: Literal[True]
    exported: Literal[True]
    path: str
    id: SkillVersionId
    version: Annotated[int, Field(ge=1)]
    digest: str


class SkillResourceView(ApiModel):
    """A file of a skill; its content is verified."""

    skill_id: SkillVersionId
    path: str
    kind: Literal["script", "reference", "asset", "code", "resource"]
    size: Count
    sha256: str
    encoding: Annotated[Literal["utf-8", "base64"], Field(description="Of the content: base64 if it is no text.")]
    content: str
