"""What a feature connects when a plugin opens, and closes with it."""

from __future__ import annotations

from typing import Any

import pytest

from cortex_skills import Plugin, feature
from tests.configs import config

STEPS: list[str] = []


def first(gate: Any) -> None:
    STEPS.append(f"first of {gate.host.graph.namespace}")
    gate.host.closing.append(lambda: STEPS.append("first closed"))


def second(gate: Any) -> None:
    def close() -> None:
        STEPS.append(f"second closed, the store has {gate.host.graph.count()} triples")
        raise RuntimeError("a fault of a feature")

    STEPS.append("second")
    gate.host.closing.append(close)


def test_features_are_attached_when_a_plugin_opens_and_closed_once_in_reverse(monkeypatch: pytest.MonkeyPatch) -> None:
    STEPS.clear()
    found = feature.Feature("sample", attach=(f"{__name__}:first", f"{__name__}:second"))
    monkeypatch.setattr(feature, "features", lambda: (found,))
    plugin = Plugin.open(config())
    assert STEPS == ["first of mayros", "second"]
    plugin.close()
    plugin.close()
    assert STEPS[2:] == ["second closed, the store has 0 triples", "first closed"]
