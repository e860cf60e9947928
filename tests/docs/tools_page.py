"""The page of the built-in tools, from their schemas: `python -m tests.docs.tools_page docs/tools.md` writes it.

Rules kept here:
- everything on the page comes from the tools themselves;
- the same tools give the same page, byte for byte.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from cortex_skills.tools import Tool, own_tools

_INTRO = """\
# The tools

Generated from the schemas of the built-in tools by `python -m tests.docs.tools_page docs/tools.md`. The pages
[Python](python.md#calls) and [agents](agents.md) explain how to call a tool, and [errors](reference/errors.md) the
error codes.
"""
_BUDGETS = {"query": "a query", "assertion": "an assertion"}


def page(tools: Iterable[Tool]) -> str:
    """The page, in Markdown."""
    return "\n".join([_INTRO, *(_section(tool) for tool in tools)])


def _section(tool: Tool) -> str:
    uses = ["a call of the minute"] if tool.rate_limited else []
    uses += [_BUDGETS[tool.budget]] if tool.budget else []
    facts = [
        f"Needs {' and '.join(f'`{permission}`' for permission in tool.permissions)}.",
        f"Uses {' and '.join(uses)}." if uses else "Uses no budget.",
        "Changes nothing." if tool.read_only else "Writes.",
        *([f"Profile `{tool.profile}`."] if tool.profile != "core" else []),
    ]
    parts = [
        f"## {tool.name}\n",
        f"{tool.description}\n",
        " ".join(facts) + "\n",
        _table("argument", tool.input_schema),
    ]
    if choices := tool.input_schema.get("oneOf"):
        parts.append(f"Exactly one of {' and '.join(', '.join(_code(n) for n in c['required']) for c in choices)}.\n")
    if tool.output_schema.get("properties"):
        parts += ["The result, in `details`:\n", _table("field", tool.output_schema)]
    return "\n".join(parts)


def _table(what: str, schema: dict[str, Any]) -> str:
    lines = [f"| {what} | | type | |", "|---|---|---|---|"]
    for name, part in schema["properties"].items():
        presence = "required" if name in schema.get("required", ()) else "optional"
        if what == "field":
            presence = "always" if presence == "required" else "sometimes"
        about = part.get("description", "").replace("|", "\\|")
        if "default" in part:
            about = f"{about} Default: {_code(part['default'])}.".strip()
        lines.append(f"| `{name}` | {presence} | {_type(part)} | {about} |")
    return "\n".join([*lines, ""])


def _type(part: dict[str, Any]) -> str:
    if "const" in part:
        return _code(part["const"])
    if "enum" in part:
        return " or ".join(_code(value) for value in part["enum"])
    if "anyOf" in part:
        return ", or ".join(_type(choice) for choice in part["anyOf"])
    given = part["type"]
    text = " or ".join(given) if isinstance(given, list) else str(given)
    if given == "array":
        text = f"array of {_type(part['items'])}" if "items" in part else text
    if given == "object" and "properties" in part:
        text += f" of {', '.join(_code(name) for name in part['properties'])}"
    elif given == "object" and "required" in part:
        text += f" of {', '.join(_code(name) for name in part['required'])}"
    return text + _bounds(part)


def _bounds(part: dict[str, Any]) -> str:
    unit = " characters" if part["type"] == "string" else ""
    least, most = part.get("minimum", part.get("minLength")), part.get("maximum", part.get("maxLength"))
    if least is None and most is None:
        return ""
    if most is None:
        return f", from {least}{unit}"
    return f", {least} to {most}{unit}" if least is not None else f", at most {most}{unit}"


def _code(value: object) -> str:
    return f"`{value if isinstance(value, str) else json.dumps(value)}`"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m tests.docs.tools_page FILE")
    Path(sys.argv[1]).write_text(page(own_tools().values()), encoding="utf-8")
