"""Every interface gives a caller the same verdict about proofs, and leaves a record of each change that opens."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from cortex_skills import Plugin
from cortex_skills.errors import CortexError
from cortex_skills.features.proofs import proof_operations as proofs
from cortex_skills.operations.caller import Caller, holder_permissions
from cortex_skills.operations.run import run
from tests.configs import config
from tests.plugin.skills import write_skill
from tests.server.proof_cases import Elsewhere
from tests.server.serving import Running, served

_DENIED = "permission_denied"
GRANTED = {"read": ("read",), "write": ("read", "write"), "all": ("read", "write", "provenance")}
FACT = {"subject": "alice", "predicate": "isVerified", "object": True}


@dataclass(frozen=True)
class Setting:
    """A server, and a place where proofs are made elsewhere."""

    running: Running
    elsewhere: Elsewhere

    @property
    def plugin(self) -> Plugin:
        return self.running.plugin

    def token(self, caller: str) -> str:
        holder, _, granted = caller.partition(" ")
        return self.running.token(f"{holder}-{granted}", ("mayros",), GRANTED[granted], holder)  # type: ignore[arg-type]

    def kept(self) -> str:
        """The id of the stored proof, which is made anew where it is gone."""
        document = self.elsewhere.pol()
        taken = self.plugin.operate(proofs.import_, document=document, type="pol")
        return taken.proof.id


@pytest.fixture(scope="module")
def setting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Setting]:
    root = tmp_path_factory.mktemp("proofs")
    write_skill(root / "probe", permissions={"graph": ["read", "write"]}, assertions=[{"predicate": "isVerified"}])
    settings = config(
        audit={"folder": str(root / "audit")},
        proofs={"keys": str(root / "keys")},
        cortex={"tokenFile": str(root / "tokens.json")},
    )
    plugin = Plugin.open(settings)
    plugin.load(root / "probe")
    plugin.call("skill_assert", FACT)
    with served(root, plugin=plugin) as running:
        yield Setting(running, Elsewhere("mayros", tmp_path_factory.mktemp("elsewhere")))


def by_operation(setting: Setting, done: str, caller: str) -> str:
    kept = setting.kept()
    operation, given = {
        "import": (proofs.import_, {"document": setting.elsewhere.credential(), "type": "credential"}),
        "remove": (proofs.remove, {"proof": kept}),
        "show": (proofs.show, {"proof": kept[:12]}),
        "list": (proofs.list_proofs, {"type": "pol"}),
        "verify": (proofs.verify, {"proofs": [kept]}),
    }[done]
    try:
        setting.plugin.operate(operation, **given)  # type: ignore[arg-type]
    except CortexError as error:
        return error.code
    return "ok"


def by_rest(setting: Setting, done: str, caller: str) -> str:
    client, kept = setting.running.client(setting.token(caller)), setting.kept()
    answer: httpx.Response = {
        "import": lambda: client.post(
            "/api/v1/proofs", json={"proof_type": "credential", "proof_data": setting.elsewhere.credential()}
        ),
        "remove": lambda: client.delete(f"/api/v1/proofs/{kept}"),
        "show": lambda: client.get(f"/api/v1/proofs/{kept[:12]}"),
        "list": lambda: client.get("/api/v1/proofs", params={"proof_type": "pol"}),
        "verify": lambda: client.get(f"/api/v1/proofs/{kept}/verify"),
    }[done]()
    return "ok" if answer.is_success else str(answer.json()["code"])


DONE = ("import", "remove", "show", "list", "verify")
# A proof in zero knowledge is asked for by a skill (tests/proofs/zk/test_tools.py); bundles and signatures are tested
# with their commands (tests/proofs/test_cli.py, tests/examples/test_run_proofs.py).
ELSEWHERE = {"proofs.request", "proofs.bundle", "proofs.sign"}


def test_every_operation_is_in_the_table() -> None:
    named = {getattr(each, "name", "") for each in vars(proofs).values()}
    assert {name for name in named if str(name).startswith("proofs.")} == {
        f"proofs.{name}" for name in DONE
    } | ELSEWHERE


@pytest.mark.parametrize("caller", ["owner", "person all", "agent all", "agent write", "person read", "agent read"])
@pytest.mark.parametrize("done", DONE)
def test_every_interface_gives_one_verdict_and_leaves_a_record_that_opens(
    setting: Setting, done: str, caller: str
) -> None:
    holder, _, granted = caller.partition(" ")
    changes = done in ("import", "remove")
    expected = _DENIED if (changes and granted == "read") or (done == "remove" and granted == "write") else "ok"
    does, door = (by_operation, "python") if caller == "owner" else (by_rest, "rest")
    before = setting.plugin.recent_calls.page().calls
    assert does(setting, done, caller) == expected
    after = [each.record for each in setting.plugin.recent_calls.page().calls if each not in before]
    found = [
        each for each in after if each.event == f"proofs.{done}" and each.agent != "" and each.data["door"] == door
    ]
    if not changes or granted == "read":
        assert found == [] or done == "import"  # the address is closed for the token
        return
    record = found[0]
    assert (record.outcome, record.data["kind"]) == (expected, holder)
    opened = setting.plugin.graph.proofs.get(record.data["object"])
    assert (opened is None) == (done == "remove" and expected == "ok")
    if opened is not None:
        assert record.data["after"].startswith("credential, " if done == "import" else "pol, ")


def test_who_asserted_the_statement_removes_a_proof_of_it(setting: Setting) -> None:
    client = setting.running.client(setting.token("agent write"))
    mine = {"subject": "mine", "predicate": "isVerified", "object": True}
    triple_id = client.post("/api/v1/triples", json=mine).json()["id"]
    made = setting.plugin.operate(proofs.sign, assertion=triple_id[:16])
    assert made[0].proves == (triple_id,)
    record = setting.plugin.recent_calls.page(limit=1).calls[0].record
    assert (record.event, record.data["object"]) == ("proofs.sign", triple_id)
    assert (record.data["before"], record.data["after"]) == ("0 proofs", "1 proofs")
    assert client.delete(f"/api/v1/proofs/{made[0].id}").status_code == 200


def test_only_the_owner_signs(setting: Setting) -> None:
    triple_id = setting.plugin.call("skill_assert", FACT).details["tripleHash"]
    for kind in ("person", "agent"):
        caller = Caller("ann", kind, "rest", holder_permissions(["read", "write", "provenance"]))  # type: ignore[arg-type]
        with pytest.raises(CortexError) as refused:
            run(proofs.sign, caller, {"assertion": triple_id}, setting.plugin._host)
        assert refused.value.code == _DENIED


def test_a_batch_shares_one_time_limit_and_records_each_proof(setting: Setting, tmp_path: Path) -> None:
    client = setting.running.client(setting.token("agent all"))
    document: dict[str, Any] = setting.elsewhere.credential()
    given = [{"proof_type": "credential", "proof_data": document}, {"proof_type": "pol", "proof_data": document}]
    answer = client.post("/api/v1/proofs/batch", json={"proofs": given}).json()
    assert (answer["successful_count"], answer["failed_count"]) == (1, 1)
    records = [each.record for each in setting.plugin.recent_calls.page(limit=2).calls]
    assert [(each.event, each.outcome) for each in records] == [
        *(("proofs.import", "invalid_arguments"), ("proofs.import", "ok"))
    ]
    assert "credentialSubject" not in json.dumps([each.to_json() for each in records])


def test_no_caller_names_a_folder_that_is_read_for_a_bundle(setting: Setting, tmp_path: Path) -> None:
    triple_id = setting.plugin.call("skill_assert", FACT).details["tripleHash"]
    for folders in ([str(tmp_path)], (tmp_path,), str(tmp_path)):
        with pytest.raises(CortexError) as refused:
            setting.plugin.operate(proofs.bundle, assertion=triple_id, folders=folders)
        assert (refused.value.code, refused.value.details["errors"][0]["field"]) == ("invalid_arguments", "folders")
