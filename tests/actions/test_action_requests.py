"""Actions that the code of a skill proposes: they wait for a person, and none runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cortex_skills import Plugin
from tests.actions.manifests import manifest
from tests.configs import config
from tests.plugin.skills import write_skill

CODE = """\
export default { name: 'proposer', onQuery: () => ({ actionRequests: %s }) };
"""
SKILL = """\
---
name: proposer
description: Proposes.
type: semantic
semantic:
  version: 1
  permissions: {graph: [read], actions: [%s]}
  queries: [{predicate: hasStatus}]
  allowedTools: ["*"]
---
"""


@pytest.fixture
def proposing(tmp_path: Path) -> Callable[..., Plugin]:
    opened: list[Plugin] = []

    def open_with(requests: str, *, permission: str = "request", level: str = "bounded_auto") -> Plugin:
        skill = write_skill(tmp_path / "proposer", CODE % requests)
        (skill / "SKILL.md").write_text(SKILL % permission)
        plugin = Plugin.open(config(actions={"trustLevel": level}, verification={"autoScan": False}))
        opened.append(plugin)
        plugin.load(tmp_path / "proposer")
        plugin.actions.register(manifest(minTrustLevel="suggest"), lambda _: ran.append(1) or {"lines": 1})
        return plugin

    ran: list[int] = []
    yield open_with
    for plugin in opened:
        plugin.close()
    assert ran == []


def proposals(plugin: Plugin) -> list[dict[str, Any]]:
    result = plugin.call("skill_graph_query", {"scope": "namespace"}, agent="a1")
    assert result.code is None, result.text
    return result.details.get("actionRequests", [])


ONE = "{ action: 'count_lines', inputs: { text: 'a' } }"


def test_a_proposed_action_waits_though_the_trust_level_would_let_it_run(proposing) -> None:
    plugin = proposing(f"[{ONE}]")
    (proposed,) = proposals(plugin)
    (waiting,) = plugin.approvals.list("pending").records
    assert proposed == {"action": "count_lines", "status": "pending_approval", "approval": waiting.id}
    assert (waiting.request.skill, waiting.request.agent) == ("proposer", "a1")
    assert waiting.request.reason == "the skill proposer proposes it"


def test_at_most_five_are_kept(proposing) -> None:
    plugin = proposing("Array.from({ length: 9 }, (_, i) => ({ action: 'count_lines', inputs: { text: `${i}` } }))")
    assert len(proposals(plugin)) == 5
    assert len(plugin.approvals.list("pending").records) == 5


@pytest.mark.parametrize(
    ("requests", "settings", "code"),
    [
        (f"[{ONE}]", {"permission": ""}, "permission_denied"),
        (f"[{ONE}]", {"level": "observe"}, "trust_level_too_low"),
        ("[{ action: 'nothing', inputs: {} }]", {}, "tool_not_found"),
        ("[{ action: 'skill_assert', inputs: {} }]", {}, "tool_not_found"),
        ("[{ action: 'count_lines', inputs: { text: 3 } }]", {}, "invalid_arguments"),
        ("[{ action: 'count_lines' }]", {}, "invalid_arguments"),
        ("[{ action: 'count_lines', inputs: { text: 'a' }, approved: true }]", {}, "invalid_arguments"),
        ("[null]", {}, "invalid_arguments"),
        ("['count_lines']", {}, "invalid_arguments"),
    ],
)
def test_a_proposal_that_is_refused(proposing, requests: str, settings: dict[str, str], code: str) -> None:
    plugin = proposing(requests, **settings)
    (proposed,) = proposals(plugin)
    assert (proposed["status"], proposed["code"]) == ("refused", code)
    assert plugin.approvals.list("pending").records == ()


def test_what_is_no_list_is_not_read(proposing) -> None:
    assert proposals(proposing("'count_lines'")) == []
