"""Calls of the tools `memory_skill_*`, and texts of ai-memory."""

from __future__ import annotations

import json
from typing import Any

from cortex_skills import Plugin, Result

OTHER = "foo/observations"


def call(plugin: Plugin, tool: str, **arguments: Any) -> Result:
    return plugin.call(f"memory_skill_{tool}", arguments)


def done(result: Result) -> dict[str, Any]:
    assert not result.is_error, result.text
    assert json.loads(json.dumps(result.details)) == result.details
    return result.details


def text(name: str = "hello", body: str = "Do things.\n", more: str = "", namespace: str = "ns-a") -> str:
    return f"---\nnamespace: {namespace}\nname: {name}\ndescription: A {name} skill.\n{more}---\n\n{body}"


def register(plugin: Plugin, **given: Any) -> dict[str, Any]:
    return done(call(plugin, "register", inline_skill=text(**given)))
