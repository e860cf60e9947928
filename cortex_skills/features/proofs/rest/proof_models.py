"""The models of proofs, verifications and validations."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError
from typing_extensions import TypeAliasType, TypedDict

from cortex_skills.doors.rest.model_types import (
    FROM_QUERY,
    ApiModel,
    Count,
    Cursor,
    Name,
    NamespaceQuery,
    NextCursor,
    PlainTriple,
    ProofId,
    QueryBoolean,
    StoredTriple,
    TripleId,
    Value,
    has_member,
)
from cortex_skills.features.proofs.dialects.mayros import UnknownType

_Verdict = Literal["verified", "well-formed", "not checked", "refuted"]
_IsValid = Annotated[bool, Field(description="Whether the verdict is `verified` or `well-formed`.")]
_KnownType = Literal["schnorr", "equality", "membership", "range", "pol", "credential"]
_ProofType = Annotated[
    _KnownType,
    Field(description="The scheme of a zero-knowledge proof, a Proof of Logic, or a verifiable credential."),
]
_OfStatement = Annotated[str | None, Field(description="Of the statement that the proof is about.")]


class ProofsQuery(NamespaceQuery, total=False):
    """Which proofs."""

    proof_type: _ProofType
    verified: Annotated[
        QueryBoolean, Field(description="Verify each proof now; list the verified ones, or the others.")
    ]
    limit: Annotated[int, Field(ge=1, le=1_000, description="The largest number of proofs."), FROM_QUERY]
    cursor: Cursor


class VerifyQuery(NamespaceQuery, total=False):
    """What the proof is checked against."""

    nonce: Annotated[str, Field(min_length=1, max_length=256, description="The nonce of a zero-knowledge proof.")]
    replay: Annotated[QueryBoolean, Field(description="Evaluate the rules of a Proof of Logic; true by default.")]


_Rules = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=65_536)]],
    Field(max_length=8, description="The texts of shapes that a Proof of Logic names and the server lacks."),
]


class NewProof(ApiModel):
    """A proof to store."""

    proof_type: _ProofType
    proof_data: Annotated[dict[str, Any], Field(description="The proof itself.")]
    subject: NotRequired[Annotated[Name, Field(description="The subject of the statement of the proof.")]]
    predicate: NotRequired[Annotated[Name, Field(description="The predicate of the statement of the proof.")]]
    rules: NotRequired[_Rules]


_OF_MAYROS = Annotated[
    _KnownType | UnknownType,
    Field(description="The type of the proof; clients of Mayros also send types that are not known here."),
]


class ProofOrRequest(ApiModel):
    """A proof to store; without `proof_data`, a request for a stored one of a statement."""

    proof_type: _OF_MAYROS
    proof_data: NotRequired[Annotated[dict[str, Any], Field(description="The proof itself.")]]
    subject: NotRequired[Annotated[Name, Field(description="The subject of the statement of the proof.")]]
    predicate: NotRequired[Annotated[Name, Field(description="The predicate of the statement of the proof.")]]
    rules: NotRequired[_Rules]
    metadata: NotRequired[Annotated[dict[str, Any], Field(description="Not kept: a proof names its maker.")]]


class NewProofs(ApiModel):
    """Proofs to store."""

    proofs: Annotated[list[NewProof], Field(min_length=1, max_length=64, description="Stored or refused one by one.")]


class ProofCheck(TypedDict):
    """The result of one check."""

    part: Annotated[str, Field(description="What was checked.")]
    verdict: _Verdict
    establishes: Annotated[str, Field(description="What is true if it is verified.")]
    doesNotEstablish: Annotated[str, Field(description="What does not follow from it.")]
    reasons: Annotated[list[str], Field(description="Why.")]
    proofId: NotRequired[Annotated[str, Field(description="The proof that the check belongs to.")]]
    kind: NotRequired[Annotated[str, Field(description="The kind of that proof.")]]
    tripleHash: NotRequired[TripleId]


class ListedProof(TypedDict):
    """A proof, without its content."""

    id: ProofId
    proof_type: Annotated[str, Field(description="As in a request; another kind if the namespace holds one.")]
    kind: Annotated[str, Field(description="pol, zk or credential.")]
    created_at: Annotated[str, Field(description="When it was made, or submitted.")]
    status: Annotated[_Verdict, Field(description="The result of verifying it for this answer.")]
    verified: Annotated[bool, Field(description="Whether it was verified for this answer, with success.")]
    verified_at: Annotated[str | None, Field(description="When; null if it was not checked.")]
    subject: _OfStatement
    predicate: _OfStatement
    proves: Annotated[list[TripleId], Field(description="The triples that it proves.")]
    premises: Annotated[list[TripleId], Field(description="The triples that it depends on.")]
    rests_on_graph: Annotated[bool, Field(description="Whether it depends on more triples than could be listed.")]
    size_bytes: Annotated[Count, Field(description="The size of its content.")]


class FullProof(ListedProof):
    """A proof. It was not verified for this answer: its status is `not checked`."""

    proof_data: Annotated[dict[str, Any], Field(description="The proof itself.")]


class SubmittedProof(ListedProof):
    """A stored proof, and the result of verifying it."""

    proof_id: ProofId
    submitted_at: Annotated[str, Field(description="When it was submitted.")]
    created: Annotated[bool, Field(description="Whether this request created it.")]
    checks: list[ProofCheck]


class AnsweredProof(TypedDict):
    """A proof that was stored before, or the reason why there is none: then its status is `failed`."""

    id: NotRequired[ProofId]
    proof_id: NotRequired[ProofId]
    proof_type: str
    kind: NotRequired[str]
    created_at: Annotated[str, Field(description="When the proof was made, or when this was answered.")]
    submitted_at: NotRequired[str]
    status: Literal[_Verdict, "failed"]
    verified: bool
    verified_at: str | None
    subject: _OfStatement
    predicate: _OfStatement
    proves: NotRequired[list[TripleId]]
    premises: NotRequired[list[TripleId]]
    rests_on_graph: NotRequired[bool]
    size_bytes: Count
    created: Literal[False]
    checks: list[ProofCheck]
    reason: NotRequired[Annotated[str, Field(description="Why there is no proof, and what to do.")]]
    code: NotRequired[Annotated[str, Field(description="A stable code.")]]


class RefusedProof(TypedDict):
    """A proof that is not stored."""

    index: Annotated[Count, Field(description="Its position in the request.")]
    error: str
    code: Annotated[str, Field(description="A stable code.")]


class SubmittedProofs(TypedDict):
    """The result for each proof."""

    successful_count: Count
    failed_count: Count
    successful: Annotated[list[ProofId], Field(description="In the order of the request.")]
    failed: list[RefusedProof]


class ProofPage(TypedDict):
    """A page of proofs."""

    count: Annotated[Count, Field(description="How many are on this page.")]
    proofs: list[ListedProof]
    nextCursor: NextCursor


class DeletedProof(TypedDict):
    """The proof is deleted."""

    proof_id: ProofId
    deleted: Literal[True]


class ProofStats(TypedDict):
    """Numbers of proofs, and of verifications since the server started."""

    total_proofs: Count
    proofs_by_type: dict[str, Count]
    total_verifications: Count
    successful_verifications: Annotated[Count, Field(description="With the verdict `verified`.")]
    failed_verifications: Annotated[Count, Field(description="With the verdict `refuted`.")]
    unevaluated_verifications: Annotated[Count, Field(description="With the verdict `not checked`.")]
    cache_hits: Annotated[Count, Field(description="Always 0: verdicts are not cached.")]
    cache_misses: Annotated[Count, Field(description="Always 0.")]
    cache_hit_rate: Annotated[float, Field(description="Always 0.")]
    total_size_bytes: Count
    exact: Annotated[bool, Field(description="Whether the numbers are exact; else they are lower bounds.")]


class ProofVerification(TypedDict):
    """The result of verifying a proof."""

    proof_id: Annotated[str, Field(description="As in the request.")]
    proof_type: str | None
    valid: _IsValid
    verdict: _Verdict
    verified_at: str
    verification_time_us: Annotated[Count, Field(description="In microseconds.")]
    details: Annotated[list[str], Field(description="The checks as text.")]
    checks: list[ProofCheck]
    code: NotRequired[Annotated[str, Field(description="`proof_not_found` if there is no such proof.")]]


_AnyId = Annotated[str, Field(min_length=1, max_length=256)]


class ProofIds(ApiModel):
    """Proofs to verify."""

    proof_ids: Annotated[list[_AnyId], Field(min_length=1, max_length=64, description="The ids of the proofs.")]


class BriefVerification(TypedDict):
    """The result for one proof, in short."""

    id: str
    verified: bool


class ProofVerifications(TypedDict):
    """The results, in the order of the request."""

    total: Count
    valid_count: Count
    invalid_count: Annotated[Count, Field(description="The sum of `refuted_count` and `not_evaluated_count`.")]
    refuted_count: Count
    well_formed_count: Count
    not_evaluated_count: Annotated[Count, Field(description="With the verdict `not checked`.")]
    verifications: list[ProofVerification]
    results: list[BriefVerification]


_RuleSet = Annotated[str, Field(max_length=300, description="`core` or `namespace:NS`; all rule sets by default.")]
_Statements = Annotated[list[PlainTriple], Field(min_length=1, max_length=64, description="In the graph or not.")]


class StatementsToValidate(ApiModel):
    """Statements to check against the rules: `triples`, or `statements`, as some clients name them."""

    triples: NotRequired[_Statements]
    statements: NotRequired[_Statements]
    rule_set: NotRequired[_RuleSet]


def _one_list(given: StatementsToValidate) -> StatementsToValidate:
    if ("triples" in given) == ("statements" in given):
        raise PydanticCustomError("one_list", "needs either `triples` or `statements`")
    return given


_ONE_LIST = {"oneOf": [has_member("triples"), has_member("statements")]}
ToValidate = TypeAliasType(
    "ToValidate",
    Annotated[
        StatementsToValidate,
        AfterValidator(_one_list),
        Field(description="Statements to check.", json_schema_extra=_ONE_LIST),
    ],
)


class RuleMessage(TypedDict):
    """A finding of a rule."""

    level: Literal["error", "warning", "info"]
    message: str
    rule: Annotated[str | None, Field(description="The rule set and the rule.")]


class ValidatedStatement(TypedDict):
    """The result for one statement."""

    triple: StoredTriple
    valid: bool
    verdict: _Verdict
    messages: list[RuleMessage]


class RuleValidation(TypedDict):
    """The result of evaluating the rules."""

    valid: _IsValid
    verdict: _Verdict
    results: Annotated[list[ValidatedStatement], Field(description="In the order of the request.")]
    messages: Annotated[list[RuleMessage], Field(description="Those of all statements.")]
    proof_hash: Annotated[
        str | None,
        Field(
            description="Of the statements, if all are valid: the id of a stored proof of the only one with the same "
            "result, else the SHA-256 of the ids of the triples, joined by line feeds; it states no verdict."
        ),
    ]


class HashToVerify(ApiModel):
    """The hash of a validation, or the id of a proof, and the statements that it is of."""

    proof_hash: Annotated[str, Field(min_length=1, max_length=256)]
    statements: NotRequired[_Statements]


class HashDetails(TypedDict):
    """What was verified."""

    proof_hash: str
    steps_verified: Annotated[Count, Field(description="The checks of a proof, or rule sets, with success.")]
    statements_covered: Count
    verified_at: str


class VerifiedHash(TypedDict):
    """Whether the proof is valid, or the statements have this hash and obey the rules now."""

    valid: _IsValid
    verdict: _Verdict
    details: HashDetails
    reason: NotRequired[str]


class AssertionToVerify(ApiModel):
    """The statements of a subject and a predicate."""

    subject: Name
    predicate: Name
    object: NotRequired[Value]


class AssertionsToVerify(ApiModel):
    """Assertions to verify; up to ten statements of each are checked."""

    assertions: Annotated[list[AssertionToVerify], Field(min_length=1, max_length=64)]


class VerifiedAssertion(TypedDict):
    """The result for one assertion."""

    subject: str
    predicate: str
    verified: Annotated[bool, Field(description="Whether it is in the graph, and all of its proofs are verified.")]
    verdict: _Verdict
    found: Annotated[bool | None, Field(description="Whether it is in the graph; null if that was not looked up.")]
    checks: list[ProofCheck]
    details: list[str]


class VerifiedAssertions(TypedDict):
    """The results, in the order of the request."""

    results: list[VerifiedAssertion]
