"""Types that the models of the REST API share.

Rules kept here:
- the values of a query string are text, so its integers and booleans are read from their JSON spelling;
- a long list fails with its first wrong item (`fail_fast`), so that a list of mistakes cannot keep the server busy;
  `schemas` lists the others of a small document.
"""

import re
from typing import Annotated, Any, Literal, NotRequired

from pydantic import BeforeValidator, Field
from typing_extensions import TypeAliasType

from cortex_graph.naming.namespace_form import NAMESPACE
from cortex_skills.operations.json_types import WHOLE as WHOLE
from cortex_skills.operations.json_types import ApiModel as ApiModel
from cortex_skills.operations.json_types import ApprovalId as ApprovalId
from cortex_skills.operations.json_types import ArtifactId as ArtifactId
from cortex_skills.operations.json_types import CallId as CallId
from cortex_skills.operations.json_types import Count as Count
from cortex_skills.operations.json_types import MemoryId as MemoryId
from cortex_skills.operations.json_types import ProofId as ProofId
from cortex_skills.operations.json_types import SandboxId as SandboxId
from cortex_skills.operations.json_types import SkillVersionId as SkillVersionId
from cortex_skills.operations.json_types import TripleId as TripleId

_INTEGER = re.compile(r"(-?[0-9]{1,100})(?:\.0{1,15})?", re.ASCII)  # 5.0 is an integer
_BOOLEANS = {"true": True, "false": False}


def _integer(text: str) -> int | str:
    return int(found[1]) if (found := _INTEGER.fullmatch(text)) else text


def _boolean(text: str) -> bool | str:
    return _BOOLEANS.get(text, text)


def has_member(name: str) -> dict[str, Any]:
    """The schema of an object that has an optional member; null is as none."""
    return {"required": [name], "properties": {name: {"not": {"type": "null"}}}}


_Finite = Annotated[float, Field(allow_inf_nan=False)]  # 1e999 is infinite


class NodeValue(ApiModel):
    """A node, by its name."""

    node: Annotated[str, Field(min_length=1, description="The name of the node.")]


class TypedValue(ApiModel):
    """A literal with a datatype."""

    value: Annotated[str, Field(description="The lexical form.")]
    datatype: Annotated[
        str,
        Field(description="An absolute IRI.", pattern=r'^[A-Za-z][A-Za-z0-9+.-]*:[^\u0000-\u0020<>"{}|\\^`]*$'),
    ]


class LanguageValue(ApiModel):
    """A string in a language."""

    value: Annotated[str, Field(description="The lexical form.")]
    language: Annotated[
        str, Field(description="A language tag (BCP 47).", pattern=r"^[a-zA-Z]{1,8}(-[a-zA-Z0-9]{1,8})*$")
    ]
    direction: NotRequired[Annotated[Literal["ltr", "rtl"], Field(description="The base direction.")]]


Value = TypeAliasType(
    "Value",
    Annotated[
        str | bool | int | _Finite | NodeValue | TypedValue | LanguageValue,
        Field(description="An object: a plain value, a node, or a literal with its datatype or language."),
    ],
)
# They follow the limits of an integer, and convert it before those are checked.
FROM_QUERY = BeforeValidator(_integer)
BOOLEAN_FROM_QUERY = BeforeValidator(_boolean)
QueryBoolean = Annotated[bool, BOOLEAN_FROM_QUERY]
Name = Annotated[str, Field(min_length=1, description="A name.")]
Namespace = Annotated[
    str,
    Field(
        max_length=64,
        pattern=rf"^{NAMESPACE}$",
        description="The namespace; by default the one that the token opens.",
    ),
]
Time = Annotated[
    str,
    Field(
        description="When, with a time zone: 2026-01-31T12:00:00Z.",
        pattern=(
            r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"
            r"(\.[0-9]{1,6})?(Z|[+-](0[0-9]|1[0-3]):[0-5][0-9])$"
        ),
    ),
]
Cursor = Annotated[str, Field(max_length=1024, description="The `nextCursor` of the page before.")]
NextCursor = Annotated[str | None, Field(description="The cursor of the next page; null on the last page.")]


class NamespaceQuery(ApiModel, total=False):
    """The namespace."""

    namespace: Namespace


Moment = Annotated[
    str,
    Field(
        pattern=(
            r"^([0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])([Tt]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"
            r"(\.[0-9]{1,9})?([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9]))?"
            r"|now|today|yesterday|[0-9]{1,6} ?(m|min|h|d|w)( ago)?)$"
        ),
        description="A date and time of RFC 3339 with its zone; a date, which is its beginning in UTC; `today`, "
        "`yesterday`; or `24h`, `7d` for so long ago.",
    ),
]
AsOf = Annotated[
    Moment, Field(description="The graph as of this moment: a date and time of RFC 3339, a date, or `24h`.")
]
Undated = Annotated[
    Literal["include", "exclude"],
    Field(description="With `asOf`: whether triples of an unknown time are there; by default they are."),
]


class GraphQuery(NamespaceQuery, total=False):
    """The namespace, or the memories of an agent in it."""

    memoriesOf: Annotated[
        str,
        Field(
            min_length=1,
            max_length=256,
            description="An agent: its memories are the graph. Needs the permission `memories`.",
        ),
    ]


class PastQuery(GraphQuery, total=False):
    """The graph, and as of when."""

    asOf: AsOf
    undated: Undated


class PastAnswer(ApiModel, total=False):
    """As of when an answer is, if it is not of today."""

    asOf: Annotated[str, Field(description="The moment.")]
    undated: Annotated[Count, Field(description="How many of these triples have no known time of assertion.")]


FullName = Annotated[str, Field(description="A full name.")]


class PlainTriple(ApiModel):
    """A triple."""

    subject: Name
    predicate: Name
    object: Value


class TripleProvenance(ApiModel):
    """Who asserted a triple, with which skill, and when; null for what is not known."""

    agent: str | None
    skill: str | None
    skillVersion: str | None
    time: str | None


class StoredTriple(ApiModel):
    """A triple, as it is stored."""

    id: TripleId
    subject: FullName
    predicate: FullName
    object: Value
    provenance: NotRequired[TripleProvenance | None]
    created_at: NotRequired[Annotated[str, Field(description="When it was asserted.")]]
    withdrawn: NotRequired[Annotated[TripleProvenance, Field(description="Who withdrew it, and when.")]]
