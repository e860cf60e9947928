"""A skill behaves the same in this process, in a separate process, and in Node.js for debugging."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cortex_sandbox.engine.cache import cache_folder
from cortex_skills import CortexError, Plugin
from tests.time_limits import queries_stop_after

Opened = Callable[..., Plugin]
Written = Callable[..., Path]

SKILL = """
import { judge } from "./judge";
let seen = 0;
export default {
  name: "probe",
  async onQuery({ results }) {
    seen++;
    logger.info("asked", seen);
    const { total } = await graphClient.patternQuery({ predicate: "note" });
    if (results.some(({ object }) => object === "loop")) for (;;);
    return { results: results.filter(judge), additionalContext: { seen, total } };
  },
};"""
JUDGE = """export function judge({ object }: { object: unknown }): boolean {
  if (object === "throw") throw new TypeError("no judgement");
  return object !== "hidden";
}"""

BOXES = {
    "in-process": {},
    "process": {"isolation": "process"},
    "direct": {"sandboxEnabled": False},
}
SKIPS = {
    "in-process": (False, ""),
    "process": (sys.platform != "linux", "sandboxes in a separate process need Linux"),
    "direct": (shutil.which("node") is None, "the direct mode needs Node.js"),
}


@pytest.fixture(params=BOXES)
def plugin(request: pytest.FixtureRequest, opened: Opened, skill: Written, monkeypatch: pytest.MonkeyPatch) -> Plugin:
    """A plugin with the skill loaded, for each kind of box."""
    absent, reason = SKIPS[request.param]
    if absent:
        pytest.skip(reason)
    monkeypatch.setenv("CORTEX_UNSAFE_DIRECT_LOAD", "1")
    made = opened(sandbox=BOXES[request.param])
    made.load(skill("probe", SKILL, files={"judge.ts": JUDGE}))
    return made


def ask(plugin: Plugin, *objects: str) -> dict[str, Any]:
    for name in objects:
        plugin.graph.create_triple({"subject": name, "predicate": "note", "object": name})
    return plugin.call("skill_graph_query", {"scope": "namespace"}).details


def test_it_narrows_enriches_and_keeps_its_state(plugin: Plugin) -> None:
    details = ask(plugin, "shown", "hidden")
    assert [triple["object"] for triple in details["matches"]] == ["shown"]
    assert details["enrichment"]["status"] == "ok"
    assert '{"seen":2,"total":2}' in plugin.call("skill_graph_query", {"scope": "namespace"}).text


def test_an_error_names_the_original_file_and_line(plugin: Plugin) -> None:
    details = ask(plugin, "throw")
    assert details["enrichment"]["status"] == "failed"
    assert "judge.ts:2:" in details["enrichment"]["message"]
    assert "TypeError: no judgement" in details["enrichment"]["message"]
    assert len(details["matches"]) == 1


def test_a_loop_is_stopped_and_the_next_call_uses_a_new_sandbox(plugin: Plugin) -> None:
    with queries_stop_after(1):
        stopped = ask(plugin, "loop")
    assert (stopped["enrichment"]["code"], len(stopped["matches"])) == ("skill_timeout", 1)
    (loop,) = plugin.graph.list_triples()["triples"]
    plugin.graph.delete_triple(loop["id"])
    assert ask(plugin, "shown")["enrichment"]["status"] == "ok"


def test_the_direct_mode_also_needs_an_environment_variable(
    opened: Opened, skill: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CORTEX_UNSAFE_DIRECT_LOAD", "MAYROS_UNSAFE_DIRECT_LOAD"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(CortexError) as refused:
        opened(sandbox=BOXES["direct"]).load(skill("probe", "export default { name: 'probe' };"))
    assert refused.value.code == "config_invalid"
    assert "UNSAFE_DIRECT_LOAD=1" in str(refused.value)


@pytest.mark.extended
@pytest.mark.slow
def test_compiling_the_guests_on_a_new_machine_does_not_count_as_the_skills_time(
    skill: Written, tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    cache.mkdir(mode=0o700)
    if kept := cache_folder():
        for bundler in kept.glob("esbuild-*.cwasm"):
            shutil.copy(bundler, cache)
    program = (
        "import sys\n"
        "from cortex_skills import Config, Plugin\n"
        "limits = {'executionTimeoutMs': 3000}\n"
        "with Plugin.open(Config(skillSandbox=limits, verification={'requireSignature': False})) as plugin:\n"
        "    print(plugin.load(sys.argv[1]))\n"
    )
    busy = "const until = Date.now() + 20; while (Date.now() < until);"
    folder = skill("probe", f"{busy} export default {{ name: 'probe' }};")
    environment = {**os.environ, "CORTEX_SANDBOX_CACHE": str(cache)}
    command = [sys.executable, "-c", program, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stdout) == (0, "['probe']\n"), done.stderr
