"""The form of `skill.toml`: its JSON Schema is made from these types; `manifest_rules` has what they cannot state."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, Required

from pydantic import ConfigDict, Field
from typing_extensions import TypedDict


class _Part(TypedDict):
    __pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[misc]


_Id = Annotated[str, Field(max_length=256, pattern=r"^[a-z0-9_-]+(\.[a-z0-9_-]+)*$")]
_Title = Annotated[str, Field(min_length=1, max_length=256, pattern=r"\S")]
_Version = Annotated[str, Field(min_length=5, max_length=256)]
_ToolId = Annotated[str, Field(pattern="^[a-z0-9._:-]{1,256}$")]
_Text = Annotated[str, Field(min_length=1, max_length=4096, pattern=r"\S")]
_Path = Annotated[str, Field(min_length=1, max_length=1024)]
_Folders = Annotated[list[Annotated[_Path, Field(description="A relative folder.")]], Field(max_length=256)]
_Name = Annotated[str, Field(pattern="^[a-z0-9._:*-]{1,256}$")]
_Names = Annotated[
    list[Annotated[_Name, Field(description="A name of a-z, 0-9, dot, _, - and :.")]], Field(max_length=256)
]
_Word = Annotated[str, Field(pattern="^[a-z0-9._-]{1,64}$")]
_Words = Annotated[list[Annotated[_Word, Field(description="A word of a-z, 0-9, dot, _ and -.")]], Field(max_length=32)]
_Number = Annotated[int, Field(ge=1, le=4294967295)]


class _Risk(_Part, total=False):
    """Its risk."""

    default_sensitive: Annotated[bool, Field(description="Whether its data is sensitive: true or false.")]
    requires_approval: Annotated[bool, Field(description="Whether a person approves each call: true or false.")]


class _Tool(_Part):
    """A tool."""

    id: Annotated[_ToolId, Field(description="The publisher, a dot, and a name of a-z, 0-9, dot, _, - and :.")]
    name: Annotated[_Title, Field(description="For a person: 1 to 256 characters.")]
    description: Annotated[_Text, Field(description="For a model: 1 to 4096 characters.")]
    input_schema: Annotated[dict[str, Any], Field(description="The JSON Schema of its input, an object.")]
    output_schema: Annotated[dict[str, Any], Field(description="The JSON Schema of its output, an object.")]
    risk: NotRequired[_Risk]


class _Entrypoints(_Part):
    """What can be called."""

    tools: Annotated[list[_Tool], Field(max_length=64, description="The tools.")]


class _Filesystem(_Part, total=False):
    """The folders that it may use."""

    read_roots: Annotated[_Folders, Field(description="Folders to read, relative.")]
    write_roots: Annotated[_Folders, Field(description="Folders to write, relative.")]


class _Secret(_Part):
    """Secrets of one scope."""

    scope: Annotated[
        str,
        Field(
            pattern="^(global|(principal|channel|skill):[a-z0-9._:-]{1,256})$",
            description="global, or principal:, channel: or skill: and a name.",
        ),
    ]
    key_names: Annotated[
        list[Annotated[_Name, Field(description="A name of a-z, 0-9, dot, _, - and :.")]],
        Field(max_length=256, min_length=1, description="The names of the secrets."),
    ]


class _Graph(_Part, total=False):
    """What it may do in the graph."""

    read: Annotated[bool, Field(description="Whether it may query: true or false.")]
    write: Annotated[bool, Field(description="Whether it may assert: true or false.")]
    predicates: Annotated[
        list[
            Annotated[str, Field(pattern=r"^[^\s<>\x22{}|\\^`]{1,1024}$", description="A predicate: a name or an IRI.")]
        ],
        Field(max_length=256, description="The predicates that it may assert."),
    ]


class _Quotas(_Part, total=False):
    """The limits of one call."""

    wall_clock_timeout_ms: Annotated[
        int, Field(ge=1, le=3600000, description="The longest time, in milliseconds: 1 to 3600000.")
    ]
    fuel_budget: Annotated[int, Field(ge=1, le=9223372036854775807, description="The most instructions: at least 1.")]
    max_memory_bytes: Annotated[
        int, Field(ge=65536, le=4294967296, description="The most memory, in bytes: 65536 to 4294967296.")
    ]


class _WildcardOptIn(_Part, total=False):
    """Where * is allowed."""

    filesystem: Annotated[bool, Field(description="Whether * is allowed here: true or false.")]
    http_egress: Annotated[bool, Field(description="Whether * is allowed here: true or false.")]
    secrets: Annotated[bool, Field(description="Whether * is allowed here: true or false.")]
    device: Annotated[bool, Field(description="Whether * is allowed here: true or false.")]
    node: Annotated[bool, Field(description="Whether * is allowed here: true or false.")]
    graph: Annotated[bool, Field(description="Whether * is allowed here: true or false.")]


class _Capabilities(_Part, total=False):
    """What it may do."""

    filesystem: _Filesystem
    http_egress_allowlist: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=253, description="A host: letters, digits, dots and -.")]],
        Field(max_length=256, description="The hosts that it may reach."),
    ]
    secrets: Annotated[list[_Secret], Field(max_length=256, description="The secrets that it may read.")]
    device_capabilities: Annotated[_Names, Field(description="Capabilities of the device.")]
    node_capabilities: Annotated[_Names, Field(description="Capabilities of the node.")]
    graph: _Graph
    quotas: _Quotas
    wildcard_opt_in: _WildcardOptIn


class _Compat(_Part):
    """The hosts that can run it."""

    required_protocol_major: Annotated[
        int, Field(ge=0, le=4294967295, description="The lowest major version of the protocol.")
    ]
    min_palyra_version: Annotated[_Version, Field(description="The lowest version of the runtime: semver.")]
    max_palyra_version: NotRequired[
        Annotated[_Version, Field(description="The highest version of the runtime: semver.")]
    ]


class _File(_Part):
    """A file."""

    path: Annotated[_Path, Field(description="Its path.")]
    sha256: Annotated[
        str, Field(pattern="^[0-9a-f]{64}$", description="Its SHA-256: 64 lower-case hexadecimal digits.")
    ]


class _Integrity(_Part, total=False):
    """The files, as the build lists them."""

    files: Annotated[list[_File], Field(max_length=256, description="Every entry but skill.toml and signature.json.")]


class _Checklist(_Part):
    """Where a reviewer looks."""

    capability_declaration_path: Annotated[_Path, Field(description="A relative path.")]
    provenance_path: Annotated[_Path, Field(description="A relative path.")]
    test_harness_path: Annotated[_Path, Field(description="A relative path.")]
    review_notes: NotRequired[Annotated[str, Field(max_length=4096, description="Notes.")]]


class _Builder(_Part):
    """What built it, if no person did."""

    experimental: Annotated[bool, Field(description="true: a built skill is experimental.")]
    source_kind: Annotated[_Title, Field(description="The kind of its source.")]
    source_ref: Annotated[str, Field(min_length=1, max_length=1024, pattern=r"\S", description="Its source.")]
    rollout_flag: Annotated[_Title, Field(description="The switch that allowed it.")]
    review_status: NotRequired[Annotated[str, Field(max_length=256, description="The state of its review.")]]
    checklist: _Checklist


class _Contract(_Part):
    """A contract."""

    kind: Annotated[str, Field(pattern="^[a-z_]{1,64}$", description="A word of a-z and _.")]
    version: NotRequired[Annotated[_Number, Field(description="Its version; 1 if it is not given.")]]


class _Plugin(_Part, total=False):
    """How it is run."""

    kind: Annotated[
        Literal["wasm", "semantic"], Field(description="wasm, or semantic for a TypeScript skill in assets/skill.")
    ]
    executable: Annotated[
        list[
            Annotated[
                str, Field(max_length=1024, pattern="^assets/skill/.+$", description="A path below assets/skill/.")
            ]
        ],
        Field(max_length=256, description="The files of a skill that can be started as programs."),
    ]
    abi: Annotated[
        Literal["core", "component"], Field(description="What its modules are; a build makes components otherwise.")
    ]
    default_tool_id: Annotated[_ToolId, Field(description="The tool that is called by the id of the skill.")]
    default_module_path: Annotated[
        str, Field(max_length=1024, pattern=r"^modules/.+\.wasm$", description="One of its modules: modules/NAME.wasm.")
    ]
    default_entrypoint: Annotated[
        str, Field(pattern="^[a-z0-9_-]{1,128}$", description="The export of a core module that is called.")
    ]
    contracts: Annotated[list[_Contract], Field(max_length=64, description="The contracts that it fulfils.")]


class _Property(_Part, total=False):
    """A property."""

    type: Required[
        Annotated[
            Literal["string", "integer", "number", "boolean", "string_list"],
            Field(description="string, integer, number, boolean or string_list."),
        ]
    ]
    title: Annotated[_Title, Field(description="A title.")]
    description: Annotated[_Text, Field(description="A description.")]
    default: Annotated[Any, Field(description="The value if none is given.")]
    redacted: Annotated[bool, Field(description="Whether it is a secret: true or false.")]
    enum_values: Annotated[
        list[Annotated[_Title, Field(description="A value.")]],
        Field(max_length=256, description="The values that are allowed."),
    ]


class _Config(_Part, total=False):
    """What an operator configures."""

    schema_version: Annotated[_Number, Field(description="From 1.")]
    required: Annotated[
        list[Annotated[_Word, Field(description="A word of a-z, 0-9, dot, _ and -.")]],
        Field(max_length=256, description="The properties that must be given."),
    ]
    properties: Annotated[dict[str, _Property], Field(max_length=256, description="The properties by name.")]


class _Operator(_Part, total=False):
    """What an operator sees and configures (version 2)."""

    display_name: Annotated[_Title, Field(description="For a person: 1 to 256 characters.")]
    summary: Annotated[str, Field(min_length=1, max_length=512, pattern=r"\S", description="One line.")]
    description: Annotated[str, Field(min_length=1, max_length=8192, pattern=r"\S", description="A description.")]
    categories: Annotated[_Words, Field(description="Categories.")]
    tags: Annotated[_Words, Field(description="Tags.")]
    docs_url: Annotated[
        str,
        Field(
            max_length=2048,
            pattern=r"^https://[^\s#@\\/]+(/[^\s#\\]*)?$",
            description="An https URL without a fragment.",
        ),
    ]
    plugin: _Plugin
    config: _Config


class SkillToml(_Part):
    """What an artifact contains, needs and may do."""

    manifest_version: NotRequired[Annotated[int, Field(ge=1, le=2, description="The version of this format: 1 or 2.")]]
    skill_id: Annotated[
        _Id,
        Field(
            description="The name of the skill: the publisher, a dot, and parts of a-z, 0-9, _ and - with dots between."
        ),
    ]
    name: Annotated[_Title, Field(description="For a person: 1 to 256 characters.")]
    version: Annotated[_Version, Field(description="The version of the skill: semver, as in 1.2.3.")]
    publisher: Annotated[_Id, Field(description="The publisher: parts of a-z, 0-9, _ and - with dots between.")]
    entrypoints: _Entrypoints
    capabilities: NotRequired[_Capabilities]
    compat: _Compat
    integrity: NotRequired[_Integrity]
    builder: NotRequired[_Builder]
    operator: NotRequired[_Operator]
