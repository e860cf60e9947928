"""The manifest of an action: what it takes, answers and may do.

Rules kept here:
- a manifest is valid: creating one checks it against its form (`manifest_form`), and every problem names its field. An
  unknown key, trust level, risk or category is an error;
- inputs and outputs are objects with the declared fields and no others; the schema of a field may narrow its type, and
  refers to nothing outside it;
- the list of folders restricts the inputs of the format `workspace-path`, and that of commands those of `command`; in
  a document without them, the inputs `path` and `command`;
- the version is the SHA-256 of the manifest as canonical JSON (RFC 8785), so a change of any part is another version.

>>> read = ActionManifest.of({
...     "id": "count_lines", "name": "Count lines", "description": "Counts the lines of a text.", "category": "memory",
...     "inputs": {"text": {"type": "string", "required": True}}, "outputs": {"lines": {"type": "integer"}},
...     "risk": "low", "cost": "free", "minTrustLevel": "observe",
... })
>>> read.limits.per_minute, read.version[:8], read.input_schema()["required"]
(60, '0725613f', ['text'])
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import rfc8785

from cortex_skills.errors import CortexError
from cortex_skills.features.actions.dialects.metahuman import with_targets
from cortex_skills.policy.trust_levels import Risk, TrustLevel
from cortex_skills.safe_io.schemas import LocatedDocument, Problem, check, summary

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator

    from cortex_skills.features.actions.manifest_form import Cost, FieldType

Category = Literal["fs", "memory", "agent", "shell", "network", "artifact"]

# Formats of inputs that the gate checks before an action runs.
PATH, COMMAND, WEB_ADDRESS = "workspace-path", "command", "uri"

_REFERENCES = frozenset({"$ref", "$dynamicRef", "$recursiveRef", "$schema", "$id"})
_FIXED = frozenset({"type", "description"})
_MAX_SCHEMA = 1 << 16


@dataclass(frozen=True, slots=True)
class ActionField:
    """One input or output.

    Attributes:
        type: its JSON type.
        required: whether it must be there.
        description: for a model.
        schema: further keywords of JSON Schema.
    """

    type: FieldType
    required: bool = False
    description: str = ""
    schema: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def to_json(self) -> dict[str, Any]:
        """The field as it is declared, without what has its default."""
        found: dict[str, Any] = {"type": self.type}
        if self.required:
            found["required"] = True
        if self.description:
            found["description"] = self.description
        return found | ({"schema": dict(self.schema)} if self.schema else {})


@dataclass(frozen=True, slots=True)
class ActionLimits:
    """How often an action runs in a minute, for how many milliseconds, and how many bytes of JSON it answers."""

    per_minute: int = 60
    timeout_ms: int = 30_000
    max_bytes: int = 2 << 20


Fields = Mapping[str, ActionField]


@dataclass(frozen=True)
class ActionManifest:
    """What an action takes, answers and may do.

    Attributes:
        id: how callers name it.
        name: for a person.
        description: for a model.
        category: what it reaches.
        inputs: by name.
        outputs: by name.
        risk: what it can harm.
        cost: what a call costs.
        min_trust_level: the lowest level that may ask for it.
        requires_approval: whether a person approves each call.
        allowed_directories: the folders that inputs of the format `workspace-path` may name; None for no such inputs.
        command_whitelist: what inputs of the format `command` may be; None for no such inputs.
        limits: how often, how long, how much.

    Raises:
        CortexError: `manifest_invalid`, with every problem in `details["errors"]`.
    """

    id: str
    name: str
    description: str
    category: Category
    inputs: Fields
    outputs: Fields
    risk: Risk
    cost: Cost
    min_trust_level: TrustLevel
    requires_approval: bool = False
    allowed_directories: tuple[str, ...] | None = None
    command_whitelist: tuple[str, ...] | None = None
    limits: ActionLimits = ActionLimits()

    def __post_init__(self) -> None:
        try:
            document = self.to_json()
        except (AttributeError, TypeError, ValueError) as error:
            raise _invalid([Problem((), f"has a part of another type: {error}")]) from None
        _check(document)

    @classmethod
    def of(cls, document: object) -> ActionManifest:
        """The manifest in a JSON object, with keys in camelCase.

        Raises:
            CortexError: `manifest_invalid`.
        """
        if not isinstance(document, Mapping):
            raise _invalid([Problem((), f"must be a mapping, not {type(document).__name__}")])
        given = with_targets(document)
        _check(given)
        limits = {_LIMITS[key]: value for key, value in given.get("limits", {}).items()}
        return cls(
            **{name: given[key] for key, name in _TEXTS.items() if key in given},
            inputs={name: ActionField(**declared) for name, declared in given["inputs"].items()},
            outputs={name: ActionField(**declared) for name, declared in given["outputs"].items()},
            allowed_directories=_tuple(given.get("allowedDirectories")),
            command_whitelist=_tuple(given.get("commandWhitelist")),
            limits=replace(ActionLimits(), **limits),
        )

    @cached_property
    def version(self) -> str:
        """The SHA-256 of the manifest, in hexadecimal."""
        return hashlib.sha256(rfc8785.dumps(self.to_json())).hexdigest()

    def to_json(self) -> dict[str, Any]:
        """The manifest as a JSON object, with keys in camelCase."""
        found: dict[str, Any] = {key: getattr(self, name) for key, name in _TEXTS.items()}
        found["inputs"] = {name: declared.to_json() for name, declared in self.inputs.items()}
        found["outputs"] = {name: declared.to_json() for name, declared in self.outputs.items()}
        if self.allowed_directories is not None:
            found["allowedDirectories"] = list(self.allowed_directories)
        if self.command_whitelist is not None:
            found["commandWhitelist"] = list(self.command_whitelist)
        return found | {"limits": {key: getattr(self.limits, name) for key, name in _LIMITS.items()}}

    def input_schema(self) -> dict[str, Any]:
        """The JSON Schema of its inputs."""
        return _schema_of(self.inputs)

    def output_schema(self) -> dict[str, Any]:
        """The JSON Schema of its outputs."""
        return _schema_of(self.outputs)

    @cached_property
    def output_validator(self) -> Draft202012Validator:
        """The compiled schema of its outputs."""
        from jsonschema_rs import Draft202012Validator

        return Draft202012Validator(self.output_schema())

    def inputs_of(self, form: str) -> list[str]:
        """The inputs whose schema has a format."""
        return [name for name, declared in self.inputs.items() if declared.schema.get("format") == form]


_TEXTS = {
    "id": "id",
    "name": "name",
    "description": "description",
    "category": "category",
    "risk": "risk",
    "cost": "cost",
    "minTrustLevel": "min_trust_level",
    "requiresApproval": "requires_approval",
}
_LIMITS = {"perMinute": "per_minute", "timeoutMs": "timeout_ms", "maxBytes": "max_bytes"}


def _tuple(given: list[str] | None) -> tuple[str, ...] | None:
    return None if given is None else tuple(given)


def _schema_of(declared: Fields) -> dict[str, Any]:
    properties = {
        name: {**one.schema, "type": one.type, **({"description": one.description} if one.description else {})}
        for name, one in declared.items()
    }
    required = [name for name, one in declared.items() if one.required]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _check(document: dict[str, Any]) -> None:
    from cortex_skills.features.actions.manifest_form import ManifestForm  # pydantic is large

    problems = check(ManifestForm, LocatedDocument(document))
    if not problems:
        problems = [*_problems_of_fields(document), *_problems_of_targets(document)]
    if problems:
        raise _invalid(problems)


def _problems_of_fields(document: dict[str, Any]) -> Iterator[Problem]:
    """The problems of the schemas of fields, which the schema of the manifest does not see."""
    from jsonschema_rs import Draft202012Validator

    for group in ("inputs", "outputs"):
        for name, declared in document[group].items():
            schema, path = declared.get("schema", {}), (group, name, "schema")
            if named := sorted(_keys(schema) & _REFERENCES):
                yield Problem((*path, named[0]), "refers to another schema", "write the schema itself")
            elif fixed := sorted(_FIXED & set(schema)):
                yield Problem(
                    (*path, fixed[0]), "is declared beside the schema", f"remove it from {group}.{name}.schema"
                )
            else:
                try:
                    if len(rfc8785.dumps(schema)) > _MAX_SCHEMA:
                        yield Problem(path, f"is longer than {_MAX_SCHEMA:,} bytes")
                    Draft202012Validator({**schema, "type": declared["type"]})
                except (ValueError, TypeError, OverflowError, RecursionError) as error:
                    yield Problem(path, f"is not a JSON Schema: {str(error)[:200]}")


def _problems_of_targets(document: dict[str, Any]) -> Iterator[Problem]:
    """The problems of lists that restrict no input, and of inputs that no list restricts."""
    formats = [declared.get("schema", {}).get("format") for declared in document["inputs"].values()]
    for key, form in (("allowedDirectories", PATH), ("commandWhitelist", COMMAND)):
        if key in document and form not in formats:
            yield Problem((key,), f"restricts no input: none has the format {form}", "remove it, or declare the format")
        elif form in formats and key not in document:
            yield Problem((key,), f"is missing: an input has the format {form}", "list what it may be")


def _keys(value: object) -> set[str]:
    """Every key in a JSON value."""
    found: set[str] = set()
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            found.update(key for key in item if isinstance(key, str))
            pending.extend(item.values())
        elif isinstance(item, list):
            pending.extend(item)
    return found


def _invalid(problems: list[Problem]) -> CortexError:
    return CortexError(
        "manifest_invalid",
        summary("the manifest of an action", problems),
        hint="correct the fields above; docs/actions.md describes them",
        details={"errors": [problem.to_json() for problem in problems]},
    )
