"""The models of memories, with the members that the clients of Cortex send and read."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field

from cortex_skills.doors.rest.model_types import WHOLE, ApiModel, Count, MemoryId, NamespaceQuery, QueryBoolean
from cortex_skills.features.memory.requests import (
    MAX_LIMIT,
    MAX_QUERY,
    MAX_SOURCES,
    MAX_TAG,
    MAX_TAGS,
    MAX_TEXT,
    VISIBLE,
)

LONGEST_TYPE = MAX_TAG - len("type:")

_EntryType = Annotated[
    str, Field(min_length=1, max_length=LONGEST_TYPE, pattern=f"^{VISIBLE}+$", description="One word: `fact`.")
]
_Tags = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=MAX_TAG, pattern=VISIBLE)]],
    Field(max_length=MAX_TAGS - 1, description="Words to find it by."),
]
_Data = Annotated[str, Field(pattern=VISIBLE)] | bool | int | float | list[Any] | dict[str, Any] | None
_Fraction = Annotated[float, Field(ge=0, le=1)]


class MemoriesQuery(NamespaceQuery, total=False):
    """Whose memories."""

    memoriesOf: Annotated[
        str,
        Field(
            min_length=1,
            max_length=256,
            description="An agent; by default the holder of the token. Another needs the permission `memories`.",
        ),
    ]


class RecallQuery(MemoriesQuery, total=False):
    """Whose memories, and in which form."""

    withProblem: Annotated[
        QueryBoolean,
        Field(description="Answer `{memories, problem}`; by default the list that the clients of Cortex read."),
    ]


class NewEntry(ApiModel):
    """A memory to remember."""

    entry_type: _EntryType
    data: Annotated[
        _Data, Field(description="A text, or a JSON value that is stored as its text; at most 512 characters.")
    ]
    tags: NotRequired[_Tags]
    importance: NotRequired[Annotated[_Fraction, Field(description="0.7 by default.")]]


class RememberedEntry(ApiModel):
    """The memory that has the text now."""

    id: MemoryId
    created: Annotated[bool, Field(description="Whether it was not remembered before.")]


class NewReflection(ApiModel):
    """A conclusion to remember, and what it follows from."""

    text: Annotated[str, Field(min_length=1, max_length=MAX_TEXT, pattern=VISIBLE)]
    reflects_on: Annotated[
        list[MemoryId], Field(min_length=1, max_length=MAX_SOURCES, description="The ids of memories of the agent.")
    ]
    tags: NotRequired[_Tags]
    importance: NotRequired[Annotated[_Fraction, Field(description="0.5 by default.")]]


class ReflectedEntry(RememberedEntry):
    """The reflection that has the text now."""

    depth: Annotated[int, Field(ge=1, le=3, description="How far it is from what was observed.")]
    reflects_on: list[MemoryId]


class EntryQuery(ApiModel, total=False):
    """Which memories; without a text the latest."""

    text: Annotated[str, Field(max_length=MAX_QUERY, description="Words to find.")]
    tags: Annotated[_Tags, Field(description="One of these tags.")]
    entry_type: _EntryType
    min_importance: Annotated[_Fraction, Field(description="0 by default.")]
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT, description="10 by default."), WHOLE]


class RecalledEntry(ApiModel):
    """A memory that was found."""

    id: MemoryId
    entry_type: Annotated[str, Field(description="`memory` for one that was not remembered through this API.")]
    data: Any
    tags: list[str]
    importance: _Fraction
    relevance: Annotated[_Fraction, Field(description="By words, meaning, importance and age; 1 without a text.")]
    coverage: NotRequired[
        Annotated[_Fraction, Field(description="The weight of the query's words that it has; absent without a text.")]
    ]
    similarity: NotRequired[Annotated[_Fraction, Field(description="Of its meaning; where there is an embedder.")]]
    source: Literal["LongTerm"]
    created_at: Annotated[str, Field(description="When it was remembered (RFC 3339).")]
    last_accessed: Annotated[str, Field(description="The same as `created_at`: the audit has the recalls.")]
    access_count: Annotated[Literal[0], Field(description="The audit has the recalls.")]
    writtenBy: Annotated[list[str], Field(description="The agents that wrote it, other than its owner.")]


class RecalledEntries(ApiModel):
    """The memories that were found, and what kept others from being found."""

    memories: list[RecalledEntry]
    problem: Annotated[str | None, Field(description="Which were not found by meaning, although that is configured.")]


class MemoryCounts(ApiModel):
    """The memories of the agent; each is kept from the beginning, and there are no links between them."""

    stm_count: Literal[0]
    stm_capacity: Literal[0]
    ltm_entity_count: Annotated[Count, Field(description="How many memories there are.")]
    ltm_link_count: Literal[0]
    total_memory_bytes: Annotated[Count, Field(description="The length of their texts, in UTF-8.")]


class Consolidation(ApiModel):
    """Nothing had to be done: every memory is kept from the beginning."""

    consolidated: Literal[0]
