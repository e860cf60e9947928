"""What a feature connects when a plugin opens, and closes with it."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from cortex_graph.exceptions import GraphUnavailable
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


def speaking(gate: Any) -> None:
    def fails(_: str) -> str:
        raise GraphUnavailable("the store is away")

    gate.host.contexts.extend([lambda agent: f"for {agent}", fails, lambda _: "", lambda _: "last"])


def test_a_feature_adds_to_the_context_and_one_that_fails_is_left_out(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    found = feature.Feature("sample", attach=(f"{__name__}:speaking",))
    monkeypatch.setattr(feature, "features", lambda: (found,))
    with Plugin.open(config()) as plugin:
        assert plugin.context(agent="a1") == "for a1\nlast"
    assert "a part of the context is missing: " in caplog.text


def test_features_are_attached_when_a_plugin_opens_and_closed_once_in_reverse(monkeypatch: pytest.MonkeyPatch) -> None:
    STEPS.clear()
    found = feature.Feature("sample", attach=(f"{__name__}:first", f"{__name__}:second"))
    monkeypatch.setattr(feature, "features", lambda: (found,))
    plugin = Plugin.open(config())
    assert STEPS == ["first of mayros", "second"]
    plugin.close()
    plugin.close()
    assert STEPS[2:] == ["second closed, the store has 0 triples", "first closed"]


def test_a_plugin_opens_without_importing_what_it_may_never_use() -> None:
    parts = "artifacts.installed artifacts.package artifacts.contracts registry.tools"
    program = (
        "import os, sys; from cortex_skills import Config, Plugin; plugin = Plugin.open(Config())\n"
        f"names = {[f'cortex_skills.features.{part}' for part in parts.split()]}\n"
        "names += ['cortex_skills.injection', 'httpx', 'nacl', 're2', 'tantivy', 'wasmtime', 'yaml']\n"
        "print([name for name in names if name in sys.modules], flush=True); os._exit(0)"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
