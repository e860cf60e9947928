"""A server with everything that the REST API shows, and a request for each operation that succeeds there.

Rules kept here:
- each call of `requests` makes the things anew that its requests name, so that what one test deletes or decides is
  there in the next one;
- an operation that is not listed succeeds without parameters.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from cortex_skills.features.actions.rule_operations import end_rule, list_rules
from cortex_skills.features.memory.requests import new_memory
from cortex_skills.signatures import Publisher, TrustFile
from cortex_skills.tokens import PERMISSIONS
from tests.actions.manifests import manifest
from tests.approvals.approver import opened
from tests.approvals.test_desk import asked
from tests.artifacts.samples import KEY
from tests.installed.samples import artifact, install
from tests.server.proof_cases import Elsewhere, submit
from tests.server.serving import Running, served

SKILL = "---\nname: {name}\ndescription: Fetches data.\n---\n1. **Read it** — use fs_read\n"
TRIPLE = {"subject": "hammer", "predicate": "inStock", "object": 3}
TOKEN = "of-all"  # its holder is the agent of its memories
ARTIFACT = "acme.echo_http"
NOTE = manifest(
    id="note_path",
    category="fs",
    risk="medium",
    inputs={"path": {"type": "string", "required": True, "schema": {"format": "workspace-path"}}},
    allowedDirectories=["out"],
    limits={"perMinute": 1000},
)
_NUMBERS = itertools.count()
_KNOWN = 0.8  # of the values in generated cases

QUERY = {"name": "all", "query": "SELECT * { ?s ?p ?o }"}


class EveryRight:
    """A server whose one client has every permission.

    Attributes:
        client: the client.
        known: requests that succeed, when generated ones are sent.

    """

    def __init__(self, running: Running, folder: Path) -> None:
        self.running, self._folder = running, folder
        self.token = running.token(TOKEN, permissions=PERMISSIONS, holder="person")
        self.client: httpx.Client = running.client(self.token)
        self.known: dict[str, dict[str, Any]] = {}
        self._approval = self._sandbox = "0"
        self._proof = Elsewhere("mayros", folder).zk("schnorr")

    @staticmethod
    def _event(number: int) -> dict[str, Any]:
        return {"id": f"e{number}", "type": "decision", "agentId": "a1", "timestamp": "2026-01-31T12:00:00Z"}

    def requests(self) -> dict[str, dict[str, Any]]:
        """The parts of a request that succeeds, by the `operationId`: `path_parameters`, `query`, `body`."""
        number = next(_NUMBERS)
        name, other = f"fetch-{number}", f"spare-{number}"
        version = self._made("/api/v1/skill/register", {"inline_skill": SKILL.format(name=name)})
        self._made("/api/v1/skill/register", {"inline_skill": SKILL.format(name=other)})
        memory = self._made("/api/v1/memory/remember", {"entry_type": "fact", "data": f"It rained {number} times."})
        plugin = self.running.plugin
        reflection, _ = plugin.memories.reflect(new_memory(f"Rain {number} is likely."), [memory], agent=TOKEN)
        learned = {"name": f"learned-{number}", "description": "Takes an umbrella."}
        promoted = self.client.post(f"/api/v1/skill/{reflection.id}/promote", json=learned).json()["skill_id"]
        approval = self._pending(number)
        ruled, rule = self._ruled()
        self._install()
        triple = {**TRIPLE, "object": number}
        triple_id = self._made("/api/v1/triples", triple)
        self._made("/api/v1/triples", {"subject": "alice", "predicate": "isVerified", "object": True})
        self._made("/api/v1/triples", {"subject": f"carol-{number}", "predicate": "knows", "object": "bob"})
        proof = submit(self.client, "schnorr", self._proof).json()["id"]
        new_proof = {"proof_type": "schnorr", "proof_data": self._proof}
        self.client.delete(f"/api/v1/skills/sandbox/{self._sandbox}")
        sandbox = self._sandbox = self._made("/api/v1/skills/sandbox", {"namespace": f"mayros:skill:x{number}"})
        self.client.post("/api/v1/events", json={"events": [self._event(number)]})
        call = self.client.get("/api/v1/audit", params={"limit": 1}).json()[0]["id"]
        of_version, named = {"path_parameters": {"id": version}}, {"query": {"name": name}}
        of_artifact = {"path_parameters": {"id": ARTIFACT}}
        self.client.post("/api/v1/graph/queries", json=QUERY).raise_for_status()
        return {
            "createTriple": {"body": triple},
            "createTriples": {"body": {"triples": [triple]}},
            "getTriple": {"path_parameters": {"id": triple_id}},
            "deleteTriple": {"path_parameters": {"id": triple_id}},
            "changeTriples": {"body": {"insert": {"triples": [triple]}}},
            "spellObjects": {"body": {"objects": [1.5, {"node": "shelf"}]}},
            "queryPattern": {"body": {"subject": "hammer"}},
            "getNeighbourhood": {"query": {"name": "hammer"}},
            "getFound": {"query": {"q": "ham"}},
            "graphFind": {"query": {"text": "ham"}},
            "graphDescribe": {"query": {"name": "hammer"}},
            "graphSparql": {"body": {"query": "SELECT * { ?s ?p ?o }"}},
            "graphDifference": {"query": {"since": "24h"}},
            "graphSaveQuery": {"body": QUERY},
            "graphRunQuery": {"path_parameters": {"name": QUERY["name"]}, "body": {}},
            "graphForgetQuery": {"path_parameters": {"name": QUERY["name"]}},
            "verifyProof": {"path_parameters": {"id": proof}},
            "verifyHash": {"body": {"proof_hash": proof}},
            "verifyProofs": {"body": {"proof_ids": [proof]}},
            "validateTriples": {"body": {"triples": [triple]}},
            "graphConsistency": {"path_parameters": {"id": TOKEN}},
            "verifyAssertions": {"body": {"assertions": [{"subject": "alice", "predicate": "isVerified"}]}},
            "submitProof": {"body": new_proof},
            "submitProofs": {"body": {"proofs": [new_proof]}},
            "getProof": {"path_parameters": {"id": proof}},
            "deleteProof": {"path_parameters": {"id": proof}},
            "validateSkill": {"body": {"manifest": SKILL.format(name="one")}},
            "createSandbox": {"body": {"namespace": "mayros:skill:y"}},
            "deleteSandbox": {"path_parameters": {"id": sandbox}},
            "getCall": {"path_parameters": {"id": call}},
            "recordEvents": {"body": {"events": [self._event(number)]}},
            "getDagHistory": {"query": {"subject": "hammer"}},
            "getDagChain": {"query": {"author": TOKEN}},
            "getEventChain": {"path_parameters": {"id": f"e{number}"}},
            "getEvent": {"path_parameters": {"id": call}},
            "registerSkill": {"body": {"inline_skill": SKILL.format(name=name)}},
            "getSkillVersion": of_version,
            "getSkillResource": {
                "path_parameters": {"id": promoted},
                "query": {"path": "references/source_0.md"},
            },
            "exportSkillVersion": {**of_version, "body": {"target_folder": f"to-{number}"}},
            "storeSkill": {"body": {"name": name, "content": "Read it again.\n"}},
            "deleteSkills": {"query": {"name": other}},
            "findSkills": {"query": {"query": "fetch"}},
            "getSkillDetail": named,
            "graphCorrect": {
                "path_parameters": {"triple": self._made("/api/v1/triples", {**TRIPLE, "object": -number - 1})},
                "body": {"object": -number - 2.5},
            },
            "graphCheckChange": {"body": {"subject": "alice", "predicate": "knows", "object": {"node": "bob"}}},
            "graphSuggestValues": {"query": {"predicate": "knows"}},
            "graphMerge": {"body": {"merged": f"carol-{number}", "kept": "bob"}},
            "graphPreviewMerge": {"body": {"merged": "alice", "kept": "bob"}},
            "mergeSkills": {"body": {"target": name, "source": other}},
            "deprecateSkill": {"body": {"name": name, "reason": "It is old."}},
            "previewSkillChange": {"body": {"change": "delete", "names": [name]}},
            "previewSkill": {"body": {"name": name, "content": "Read it twice.\n"}},
            "promoteSkill": {"body": {"name": learned["name"], "unmeasured": True}},
            "trustSkill": {"body": {"name": name, "tier": 2}},
            "exportSkill": {"body": {"name": name}},
            "getSkillDependencies": named,
            "getSkillHealth": named,
            "getSkillHistory": named,
            "getSkillDifference": {"query": {"name": name, "old": 1, "new": 1}},
            "promoteReflection": {
                "path_parameters": {"id": reflection.id},
                "body": {"name": f"take-{number}", "description": "Takes one."},
            },
            "composeSkill": of_version,
            "rememberEntry": {"body": {"entry_type": "fact", "data": "It snowed."}},
            "recallEntries": {"body": {"text": "rain"}},
            "reflectOnEntries": {"body": {"text": "Snow is likely.", "reflects_on": [memory]}},
            "memorySearch": {"query": {"text": "rain"}},
            "memoryShow": {"path_parameters": {"id": memory}},
            "memoryCorrect": {"path_parameters": {"id": memory}, "body": {"importance": 0.9, "memoriesOf": TOKEN}},
            "forgetEntry": {"path_parameters": {"id": memory}},
            "setTrustLevel": {"body": {"level": "supervised_auto"}},
            "actionsDescribe": {"path_parameters": {"action": "append_line"}},
            "getApproval": {"path_parameters": {"id": approval}},
            "approveRequest": {"path_parameters": {"id": approval}},
            "rejectRequest": {"path_parameters": {"id": approval}},
            "editApproval": {"path_parameters": {"id": approval}, "body": {"inputs": {"text": f"edited {number}"}}},
            "previewEditedApproval": {"path_parameters": {"id": approval}, "body": {"inputs": {"text": f"e {number}"}}},
            "approvalsRuleAdd": {"body": ruled},
            "approvalsRulePreview": {"body": ruled},
            "approvalsRuleEnd": {"path_parameters": {"rule": rule}},
            "artifactsShow": of_artifact,
            "artifactsDescribe": of_artifact,
            "artifactsQuarantine": {**of_artifact, "body": {"version": "1.2.0", "reason": "It is odd."}},
            "artifactsEnable": {**of_artifact, "body": {"version": "1.2.0"}},
        }

    def _made(self, path: str, body: dict[str, Any]) -> str:
        answer = self.client.post(path, json=body)
        assert answer.is_success, answer.text
        made: str = answer.json()["id"]
        return made

    def _pending(self, number: int) -> str:
        """A request that waits; agents may make only some in a minute."""
        desk = self.running.plugin.approvals
        if self._approval == "0" or desk.state_of(desk.show(self._approval)) != "pending":
            self._approval = asked(self.running.plugin, f"line {number}")
        return self._approval

    def _ruled(self) -> tuple[dict[str, Any], str]:
        """What makes a rule of a request that waits, and the only rule that holds, made again where it ended."""
        plugin = self.running.plugin
        plugin.trust.set("supervised_auto", actor="owner")
        holding = [each["id"] for each in plugin.operate(list_rules)["rules"] if each["state"] == "holds"]
        waiting = [each.id for each in plugin.approvals.list("pending").records if each.request.action == NOTE["id"]]
        if not waiting:
            for each in holding:
                plugin.operate(end_rule, rule=each)
            holding = []
            waiting = [str(plugin.call(NOTE["id"], {"path": "out/note.md"}, agent="a1").details["approval"])]
        for each in holding[1:]:
            plugin.operate(end_rule, rule=each)
        ruled = {"approval": waiting[0], "folder": "out", "ends": f"{datetime.now(UTC) + timedelta(2):%Y-%m-%d}"}
        return ruled, holding[0] if holding else self._made("/api/v1/approval-rules", ruled)

    def _install(self) -> None:
        installed = self.running.plugin.installed
        if not installed.list():
            install(installed, artifact())
        installed.enable(ARTIFACT, "1.2.0", actor="test", override=True, reason="the next test")


def mix(case: Any, request: Mapping[str, Any]) -> None:
    """Put values of a request that succeeds into a generated valid case, so that it often meets what is there."""
    chosen = random.Random(repr((case.path_parameters, case.query, case.body)))
    namespace = {"namespace": "mayros"} if "namespace" in case.query else {}
    for part in ("path_parameters", "query", "body"):
        given, known = getattr(case, part), {**request.get(part, {}), **(namespace if part == "query" else {})}
        if isinstance(given, dict):
            given.update({name: known[name] for name in given.keys() & known.keys() if chosen.random() < _KNOWN})


@contextmanager
def every_right(folder: Path, skill: Path) -> Iterator[EveryRight]:
    """Serve everything.

    Args:
        folder: an empty folder.
        skill: the folder of a skill that allows every tool.

    """
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("XDG_DATA_HOME", str(folder / "data"))
        environment.setenv("XDG_CONFIG_HOME", str(folder / "config"))
        trusted = TrustFile(folder / "data/cortex-skills/trust.json", folder / "config/cortex-skills/trust.key")
        publisher = Publisher("acme", KEY.did, "listed", "2026-01-01T00:00:00Z")
        trusted.change(lambda known: known.with_publisher(publisher))
        for name in ("in", "out", "human", "work"):
            (folder / name).mkdir()
        plugin = opened(
            "memory:",
            skill,
            folder / "lines",
            cortex={"tokenFile": str(folder / "tokens.json")},
            artifacts={"folder": str(folder / "artifacts")},
            actions={"workspace": str(folder / "work")},
            approvals={"rules": True},
            registry={
                "importRoot": str(folder / "in"),
                "exportRoot": str(folder / "out"),
                "folders": [str(folder / "human")],
            },
        )
        plugin.actions.register(NOTE, lambda _: {"lines": 1})
        with served(folder, plugin=plugin) as running:
            yield EveryRight(running, folder)
