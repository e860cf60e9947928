"""Names of installed tools for models, whose formats forbid dots.

Rules kept here:
- OpenAI, Anthropic and clients of MCP accept letters, digits, `_` and `-`, 64 at most; ids have small letters only, so
  `_DOT_` and `_COLON_` in a name are from a dot and a colon, and the mapping can be reversed.

>>> model_name("acme.weather.get"), tool_id("acme_DOT_weather_DOT_get")
('acme_DOT_weather_DOT_get', 'acme.weather.get')
"""

from __future__ import annotations

MAX_NAME = 64
_MARKS = ((".", "_DOT_"), (":", "_COLON_"))


def model_name(tool: str) -> str:
    """The name of a tool for a model."""
    for character, mark in _MARKS:
        tool = tool.replace(character, mark)
    return tool


def tool_id(name: str) -> str:
    """The id of the tool that a model names."""
    for character, mark in _MARKS:
        name = name.replace(mark, character)
    return name
