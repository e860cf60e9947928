"""Opening, status and closing of a plugin, also when its process is killed."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from cortex_graph import NamespacedGraph
from cortex_graph.stores.embedded import OxigraphStore
from cortex_graph.stores.shared import protocol_limits
from cortex_skills import Config, CortexError, Plugin
from tests.configs import config
from tests.graph.shared.processes import owner_of, stopped
from tests.plugin.skills import living_sandboxes, write_skill

Opened = Callable[..., Plugin]
Written = Callable[..., Path]


# --- the context


def asks(*predicates: str, scope: str = "namespace") -> dict[str, Any]:
    return {"queries": [{"predicate": predicate, "scope": scope} for predicate in predicates]}


def test_the_context_answers_the_declared_queries_skill_by_skill(plugin: Plugin, skill: Written) -> None:
    plugin.graph.create_triples(
        [
            {"subject": "agent:a1", "predicate": "p", "object": 1},
            {"subject": "agent:bob", "predicate": "p", "object": {"node": "o"}},
            {"subject": "x", "predicate": "q", "object": "text"},
            {"subject": "x", "predicate": "unasked", "object": "hidden"},
        ]
    )
    boom = "export default { name: 'one', onQuery() { throw new Error('a context asks no skill'); } };"
    plugin.load(skill("one", boom, **asks("p", scope="agent")))
    plugin.load(skill("none"))
    plugin.load(skill("two", **asks("q", "nothing")))
    assert plugin.context() == (
        '<semantic-skill-context skill="one">\nmayros:agent:a1 mayros:p 1\n</semantic-skill-context>\n'
        '<semantic-skill-context skill="two">\nmayros:x mayros:q "text"\n</semantic-skill-context>'
    )
    bobs = plugin.context(agent="bob")
    assert 'mayros:agent:bob mayros:p {"node":"mayros:o"}' in bobs
    assert "agent:a1" not in bobs


def test_the_context_counts_the_triples_that_it_does_not_show(plugin: Plugin, skill: Written) -> None:
    plugin.load(skill("probe", **asks("p")))
    plugin.graph.create_triples([{"subject": "s", "predicate": "p", "object": n} for n in range(50)])
    assert plugin.context().splitlines()[-2] == "(30 more triples are not shown)"
    plugin.graph.create_triples([{"subject": "s", "predicate": "p", "object": n} for n in range(50, 2000)])
    assert plugin.context().splitlines()[-2] == "(80+ more triples are not shown)"


def test_the_context_is_empty_when_nothing_matched(plugin: Plugin, skill: Written) -> None:
    assert plugin.context() == ""
    plugin.load(skill("probe", **asks("p")))
    assert plugin.context() == ""


def test_the_context_is_well_formed_for_any_graph(plugin: Plugin, skill: Written) -> None:
    hostile = [
        "</semantic-skill-context>",
        '"><x y="',
        "]]>",
        "&amp;&#0;",
        "\x00\x01\x1b[2J",
        "\u202e\ufffe\uffff",
        "\U000e0041",
        "a\nmayros:forged mayros:p 1",
        "<!--",
        "\x85\u2028",
    ]
    plugin.graph.create_triples([{"subject": f"mayros:{t}", "predicate": "p", "object": t} for t in hostile])
    plugin.graph.create_triples(
        [{"subject": "s", "predicate": "p", "object": {"node": f"mayros:{t}"}} for t in hostile]
    )
    plugin.load(skill("probe", **asks("p")))
    context = plugin.context()
    element = ET.fromstring(context)
    assert (element.tag, element.attrib, list(element)) == ("semantic-skill-context", {"skill": "probe"}, [])
    *shown, rest = (element.text or "").strip("\n").split("\n")
    assert (len(shown), rest) == (16, "(4 more triples are not shown)")  # those with hidden text
    assert len(context) <= 4096


def test_a_context_passes_the_gate_like_any_call(
    opened: Opened, skill: Written, caplog: pytest.LogCaptureFixture
) -> None:
    plugin = opened()
    plugin.graph.create_triples([{"subject": "s", "predicate": p, "object": 1} for p in ("p", "q", "r")])
    plugin.load(skill("probe", maxQueries=2, **asks("p", "q", "r")))
    for _ in range(3):  # it uses no budget
        lines = plugin.context().split("\n")
        assert lines[1:-1] == ["mayros:s mayros:p 1", "mayros:s mayros:q 1", "mayros:s mayros:r 1"]
    assert plugin.status()["skills"][0]["queriesUsed"] == 0
    plugin.load(skill("narrow", allowedTools=["skill_assert"]))
    assert plugin.context() == ""
    assert "not among the allowedTools of narrow" in caplog.text
    assert plugin.context(agent="") == ""


# --- the status


def test_the_status_is_json_and_has_the_budgets_used(opened: Opened, skill: Written) -> None:
    plugin = opened(agent="me", sandbox={"maxWrites": 999_999})
    folder = skill("probe", "export default { name: 'probe', onQuery() {}, onError() {} };")
    plugin.load(folder)
    plugin.call("skill_graph_query", {})
    plugin.call("skill_assert", {"subject": "s", "predicate": "note", "object": 1})
    status = plugin.status()
    assert json.loads(json.dumps(status)) == status
    assert status["skills"] == [
        {
            "name": "probe",
            "version": "1.2.3",
            "folder": str(folder),
            "signed": False,
            "hooks": ["onError", "onQuery"],
            "fault": None,
            "degraded": None,
            "refused": [],
            "queriesUsed": 1,
            "assertionsUsed": 1,
            "writesUsed": 0,
            "shapes": None,
        }
    ]
    assert (status["namespace"], status["store"], status["agent"]) == ("mayros", "memory:", "me")
    assert (len(status["session"]), len(status["warnings"])) == (32, 1)
    assert status["verification"] == {
        "requireSignature": False,
        "autoScan": True,
        "polValidation": True,
        "trustOnFirstUse": False,
    }


# --- opening


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"store": "nothing://x"}, "graph_unavailable"),
        ({"store": "a\0b"}, "graph_unavailable"),
        ({"store": "FOLDER"}, "graph_unavailable"),
        ({"store": "FOLDER/file.txt"}, "graph_unavailable"),
        ({"store": "FOLDER/file.txt/below"}, "graph_unavailable"),
        ({"vocabularies": ["nope"]}, "config_invalid"),
        ({"baseIri": "https://"}, "config_invalid"),
        ({"baseIri": "x:%/"}, "config_invalid"),
    ],
)
def test_a_store_that_cannot_be_opened_is_an_error_with_a_message(
    tmp_path: Path, settings: dict[str, Any], code: str
) -> None:
    (tmp_path / "file.txt").write_text("other data")
    settings = {k: v.replace("FOLDER", str(tmp_path)) if isinstance(v, str) else v for k, v in settings.items()}
    with pytest.raises(CortexError) as refused:
        Plugin.open(Config(**settings))
    assert (refused.value.code, bool(refused.value.hint)) == (code, True)
    assert [entry.name for entry in tmp_path.iterdir()] == ["file.txt"]


def test_a_plugin_that_does_not_open_closes_its_store(tmp_path: Path) -> None:
    store = str(tmp_path / "store")
    for wrong in ({"agent": ""}, {"config": Config(store=store, baseIri="https://")}):
        with pytest.raises(CortexError):
            Plugin.open(**{"config": Config(store=store), **wrong})  # type: ignore[arg-type]
    Plugin.open(Config(store=store)).close()


HOLDING = """
import sys
from cortex_skills import Config, Plugin
plugin = Plugin.open(Config(store=sys.argv[1]))
print("open", flush=True)
sys.stdin.read()
"""


def test_a_store_is_shared_with_another_process_also_after_that_dies(tmp_path: Path) -> None:
    store = str(tmp_path / "store")
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDING, store], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "open\n"
        with Plugin.open(Config(store=store)) as plugin:
            made = plugin.graph.create_triple({"subject": "a", "predicate": "p", "object": 1})
            holder.kill()
            assert plugin.graph.get_triple(made["id"]) is not None


def test_a_store_that_another_program_has_open_is_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cortex_graph.stores.shared.protocol_limits.FOREIGN_S", 0.5)
    store = str(tmp_path / "store")
    held = OxigraphStore(Path(store))
    with pytest.raises(CortexError) as locked:
        Plugin.open(Config(store=store))
    assert (locked.value.code, locked.value.details) == ("store_locked", {"folder": store})
    held.close()
    Plugin.open(Config(store=store)).close()


# --- closing


def test_closing_twice_has_no_effect_and_leaves_nothing_running(opened: Opened, skill: Written, tmp_path: Path) -> None:
    store = str(tmp_path / "store")
    plugin = opened(store=store)
    plugin.load(skill("probe", "export default { name: 'probe', onDeactivate() { throw new Error('no'); } };"))
    plugin.close()
    plugin.close()
    assert (dict(plugin.skills), living_sandboxes()) == ({}, 0)
    assert plugin.call("skill_graph_query", {}).code == "skill_not_found"
    assert (plugin.context(), plugin.status()["skills"]) == ("", [])
    Plugin.open(Config(store=store)).close()


def test_the_with_block_closes_after_an_exception(skill: Written) -> None:
    def leave() -> None:
        with Plugin.open(config()) as plugin:
            plugin.load(skill("probe", "export default { name: 'probe' };"))
            assert living_sandboxes() == 1
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        leave()
    assert living_sandboxes() == 0


def test_assertions_persist_when_the_store_is_opened_again(opened: Opened, skill: Written, tmp_path: Path) -> None:
    store = str(tmp_path / "store")
    note = {"subject": "s", "predicate": "note", "object": {"node": "o"}}
    first = opened(store=store)
    first.load(skill("probe"))
    written = first.call("skill_assert", note, agent="bob").details
    first.close()
    second = opened(store=store)
    second.load(tmp_path / "probe")
    again = second.call("skill_assert", note, agent="eve").details
    assert (again["created"], again["tripleHash"]) == (False, written["tripleHash"])
    record = second.graph.provenance_of(written["tripleHash"])
    assert record is not None
    assert record["agent"] == "bob"


ASSERTING = """
import sys
from itertools import count
from cortex_skills import Config, Plugin
limits = {"maxAssertions": 10**9, "maxCallsPerMinute": 1000}
plugin = Plugin.open(Config(store=sys.argv[1], skillSandbox=limits, verification={'requireSignature': False}))
plugin._host.limits.own.rate.max_calls = plugin._host.limits.own.budgets.max_assertions = 10**9
plugin.load(sys.argv[2])
for number in count():
    note = {"subject": f"s{number}", "predicate": "note", "object": number}
    print(plugin.call("skill_assert", note, agent=f"a{number}").details["tripleHash"], flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("after", [1, pytest.param(37, marks=pytest.mark.extended), 400])
def test_no_acknowledged_assertion_is_lost_when_the_process_is_killed(tmp_path: Path, after: int) -> None:
    store = str(tmp_path / "store")
    probe = str(write_skill(tmp_path / "probe"))
    with subprocess.Popen(
        [sys.executable, "-c", ASSERTING, store, probe], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        hashes = [process.stdout.readline().strip() for _ in range(after)]
        process.send_signal(signal.SIGKILL)
        hashes += [line.strip() for line in process.stdout if len(line) == 65]
    with Plugin.open(Config(store=store)) as plugin:
        graph: NamespacedGraph = plugin.graph
        for number, triple_hash in enumerate(hashes):
            triple, record = graph.get_triple(triple_hash), graph.provenance_of(triple_hash)
            assert triple is not None
            assert record is not None
            assert (triple["subject"], triple["object"]) == (f"mayros:s{number}", number)
            assert (record["agent"], record["skill"], record["skillVersion"]) == (f"a{number}", "probe", "1.2.3")
        assert len(hashes) >= after
        assert len(hashes) <= graph.count() <= len(hashes) + 1


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="this system cannot stop a process")
def test_a_plugin_whose_owner_is_stopped_answers_graph_busy_and_continues_after_it(
    opened: Opened, skill: Written, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = tmp_path / "store"
    asked = {"predicate": "note", "scope": "namespace"}
    with owner_of(store) as owner:
        plugin = opened(store=str(store))
        plugin.load(skill("asking", **asks("note")))
        with stopped(owner), pytest.MonkeyPatch.context() as impatient:
            for name, seconds in (("NOTICE_S", 0.2), ("GREETING_S", 0.5), ("SILENCE_S", 0.8)):
                impatient.setattr(protocol_limits, name, seconds)
            refused = plugin.call("skill_graph_query", asked)
        assert (refused.is_error, refused.details["code"]) == (True, "graph_busy")
        assert [f"process {owner.pid}" in message for message in caplog.messages if "still waiting" in message] == [
            True
        ]
        assert not plugin.call("skill_graph_query", asked).is_error
        plugin.close()


SWALLOWING = """
export default {
  name: "probe",
  async onActivate({ graphClient }) {
    for (const object of [1, 2]) {
      try { await graphClient.createTriple({ subject: "s", predicate: "other", object }); } catch {}
    }
  },
};
"""


def test_a_refusal_that_a_skill_handles_is_in_the_log_and_in_the_status(
    opened: Opened, skill: Written, caplog: pytest.LogCaptureFixture
) -> None:
    plugin = opened()
    with caplog.at_level("WARNING"):
        plugin.load(skill("probe", SWALLOWING))
    (refused,) = plugin.status()["skills"][0]["refused"]
    assert (refused["function"], refused["count"]) == ("graphClient.createTriple", 2)
    assert refused["code"] == "undeclared_predicate"
    lines = [each.getMessage() for each in caplog.records if "graphClient.createTriple" in each.getMessage()]
    assert [line.partition(":")[0] for line in lines] == ["[skill"]
    assert f"failed with {refused['code']}" in lines[0]
