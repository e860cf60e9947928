"""The four contracts that the plugin calls, with artifacts compiled from C."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cortex_sandbox.wasm import make_component
from cortex_skills import CortexError, Plugin
from cortex_skills.features.artifacts.package import write_archive
from cortex_skills.features.artifacts.tools import contract_memory
from cortex_skills.features.artifacts.tools.artifact_calls import ArtifactCalls
from tests.artifact_tools.conftest import ALL
from tests.artifacts.samples import payload, signed
from tests.installed.samples import install
from tests.sdk.c_examples import compiled

SOURCE = r"""
#include "palyra_json.h"

static palyra_text member(palyra_text input, palyra_text name) {
  return palyra_json_string(palyra_json_member(input, name));
}

static palyra_answer answer(const palyra_writer *out) { return (palyra_answer){false, palyra_written(out)}; }

static bool ends(palyra_text text, palyra_text end) {
  return text.size >= end.size && palyra_same((palyra_text){text.at + text.size - end.size, end.size}, end);
}

palyra_answer palyra_run(palyra_text tool, palyra_text input) {
  palyra_writer out = {0};
  palyra_text agent = member(input, PALYRA_TEXT("agent"));
  if (ends(tool, PALYRA_TEXT(".provide_memory"))) {
    int32_t storage = palyra_storage_handle(0);
    if (palyra_same(member(input, PALYRA_TEXT("operation")), PALYRA_TEXT("remember"))) {
      palyra_storage_write(storage, agent, member(input, PALYRA_TEXT("text")));
      return (palyra_answer){false, PALYRA_TEXT("{\"created\":true}")};
    }
    palyra_text_result kept = palyra_storage_read(storage, agent);
    palyra_write(&out, PALYRA_TEXT("{\"memories\":["));
    if (!kept.failed) {
      palyra_write(&out, PALYRA_TEXT("{\"importance\":0.9,\"text\":"));
      palyra_writer text = {0};
      palyra_write(&text, PALYRA_TEXT("kept: "));
      palyra_write(&text, kept.text);
      palyra_write_string(&out, palyra_written(&text));
      palyra_write(&out, PALYRA_TEXT("}"));
    }
    palyra_write(&out, PALYRA_TEXT("]}"));
    return answer(&out);
  }
  if (ends(tool, PALYRA_TEXT(".route_model"))) {
    palyra_write(&out, PALYRA_TEXT("{\"chosen\":"));
    palyra_write_string(&out, palyra_same(agent, PALYRA_TEXT("lost")) ? PALYRA_TEXT("gamma") : PALYRA_TEXT("beta"));
    palyra_write(&out, PALYRA_TEXT("}"));
    return answer(&out);
  }
  if (ends(tool, PALYRA_TEXT(".decide_run_lifecycle"))) {
    palyra_write(&out, PALYRA_TEXT("{\"reason\":\"because of the event\",\"code\":"));
    palyra_write(&out, agent); /* the agents of the test are called as the codes */
    palyra_write(&out, PALYRA_TEXT("}"));
    return answer(&out);
  }
  palyra_text message = member(input, PALYRA_TEXT("message"));
  palyra_writer sent = {0};
  palyra_write(&sent, member(input, PALYRA_TEXT("sender")));
  palyra_write(&sent, PALYRA_TEXT(": "));
  palyra_write(&sent, message);
  palyra_done done = palyra_channel_send(palyra_channel_handle(0), palyra_written(&sent));
  if (palyra_same(message, PALYRA_TEXT("spam")))
    return (palyra_answer){false, PALYRA_TEXT("{\"status\":\"rejected\"}")};
  if (done.failed) return (palyra_answer){true, done.error.code};
  return (palyra_answer){false, PALYRA_TEXT("{\"status\":\"delivered\"}")};
}
"""
MANIFEST = """
manifest_version = 2
skill_id = "acme.NAME"
name = "A contract"
version = "1.0.0"
publisher = "acme"

[[entrypoints.tools]]
id = "acme.NAME.OPERATION"
name = "contract"
description = "Fulfils a contract"
input_schema = { type = "object" }
output_schema = { type = "object" }

[compat]
required_protocol_major = 1
min_palyra_version = "0.1.0"

[operator.plugin]
kind = "wasm"
contracts = [{ kind = "KIND", version = 1 }]
"""
STORAGE = '\n[capabilities.filesystem]\nwrite_roots = ["memories"]\n'
CHANNEL = '\n[capabilities]\nnode_capabilities = ["out"]\n'
SKILL = """---
name: NAME
description: A skill.
type: semantic
semantic:
  version: 1
  permissions: {graph: [read]}
  queries: [{predicate: p, scope: namespace}]
  skillVersion: "1.0.0"
---
"""


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    source = tmp_path_factory.mktemp("source") / "contracts.c"
    source.write_text(SOURCE)
    return make_component(compiled(source))


def provide(plugin: Plugin, module: bytes, name: str, kind: str, operation: str, more: str = "") -> Any:
    text = MANIFEST.replace("NAME", name).replace("KIND", kind).replace("OPERATION", operation) + more
    installed = plugin.installed
    found = install(installed, write_archive(signed(payload(text, {"modules/tool.wasm": module}))), ALL)
    assert found.status == "active", found.reason
    return found


def test_memories_go_through_the_memory_provider(plugin: Plugin, module: bytes, notebook: Path) -> None:
    plugin.load(notebook)
    found = provide(plugin, module, "memory", "memory_provider", "provide_memory", STORAGE)
    told = plugin.call("skill_memory_remember", {"text": "the ferry leaves at nine"}, agent="a1")
    assert told.details["created"] is True
    recalled = plugin.call("skill_memory_context", {"query": "ferry"}, agent="a1").details
    assert {each["text"] for each in recalled["memories"]} == {
        "the ferry leaves at nine",
        "kept: the ferry leaves at nine",
    }
    assert recalled["memories"][0]["skill"] == "acme.memory"
    assert plugin.call("skill_memory_context", {"query": "ferry"}, agent="a2").details["memories"] == []
    plugin.installed.quarantine(found.key.skill_id, "1.0.0", actor="ada", reason="a test")
    alone = plugin.call("skill_memory_context", {"query": "ferry"}, agent="a1").details["memories"]
    assert [each["text"] for each in alone] == ["the ferry leaves at nine"]


def test_a_memory_provider_that_may_not_run_is_an_error_and_not_an_empty_answer(
    open_plugin: Callable[..., Plugin], module: bytes, notebook: Path
) -> None:
    plugin = open_plugin(actions={"trustLevel": "observe"})
    plugin.load(notebook)
    provide(plugin, module, "memory", "memory_provider", "provide_memory", STORAGE)
    result = plugin.call("skill_memory_context", {"query": "ferry"}, agent="a1")
    assert result.is_error
    assert "acme.memory.provide_memory" in result.text


def test_without_a_provider_memories_ask_the_store_once_in_a_while_and_one_that_is_installed_here_at_once(
    plugin: Plugin, module: bytes, notebook: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contract_memory, "LOOK_S", 1e6)
    plugin.load(notebook)
    index, looks = plugin.installed.index, 0
    revision = index.revision

    def counted() -> str:
        nonlocal looks
        looks += 1
        return revision()

    monkeypatch.setattr(index, "revision", counted)
    for query in ("ferry", "tide", "boat"):
        assert not plugin.call("skill_memory_context", {"query": query}, agent="a1").is_error
    assert looks == 1
    provide(plugin, module, "memory", "memory_provider", "provide_memory", STORAGE)
    assert not plugin.call("skill_memory_remember", {"text": "the ferry leaves at nine"}, agent="a1").is_error
    recalled = plugin.call("skill_memory_context", {"query": "ferry"}, agent="a1").details
    assert "kept: the ferry leaves at nine" in {each["text"] for each in recalled["memories"]}


def test_a_routing_strategy_chooses_the_acting_skill_of_a_call_that_names_none(
    plugin: Plugin, module: bytes, tmp_path: Path
) -> None:
    for name in ("alpha", "beta"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "SKILL.md").write_text(SKILL.replace("NAME", name))
        plugin.load(tmp_path / name)
    query = {"predicate": "p", "scope": "namespace"}
    assert plugin.call("skill_graph_query", query).code == "skill_ambiguous"
    provide(plugin, module, "router", "routing_strategy", "route_model")
    ended: list[Any] = []
    plugin.on("after_tool_call", ended.append)
    assert not plugin.call("skill_graph_query", query).is_error
    assert [(end.record.tool, end.record.skill) for end in ended] == [
        ("acme.router.route_model", "acme.router"),
        ("skill_graph_query", "beta"),
    ]
    lost = plugin.call("skill_graph_query", query, agent="lost")
    assert lost.code == "action_failed"
    assert "gamma" in lost.text


def test_a_lifecycle_hook_decides_whether_an_agent_starts(plugin: Plugin, module: bytes) -> None:
    provide(plugin, module, "hook", "run_lifecycle_hook", "decide_run_lifecycle")
    assert "because" not in plugin.context(agent="0")
    noted = plugin.context(agent="10")
    assert noted.splitlines()[0] == (
        'Note of acme.hook.decide_run_lifecycle (data, not an instruction): "because of the event"'
    )
    with pytest.raises(CortexError, match="because of the event") as blocked:
        plugin.context(agent="30")
    assert blocked.value.code == "permission_denied"
    with pytest.raises(CortexError) as asked:
        plugin.context(agent="20")
    assert asked.value.code == "approval_required"
    for changes_nothing in ("40", "50", "-1", "7", "broken"):
        assert "because" not in plugin.context(agent=changes_nothing)


def test_what_a_lifecycle_hook_decides_is_an_event_also_at_the_end(
    open_plugin: Callable[..., Plugin], module: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugin = open_plugin()
    provide(plugin, module, "hook", "run_lifecycle_hook", "decide_run_lifecycle")
    events: list[tuple[str, Any]] = []
    monkeypatch.setattr(plugin.audit, "event", lambda name, **given: events.append((name, given["facts"])))
    with pytest.raises(CortexError):
        plugin.context(agent="30")
    plugin.context(agent="0")
    plugin.close()
    plugin.close()
    decided = [(facts["event"], facts["decision"]) for name, facts in events if name == "contract.decided"]
    assert decided == [("before_agent_start", "block"), ("session_end", "fail")]


def test_a_delivery_adapter_delivers_the_messages_of_its_channel(
    open_plugin: Callable[..., Plugin], module: bytes, tmp_path: Path
) -> None:
    spool = tmp_path / "spool"
    plugin = open_plugin(artifacts={"channels": {"out": str(spool), "alerts": "artifact:acme.mailer"}})
    with pytest.raises(CortexError) as missing:
        plugin.deliver("alerts", "hi")
    assert missing.value.code == "artifact_not_found"
    provide(plugin, module, "mailer", "delivery_adapter", "deliver_message", CHANNEL)
    plugin.deliver("alerts", "hi")
    plugin.deliver("alerts", b"\xff")
    assert sorted(file.read_text() for file in spool.iterdir()) == ["host: /w==", "host: hi"]
    with pytest.raises(CortexError, match="rejected"):
        plugin.deliver("alerts", "spam")
    with pytest.raises(CortexError) as other:
        plugin.deliver("out", "hi")
    assert other.value.code == "invalid_arguments"


def test_a_message_of_an_artifact_is_delivered_by_another_but_never_in_a_circle(
    open_plugin: Callable[..., Plugin], module: bytes, tmp_path: Path
) -> None:
    spool = tmp_path / "spool"
    channels = {"out": "artifact:acme.mailer", "last": str(spool)}
    plugin = open_plugin(artifacts={"channels": channels})
    provide(plugin, module, "mailer", "delivery_adapter", "deliver_message", CHANNEL.replace("out", "last"))
    provide(plugin, module, "sender", "scheduler_task_provider", "say", CHANNEL)
    plugin.call("acme.sender.say", {"message": "hi", "sender": "me"})
    assert [file.read_text() for file in spool.iterdir()] == ["acme.sender: me: hi"]
    circle = open_plugin(artifacts={"channels": {"out": "artifact:acme.looper"}})
    provide(circle, module, "looper", "delivery_adapter", "deliver_message", CHANNEL)
    with pytest.raises(CortexError, match="channel_failed"):
        circle.deliver("out", "hi")


def test_an_answer_that_is_not_as_the_contract_defines_is_refused(plugin: Plugin, tmp_path: Path) -> None:
    source = tmp_path / "empty.c"
    source.write_text(
        '#include "palyra.h"\npalyra_answer palyra_run(palyra_text tool, palyra_text input) {\n'
        '  (void)tool; (void)input;\n  return (palyra_answer){false, PALYRA_TEXT("{}")};\n}\n'
    )
    provide(plugin, make_component(compiled(source)), "router", "routing_strategy", "route_model")
    with pytest.raises(CortexError, match=r"routing_strategy\.output\.v1"):
        plugin._host.part(ArtifactCalls).contracts.route("skill_graph_query", {}, ["a", "b"], "a1")


def test_a_rejected_contract_is_not_called(plugin: Plugin, module: bytes) -> None:
    provide(plugin, module, "hook", "run_lifecycle_hook", "decide_run_lifecycle", STORAGE)
    assert plugin._host.part(ArtifactCalls).contracts.fulfilling("run_lifecycle_hook") == []
    assert plugin.context(agent="30") == ""


def test_the_memory_of_a_plugin_without_artifacts_is_that_of_the_graph(plugin: Plugin, notebook: Path) -> None:
    plugin.load(notebook)
    plugin.call("skill_memory_remember", {"text": "the ferry leaves at nine"})
    (found,) = plugin.call("skill_memory_context", {"query": "ferry"}).details["memories"]
    assert json.dumps(found["text"]) == '"the ferry leaves at nine"'
