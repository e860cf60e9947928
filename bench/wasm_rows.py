"""Rows of installed tools: a call of a component through the whole gate, as a ratio to the bare call of its sandbox."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from unittest.mock import patch

from bench.measure import Row, in_turn_s
from cortex_sandbox.wasm import WasmSandbox
from cortex_skills import Plugin
from cortex_skills.signatures import Publisher, TrustFile
from tests.artifacts.samples import KEY
from tests.configs import config
from tests.installed.samples import artifact, install
from tests.wasm.modules import ECHO, component

_INPUT = {"text": "hi"}


def rows() -> list[Row]:
    """All rows."""
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch)
        own = {"XDG_DATA_HOME": str(home / "data"), "XDG_CONFIG_HOME": str(home / "config")}
        with patch.dict(os.environ, own):
            file = TrustFile(home / "data/cortex-skills/trust.json", home / "config/cortex-skills/trust.key")
            acme = Publisher("acme", KEY.did, "listed", "2026-01-01T00:00:00Z")
            file.change(lambda known: known.with_publisher(acme))
            return [_call(home)]


def _call(home: Path) -> Row:
    module = component(ECHO)
    bare = WasmSandbox(module)
    settings = {
        "actions": {"trustLevel": "bounded_auto"},
        "artifacts": {"folder": str(home / "artifacts")},
        "skillSandbox": {"maxCallsPerMinute": 1000},
    }
    with Plugin.open(config(**settings)) as plugin:
        install(plugin.installed, artifact(content={"modules/echo.wasm": module}))

        def through_the_gate() -> None:
            result = plugin.call("acme.echo", _INPUT)
            assert result.details["outputs"] == _INPUT, result.text

        ours, theirs = in_turn_s([through_the_gate, lambda: bare.call_tool("acme.echo", '{"text": "hi"}')], 20)
    return Row("a call of an installed tool through the gate, beside the bare call", ours, "bare call", theirs, 2)
