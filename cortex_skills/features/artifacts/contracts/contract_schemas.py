"""The JSON Schemas (2020-12) of the contracts that this host calls, by their names.

Rules kept here:
- an input has no more than these members; an output may have others, which are ignored;
- texts and lists are limited, since an output goes to a model.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from cortex_skills.features.artifacts.contracts.contract_kinds import KINDS

_TEXT = {"type": "string", "minLength": 1, "maxLength": 512}
_NAME = {"type": "string", "minLength": 1, "maxLength": 256}
_FRACTION = {"type": "number", "minimum": 0, "maximum": 1}
_TAGS = {"type": "array", "maxItems": 8, "items": {"type": "string", "minLength": 1, "maxLength": 40}}


def _object(required: str, properties: Mapping[str, Any], *, is_input: bool) -> dict[str, Any]:
    schema = {"type": "object", "properties": dict(properties), "required": required.split()}
    return {**schema, "additionalProperties": False} if is_input else schema


_MEMORY_INPUT = _object(
    "operation agent",
    {
        "operation": {"enum": ["remember", "recall"]},
        "agent": _NAME,
        "text": _TEXT,
        "query": {"type": "string", "minLength": 1, "maxLength": 1000},
        "importance": _FRACTION,
        "minImportance": _FRACTION,
        "tags": _TAGS,
        "limit": {"type": "integer", "minimum": 1, "maximum": 50},
    },
    is_input=True,
)
_MEMORY_OUTPUT = _object(
    "",
    {
        "id": _NAME,
        "created": {"type": "boolean"},
        "memories": {
            "type": "array",
            "maxItems": 50,
            "items": _object(
                "text",
                {"id": _NAME, "text": _TEXT, "importance": _FRACTION, "relevance": _FRACTION, "tags": _TAGS},
                is_input=False,
            ),
        },
    },
    is_input=False,
)
_ROUTING_INPUT = _object(
    "tool arguments candidates agent",
    {
        "tool": _NAME,
        "arguments": {"type": "object"},
        "candidates": {"type": "array", "minItems": 2, "items": _NAME},
        "agent": _NAME,
    },
    is_input=True,
)
_ROUTING_OUTPUT = _object("chosen", {"chosen": _NAME, "reason": {"type": "string", "maxLength": 500}}, is_input=False)
_LIFECYCLE_INPUT = _object(
    "event agent session",
    {"event": {"enum": ["before_agent_start", "session_end"]}, "agent": _NAME, "session": _NAME},
    is_input=True,
)
_DECISION = _object(
    "code", {"code": {"type": "integer"}, "reason": {"type": "string", "maxLength": 500}}, is_input=False
)
_DELIVERY_INPUT = _object(
    "channel message encoding sender",
    {
        "channel": _NAME,
        "message": {"type": "string"},
        "encoding": {"enum": ["utf-8", "base64"]},
        "sender": _NAME,
    },
    is_input=True,
)
_RECEIPT = _object(
    "status",
    {"status": {"enum": ["delivered", "rejected"]}, "reason": {"type": "string", "maxLength": 500}},
    is_input=False,
)

SCHEMAS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        name: schema
        for kind, given, answered in (
            ("memory_provider", _MEMORY_INPUT, _MEMORY_OUTPUT),
            ("routing_strategy", _ROUTING_INPUT, _ROUTING_OUTPUT),
            ("run_lifecycle_hook", _LIFECYCLE_INPUT, _DECISION),
            ("delivery_adapter", _DELIVERY_INPUT, _RECEIPT),
        )
        for name, schema in ((KINDS[kind].input_schema, given), (KINDS[kind].output_schema, answered))
    }
)
