"""Every interface gives a caller the same verdict about an installed artifact, and leaves one record of its change."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cortex_skills import Plugin
from cortex_skills.audit.journal_files import day_files
from cortex_skills.doors.cli.app import program
from cortex_skills.doors.cli.options import user_name
from cortex_skills.errors import CortexError
from cortex_skills.features.artifacts import artifact_operations
from cortex_skills.features.artifacts.artifact_operations import AskedGrants
from cortex_skills.features.artifacts.installed.installation import InstallOptions
from cortex_skills.operations.operation import OPERATIONS
from cortex_skills.signatures import Publisher
from cortex_skills.signatures.trust_file import trust_of
from tests.artifacts.samples import KEY
from tests.configs import config
from tests.explorer.http.browsing import CLICKED, signed_in, submitted
from tests.installed.samples import ALL, artifact
from tests.server.serving import Running, served

NUMBERS = itertools.count()
SECRET = "password=Aa1!Bb2@Cc3#Dd4$"


@dataclass(frozen=True)
class Setting:
    running: Running
    folder: Path
    yaml: Path

    @property
    def plugin(self) -> Plugin:
        return self.running.plugin

    def token(self, holder: str, permissions: tuple[str, ...]) -> str:
        return self.running.token(f"{holder}-{'-'.join(permissions)}", ("mayros",), permissions, holder)  # type: ignore[arg-type]

    def records(self, event: str) -> list[dict[str, Any]]:
        lines = [json.loads(line) for file in day_files(self.folder) for line in file.read_text().splitlines()]
        return [line for line in lines if line["event"] == event]


@pytest.fixture(scope="module")
def setting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Setting]:
    root = tmp_path_factory.mktemp("artifacts")
    settings: dict[str, Any] = {
        "artifacts": {"folder": str(root / "artifacts")},
        "audit": {"folder": str(root / "journal"), "journal": "on"},
        "verification": {"trustStore": str(root / "trust.json")},
        "cortex": {"tokenFile": str(root / "tokens.json")},
    }
    plugin = Plugin.open(config(**settings))
    listed = Publisher("acme", KEY.did, "listed", "2026-01-01T00:00:00Z")
    trust_of(plugin.config).change(lambda known: known.with_publisher(listed))
    (root / "cortex.yaml").write_text(json.dumps({**settings, "store": str(root / "store")}))
    with served(root, plugin=plugin) as running:
        yield Setting(running, root / "journal", root / "cortex.yaml")


def given(operation: str, id_: str) -> dict[str, Any]:
    more: dict[str, dict[str, Any]] = {
        "quarantine": {"reason": SECRET},
        "enable": {"override": True, "reason": "looked at it"},
        "disable": {"reason": "later"},
    }
    return {"id": id_, "version": "1.2.0", **more.get(operation, {})}


def by_python(setting: Setting, operation: str, id_: str, _: str) -> str:
    try:
        setting.plugin.operate(OPERATIONS[f"artifacts.{operation}"], by="ada", **given(operation, id_))
    except CortexError as error:
        return error.code
    return "ok"


def by_rest(setting: Setting, operation: str, id_: str, token: str) -> str:
    body = given(operation, id_)
    answer = setting.running.client(token).post(f"/api/v1/artifacts/{body.pop('id')}/{operation}", json=body)
    return "ok" if answer.status_code == 200 else str(answer.json()["code"])


def by_page(setting: Setting, operation: str, id_: str, token: str) -> str:
    browser, path = signed_in(setting.running, token), f"/explore/artifacts/{id_}"
    page = browser.get(path, headers=CLICKED).text
    shown = re.search(rf'value="{operation}"><input type="hidden" name="form" value="([^"]*)"', page)
    fields = {"action": operation, "form": shown[1] if shown else "0" * 64, "token": token, "version": "1.2.0"}
    fields |= {"reason": given(operation, id_)["reason"]} | ({"override": "yes"} if operation == "enable" else {})
    answer = submitted(browser, path, fields)
    stated = re.search(r"<code>([a-z_]+)</code> · request", answer.text)
    return "ok" if answer.status_code == 303 else stated[1] if stated else str(answer.status_code)


DOORS: dict[str, Callable[[Setting, str, str, str], str]] = {"python": by_python, "rest": by_rest, "page": by_page}
REACHED = {
    "quarantine": ("python", "rest", "page"),
    "enable": ("python", "rest", "page"),
    "disable": ("python",),
    "remove": ("python",),
    "audit": ("python",),
}
# Bytes and answers: a command, a host, and the page of `tests/explorer/http/test_install_page.py` have them.
ELSEWHERE = {"install"}
OF_INDEXES = {"offers", "download"}  # on a page alone: commands fetch any index, as the owner
READS = {"list", "show", "describe", "check", "examine", "indexes"}
CALLERS = {
    "owner": ("python",),
    "person approve": ("rest", "page"),
    "person read": ("rest", "page"),
    "agent approve": ("rest", "page"),
}


def expected(operation: str, caller: str) -> str:
    if caller == "person read" or (caller == "agent approve" and operation == "enable"):
        return "permission_denied"
    return "ok"


def installed(setting: Setting, name: str = "") -> str:
    """Install an artifact; returns its id."""
    name = name or f"tool_{next(NUMBERS)}"
    setting.plugin.operate(
        OPERATIONS["artifacts.install"], by="ada", data=artifact(name=name), options=InstallOptions(),
        answers=AskedGrants(ALL),
    )  # fmt: skip
    return f"acme.{name}"


def test_every_operation_is_here_or_named_elsewhere() -> None:
    of_artifacts = {name.partition(".")[2] for name in OPERATIONS if name.startswith("artifacts.")}
    assert of_artifacts == REACHED.keys() | ELSEWHERE | OF_INDEXES | READS
    changes = {name for name, each in OPERATIONS.items() if name.startswith("artifacts.") and each.effect == "changes"}
    assert changes == {f"artifacts.{name}" for name in REACHED.keys() | ELSEWHERE | OF_INDEXES}


@pytest.mark.parametrize("caller", CALLERS)
@pytest.mark.parametrize("operation", REACHED)
def test_every_interface_gives_one_verdict_and_leaves_one_record_of_the_object(
    setting: Setting, operation: str, caller: str
) -> None:
    holder, _, permission = caller.partition(" ")
    token = (
        "" if holder == "owner" else setting.token(holder, ("read",) if permission == "read" else ("read", "approve"))
    )
    for door in set(CALLERS[caller]) & set(REACHED[operation]):
        id_ = installed(setting)
        if operation == "enable":
            setting.plugin.installed.quarantine(id_, "1.2.0", actor="ada", reason="odd")
        key, before = setting.plugin.installed.find(id_).key, len(setting.records(f"artifacts.{operation}"))
        verdict = DOORS[door](setting, operation, id_, token)
        assert (door, verdict) == (door, expected(operation, caller))
        records = setting.records(f"artifacts.{operation}")[before:]
        if caller == "person read":
            assert records == []  # the address and the page are closed for the token: nothing was asked for
            continue
        (record,) = records
        data = record["details"]["data"]
        assert (record["details"]["code"] or "ok", data["object"]) == (verdict, id_)
        assert (data["door"], data["kind"]) == (door, holder)
        state = "quarantined" if operation == "enable" else "active"
        assert data["before"] == f"1.2.0 {state} (current)"
        now = setting.plugin.installed.index.versions(id_).versions
        assert data["after"] == (f"1.2.0 {now[0].status} (current)" if now else None)
        if verdict == "ok" and operation != "remove":
            assert (data["version"], data["payloadSha256"]) == ("1.2.0", key.payload_sha256)
        assert "Aa1!" not in json.dumps(record)


def test_an_installation_is_recorded_with_what_was_granted_and_one_that_fails_with_why(setting: Setting) -> None:
    id_ = installed(setting, "recorded")
    record = setting.records("artifacts.install")[-1]["details"]["data"]
    assert (record["object"], record["before"], record["after"]) == (id_, None, "1.2.0 active (current)")
    assert (record["granted"], record["trust"], record["door"]) == ([], "allowlisted", "python")
    data = artifact("1.3.0", name="recorded")
    operation = artifact_operations.install
    with pytest.raises(CortexError, match="SHA-256"):
        setting.plugin.operate(operation, data=data, options=InstallOptions(sha256="0" * 64), answers=AskedGrants(ALL))
    failed = setting.records("artifacts.install")[-1]
    assert (failed["details"]["code"], len(failed["details"]["data"]["fileSha256"])) == ("artifact_invalid", 64)
    setting.plugin.operate(operation, by="eve", data=data, options=InstallOptions(), answers=AskedGrants(ALL))
    updated = setting.records("artifacts.install")[-1]
    assert (updated["actor"], updated["details"]["data"]["before"]) == ("eve", "1.2.0 active (current)")
    assert updated["details"]["data"]["after"] == "1.2.0 active, 1.3.0 active (current)"


def test_a_command_installs_and_stops_as_the_user(setting: Setting, tmp_path: Path) -> None:
    file = tmp_path / "x.palyra-skill"
    file.write_bytes(artifact(name="by_command"))

    def run(*words: str) -> Any:
        result = CliRunner().invoke(program, [*words, "--config", str(setting.yaml), "--json"])
        return json.loads(result.stdout)

    assert run("install", str(file), "--grant-all")["status"] == "active"
    assert run("quarantine", "acme.by_command", "--version", "1.2.0", "--reason", "odd")["status"] == "quarantined"
    assert run("installed", "list")["artifacts"] == []
    assert run("installed", "list")["quarantined"] == 1
    assert [each["version"] for each in run("installed", "list", "--all")["artifacts"]] == ["1.2.0"]
    version = ("acme.by_command", "--version", "1.2.0")
    assert run("enable", *version, "--override", "--reason", "fine")["status"] == "active"
    assert run("installed", "disable", *version)["status"] == "disabled"
    assert run("audit-artifact", "acme.by_command")["passed"] is True
    assert [each["version"] for each in run("installed", "remove", *version)["removed"]] == ["1.2.0"]
    for event in (*REACHED, *ELSEWHERE):
        record = setting.records(f"artifacts.{event}")[-1]
        data = record["details"]["data"]
        assert (data["object"], data["door"], data["kind"]) == ("acme.by_command", "command", "owner")
        assert record["actor"] == user_name()


def test_a_list_leaves_out_what_is_quarantined_unless_it_is_asked_for(setting: Setting) -> None:
    one, other = installed(setting), installed(setting)
    setting.plugin.installed.quarantine(one, "1.2.0", actor="ada", reason="odd")
    client = setting.running.client(setting.token("person", ("read", "approve")))

    def listed(**query: Any) -> set[str]:
        answer = client.get("/api/v1/artifacts", params=query).json()
        assert answer["count"] == len(answer["artifacts"])
        return {each["skillId"] for each in answer["artifacts"]}

    assert one not in listed()
    assert other in listed()
    assert client.get("/api/v1/artifacts").json()["quarantined"] > 0
    assert {one, other} <= listed(all="true")
    assert one in listed(status="quarantined")
    assert (
        f"{one}?"
        in signed_in(setting.running, setting.token("person", ("read", "approve")))
        .get("/explore/artifacts", headers=CLICKED)
        .text
    )
