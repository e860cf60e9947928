"""The form of the manifest of an action: its JSON Schema is made of these types; `manifest` has the other rules."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

from cortex_skills.policy.trust_levels import Risk, TrustLevel

Cost = Literal["free", "cheap", "expensive"]
FieldType = Literal["string", "integer", "number", "boolean", "array", "object"]


class _Part(TypedDict):
    __pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[misc]


class _Field(_Part):
    """A field: its type, and whether it is required."""

    type: Annotated[
        FieldType,
        Field(description="string, integer, number, boolean, array or object."),
    ]
    required: NotRequired[Annotated[bool, Field(description="Whether it must be there: true or false.")]]
    description: NotRequired[Annotated[str, Field(max_length=1024, description="For a model.")]]
    schema: NotRequired[
        Annotated[
            dict[str, Any],
            Field(description="Further keywords of JSON Schema, such as maxLength, items or properties."),
        ]
    ]


class _Limits(_Part, total=False):
    """How often it runs, for how long, and how much it answers."""

    perMinute: Annotated[int, Field(ge=1, le=10_000, description="Calls in a minute: 1 to 10000.")]
    timeoutMs: Annotated[
        int, Field(ge=1, le=3_600_000, description="How long a call may take, in milliseconds: 1 to 3600000.")
    ]
    maxBytes: Annotated[
        int, Field(ge=64, le=64 << 20, description="How long its outputs may be, in bytes of JSON: 64 to 67108864.")
    ]


_NAMES = {"propertyNames": {"pattern": "^[A-Za-z][A-Za-z0-9_]{0,63}$"}}
_Fields = Annotated[
    dict[str, _Field], Field(max_length=50, description="The fields by name.", json_schema_extra=_NAMES)
]
_Folder = Annotated[str, Field(min_length=1, max_length=1024, description="A folder.")]
_Command = Annotated[str, Field(min_length=1, max_length=256, description="A command.")]


class ManifestForm(_Part):
    """What an action takes, answers and may do."""

    id: Annotated[
        str,
        Field(
            pattern="^[a-z][a-z0-9_]{0,63}$",
            description="How callers name it: a small letter, then up to 63 small letters, digits and _.",
        ),
    ]
    name: Annotated[str, Field(min_length=1, max_length=128, description="For a person: 1 to 128 characters.")]
    description: Annotated[str, Field(min_length=1, max_length=1024, description="For a model: 1 to 1024 characters.")]
    category: Annotated[
        Literal["fs", "memory", "agent", "shell", "network"],
        Field(description="What it reaches: fs, memory, agent, shell or network."),
    ]
    inputs: _Fields
    outputs: _Fields
    risk: Annotated[Risk, Field(description="What it can harm: low, medium or high.")]
    cost: Annotated[Cost, Field(description="What a call costs: free, cheap or expensive.")]
    minTrustLevel: Annotated[
        TrustLevel,
        Field(description="The lowest trust level: observe, suggest, supervised_auto or bounded_auto."),
    ]
    requiresApproval: NotRequired[
        Annotated[bool, Field(description="Whether a person approves each call, at every trust level: true or false.")]
    ]
    allowedDirectories: NotRequired[
        Annotated[
            list[_Folder],
            Field(
                max_length=100,
                description="The folders of the workspace that its inputs with the format workspace-path may name: "
                "a list of text.",
            ),
        ]
    ]
    commandWhitelist: NotRequired[
        Annotated[
            list[_Command],
            Field(
                min_length=1,
                max_length=100,
                description="What its inputs with the format command may be: a list of text.",
            ),
        ]
    ]
    limits: NotRequired[_Limits]
