"""Manifests of the tests."""

from __future__ import annotations

from typing import Any


def manifest(**changes: Any) -> dict[str, Any]:
    """A valid manifest, with changes; a key that is changed to None is left out."""
    document = {
        "id": "count_lines",
        "name": "Count lines",
        "description": "Counts the lines of a text.",
        "category": "memory",
        "inputs": {"text": {"type": "string", "required": True}},
        "outputs": {"lines": {"type": "integer", "required": True}},
        "risk": "low",
        "cost": "cheap",
        "minTrustLevel": "observe",
    } | changes
    return {key: value for key, value in document.items() if value is not None}
