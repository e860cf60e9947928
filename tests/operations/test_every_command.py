"""Every command that changes something does it by operations, and leaves one record of each; the others have a reason.

A new command fails here until it has an example, is made of an operation that reads, is among those that do, or is in
`tests/docs/not_operations.py`.
"""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
import pytest
from click.testing import CliRunner

from cortex_skills import Config, Plugin
from cortex_skills.doors.cli.app import program
from cortex_skills.doors.cli.command import Command
from cortex_skills.keys import Key
from cortex_skills.lifecycle.reload.granted_permissions import GrantedPermissions
from cortex_skills.operations.operation import all_operations
from tests.actions.conftest import SKILL as OPERATOR
from tests.artifacts.samples import KEY
from tests.docs.not_operations import NOT_OPERATIONS
from tests.installed.samples import artifact
from tests.plugin.skills import write_skill

_NUMBERS = itertools.count()
Words = tuple[object, ...]
VERSION = ("--version", "1.2.0", "--reason", "r")
NEW_KEY = Key("new", bytes([9]) * 32)


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Log nothing."""


@dataclass(frozen=True)
class Home:
    """The folders of one user, and the commands that they run."""

    folder: Path
    address: str

    def run(self, *words: object, given: str = "") -> Any:
        """The document that a command prints."""
        options = ("--config", str(self.folder / "cortex.yaml"), "--json")
        result = CliRunner().invoke(program, [*map(str, words), *options], input=given)
        assert result.exit_code == 0, (words, result.stderr)
        return json.loads(result.stdout) if result.stdout else None

    def changes(self) -> list[dict[str, Any]]:
        """The records of operations that change something, the first one first."""
        changing = {name for name, each in all_operations().items() if each.effect == "changes"}
        files = sorted((self.folder / "audit").glob("*.ndjson"))
        records = (json.loads(line) for file in files for line in file.read_text().splitlines())
        acts = (change for each in records for change in each["details"].get("changes") or [each | each["details"]])
        return [each for each in acts if each["event"] in changing]

    def new(self, name: str = "") -> Path:
        """A path where nothing is."""
        return self.folder / f"new-n{next(_NUMBERS)}{name}"

    def skill(self) -> str:
        """The name of a registered skill."""
        folder = write_skill(self.new(), assertions=[])
        self.run("registry", "add", folder)
        return folder.name

    def memory(self) -> str:
        return str(self.run("memory", "remember", f"Fact {next(_NUMBERS)}.")["id"])

    def asserting(self) -> Words:
        given = {"subject": f"s{next(_NUMBERS)}", "predicate": "note", "object": 1}
        skill = write_skill(self.folder / "notes", assertions=[{"predicate": "note"}])
        return ("call", "skill_assert", json.dumps(given), "--skills", skill)

    def triple(self) -> str:
        return str(self.run(*self.asserting())["details"]["tripleHash"])

    def installed(self, version: str = "1.2.0") -> str:
        """The id of an installed artifact."""
        name = f"echo_n{next(_NUMBERS)}"
        self.run("install", self.file(name, version), "--grant-all")
        return f"acme.{name}"

    def file(self, name: str, version: str = "1.2.0") -> Path:
        path = self.new(".palyra-skill")
        path.write_bytes(artifact(version, name=name))
        return path

    def rdf(self) -> Path:
        path = self.new(".ttl")
        path.write_text(f"<urn:s{next(_NUMBERS)}> <urn:p> 1 .")
        return path

    def commitment(self, *more: object) -> str:
        return str(self.run("proof", "commit", *more, given="1990\n")["commitment"])

    def opening(self) -> Path:
        path = self.new(".json")
        self.commitment("--hand-out", path)
        return path

    def request(self) -> str:
        """The id of a request for approval."""
        self.run("trust-level", "set", "supervised_auto")
        given = json.dumps({"path": f"out/n{next(_NUMBERS)}.txt", "content": "one\n"})
        (self.folder / "operator").mkdir(exist_ok=True)
        (self.folder / "operator" / "SKILL.md").write_text(OPERATOR)
        return str(self.run("call", "fs_write", given, "--skills", self.folder / "operator")["details"]["approval"])

    def rule(self) -> Words:
        """A request, a folder and a day, of which a rule can be made."""
        request = self.request()
        self.run("trust-level", "set", "bounded_auto")
        return request, "out", f"{datetime.now(UTC) + timedelta(2):%Y-%m-%d}"

    def ruled(self) -> str:
        """The id of a rule."""
        return str(self.run("approvals", "add-rule", *self.rule())["id"])

    def subject(self) -> str:
        """A name that one statement has."""
        name = f"thing-{next(_NUMBERS)}"
        with Plugin.open(Config.load(self.folder / "cortex.yaml"), registers=False) as plugin:
            plugin.graph.create_triple({"subject": name, "predicate": "p", "object": 1})
        return name

    def statement(self) -> str:
        """The id of a statement."""
        row = {"subject": f"thing-{next(_NUMBERS)}", "predicate": "p", "object": 1}
        with Plugin.open(Config.load(self.folder / "cortex.yaml"), registers=False) as plugin:
            return str(plugin.graph.create_triple(row)["id"])

    def kept_run(self) -> None:
        """A run of an agent, which was kept when its session ended."""
        with Plugin.open(Config.load(self.folder / "cortex.yaml"), registers=False) as plugin:
            for tool in ("fs_read", "fs_write"):
                plugin.record(tool, arguments={"path": f"{next(_NUMBERS)}.csv"})

    def indexing(self) -> Words:
        folder = self.new()
        folder.mkdir()
        (folder / "a.palyra-skill").write_bytes(artifact(name=f"echo_n{next(_NUMBERS)}"))
        return ("index", "build", folder, "-o", self.folder / "served" / folder.name, "--key", "publishing")

    def packing(self) -> Words:
        folder = self.new()
        self.run("package", "init", folder, "--publisher", "acme")
        return ("package", "build", folder, "-o", self.new(".palyra-skill"), "--key", "publishing")

    def publisher(self) -> str:
        name = f"p{next(_NUMBERS)}"
        self.run("trust", "add", name, NEW_KEY.did)
        return name

    def index(self) -> tuple[str, ...]:
        """The address of an index of one artifact, and the option with its key."""
        words = self.indexing()
        out = words[-3]
        assert isinstance(out, Path)
        key = self.run(*words)["key"]
        return (f"{self.address}/{out.name}", "--index-key", str(key))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    in_memory = Path("/dev/shm")  # each command syncs its files, which is no subject here
    with TemporaryDirectory(dir=in_memory if in_memory.is_dir() else tmp_path_factory.getbasetemp()) as folder:
        yield from home_in(Path(folder))


def home_in(folder: Path) -> Iterator[Home]:
    settings: dict[str, Any] = {
        "store": str(folder / "graph"),
        "audit": {"folder": str(folder / "audit"), "fsync": "never"},
        "secrets": {"store": "file"},
        "verification": {"requireSignature": False},
        "actions": {"workspace": str(folder / "work"), "write": ["out"], "allowLoopback": True},
        "tools": {"profiles": ["operator"]},
        "approvals": {"waitMs": 0, "rules": True},
        "learning": {"enabled": True},
    }
    for name in ("work/out", "served"):
        (folder / name).mkdir(parents=True)
    (folder / "cortex.yaml").write_text(json.dumps(settings))
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder / "served")))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    with pytest.MonkeyPatch.context() as patch, server:
        for name in ("DATA", "CONFIG"):
            patch.setenv(f"XDG_{name}_HOME", str(folder / name.lower()))
        found = Home(folder, f"http://127.0.0.1:{server.server_address[1]}")
        found.run("trust", "add", "acme", KEY.did)
        found.memory()  # the first write makes the store
        settings["verification"] = {"requireSignature": False, "owner": found.run("key", "create", "publishing")["did"]}
        (folder / "cortex.yaml").write_text(json.dumps(settings))
        yield found
        server.shutdown()
        thread.join()


def registry(command: str, *more: object) -> Callable[[Home], Words]:
    return lambda home: ("registry", command, home.skill(), *more)


def approved(home: Home) -> Words:
    return ("approvals", "approve", home.request(), "--skills", home.folder / "operator")


def edited(home: Home) -> Words:
    inputs = home.folder / "edited.json"
    inputs.write_text('{"path": "out/edited.txt", "content": "two\\n"}')
    return ("approvals", "edit", home.request(), "--inputs", inputs, "--skills", home.folder / "operator")


def deprecated(home: Home) -> Words:
    name = home.skill()
    home.run("registry", "deprecate", name, "r")
    return ("registry", "promote", name)


def retired(home: Home) -> Words:
    name = home.skill()
    home.run("registry", "retire", name)
    return ("registry", "unretire", name)


def rolled_back(home: Home) -> Words:
    name = home.skill()
    text = home.folder / name / "SKILL.md"
    text.write_text(text.read_text() + "More.\n")
    home.run("registry", "add", home.folder / name)
    return ("registry", "rollback", name, 1)


def quarantined(home: Home) -> Words:
    artifact_id = home.installed()
    home.run("quarantine", artifact_id, *VERSION)
    return ("enable", artifact_id, *VERSION, "--override")


def updated(home: Home) -> Words:
    artifact_id = home.installed()
    return ("installed", "update", artifact_id, home.file(artifact_id.removeprefix("acme."), "1.3.0"), "--grant-all")


def backed_up(home: Home) -> Words:
    folder = home.new()
    home.run("graph", "backup", folder)
    return ("graph", "restore", folder, "--store", home.new())


def copied(home: Home) -> Words:
    return ("graph", "copy", "--from", home.folder / "graph", "--to", home.new())


def forgotten(home: Home) -> Words:
    address, *key = home.index()
    home.run("index", "search", address, *key)
    return ("index", "forget", address)


def rotated(home: Home) -> Words:
    name, statement = f"p{next(_NUMBERS)}", home.new(".json")
    did = home.run("key", "create", name)["did"]
    home.run("trust", "add", name, did)
    home.run("key", "rotate", name, "publishing", "--publisher", name, "-o", statement)
    return ("trust", "rotate", name, "--statement", statement)


def exported(home: Home) -> Words:
    file = home.new(".json")
    file.write_text(json.dumps(home.run("trust", "export")))
    return ("trust", "import", file)


def proved(home: Home) -> Words:
    name = f"s{next(_NUMBERS)}"
    home.commitment("--subject", name, "--predicate", "birthYear")
    skill = write_skill(home.folder / "kyc", permissions={"proofs": ["request"]}, assertions=[])
    return ("proof", "request", "range", name, "birthYear", "--minimum", 1900, "--maximum", 2008, "--skills", skill)


def learned(home: Home) -> Words:
    home.kept_run()
    return ("registry", "learn", "--name", f"learned-n{next(_NUMBERS)}")


def granted(home: Home) -> Words:
    folder = write_skill(home.new(), assertions=[])
    GrantedPermissions.of_user().ask(folder.name, folder, ["graph:write"])
    return ("approve", folder.name)


def secret(home: Home) -> Words:
    return ("secrets", "set", f"global/k{next(_NUMBERS)}")


def revoked(home: Home) -> Words:
    return ("trust", "revoke", home.run("key", "create", f"k{next(_NUMBERS)}")["did"])


def updating(home: Home) -> Words:
    return ("graph", "sparql", "--update", f"INSERT DATA {{ <urn:s{next(_NUMBERS)}> <urn:p> 1 }}")


def saved(home: Home) -> Words:
    return ("graph", "save-query", f"saved-n{next(_NUMBERS)}", "ASK {}")


def named(*words: object) -> Callable[[Home], Words]:
    """A command and a new name."""
    return lambda home: (*words, f"n{next(_NUMBERS)}")


def after(first: Callable[[Home], Words], *words: object, place: int = -1) -> Callable[[Home], Words]:
    """A command about what another one made, which is named by one of its words, by default the last."""

    def example(home: Home) -> Words:
        made = first(home)
        home.run(*made, given="value")
        return (*words, made[place])

    return example


# Commands that change something, the operations that they run, and an example.
CHANGES: dict[str, tuple[tuple[str, ...], Callable[[Home], Words]]] = {
    "approvals add-rule": (("approvals.rule.add",), lambda home: ("approvals", "add-rule", *home.rule())),
    "approvals approve": (
        ("approvals.approve",),
        approved,
    ),
    "approvals edit": (("approvals.edit",), edited),
    "approvals end-rule": (("approvals.rule.end",), lambda home: ("approvals", "end-rule", home.ruled())),
    "approvals reject": (("approvals.reject",), lambda home: ("approvals", "reject", home.request())),
    "approve": (("skills.grant",), granted),
    "audit-artifact": (("artifacts.audit",), lambda home: ("audit-artifact", home.installed())),
    "call": (("graph.assert",), lambda home: home.asserting()),
    "enable": (("artifacts.enable",), quarantined),
    "graph forget-query": (("graph.forget_query",), after(saved, "graph", "forget-query", place=2)),
    "graph save-query": (("graph.save_query",), saved),
    "graph copy": (("graph.copy",), copied),
    "graph correct": (("graph.correct",), lambda home: ("graph", "correct", home.statement(), "--object", "12")),
    "graph import": (("graph.import",), lambda home: ("graph", "import", home.rdf())),
    "graph merge": (("graph.merge",), lambda home: ("graph", "merge", home.subject(), "the-other")),
    "graph restore": (("graph.restore",), backed_up),
    "graph sparql": (("graph.update",), updating),
    "index build": (("index.build",), lambda home: home.indexing()),
    "index forget": (("index.forget",), forgotten),
    "index search": (("index.fetch",), lambda home: ("index", "search", *home.index())),
    "index verify": (("index.fetch",), lambda home: ("index", "verify", *home.index())),
    "install": (("artifacts.install",), lambda h: ("install", h.file(f"echo_n{next(_NUMBERS)}"), "--grant-all")),
    "installed disable": (("artifacts.disable",), lambda home: ("installed", "disable", home.installed(), *VERSION)),
    "installed remove": (("artifacts.remove",), lambda home: ("installed", "remove", home.installed())),
    "installed update": (("artifacts.install",), updated),
    "key create": (("keys.create",), named("key", "create")),
    "memory correct": (("memory.correct",), lambda home: ("memory", "correct", home.memory(), "--text", "Other.")),
    "memory forget": (("memory.forget",), lambda home: ("memory", "forget", home.memory())),
    "memory remember": (("memory.remember",), named("memory", "remember")),
    "package build": (("package.build",), lambda home: home.packing()),
    "proof commit": (("openings.commit",), lambda home: ("proof", "commit")),
    "proof forget": (("openings.forget",), lambda home: ("proof", "forget", home.commitment())),
    "proof request": (("proofs.request",), proved),
    "proof sign": (("proofs.sign",), lambda home: ("proof", "sign", home.triple())),
    "proof take": (("openings.take",), lambda home: ("proof", "take", home.opening())),
    "quarantine": (("artifacts.quarantine",), lambda home: ("quarantine", home.installed(), *VERSION)),
    "registry add": (("registry.register",), lambda h: ("registry", "add", write_skill(h.new(), assertions=[]))),
    "registry deprecate": (("registry.deprecate",), registry("deprecate", "r")),
    "registry export": (("registry.export",), lambda home: ("registry", "export", home.skill(), home.new())),
    "registry learn": (("registry.learn",), learned),
    "registry maintain": (("registry.maintain",), lambda home: ("registry", "maintain")),
    "registry merge": (("registry.merge",), lambda home: ("registry", "merge", home.skill(), home.skill())),
    "registry promote": (("registry.promote",), deprecated),
    "registry purge": (("registry.delete",), registry("purge")),
    "registry retire": (("registry.retire",), registry("retire")),
    "registry rollback": (("registry.rollback",), rolled_back),
    "registry trust": (("registry.trust",), registry("trust", 2)),
    "registry unretire": (("registry.unretire",), retired),
    "secrets remove": (("secrets.remove",), after(secret, "secrets", "remove")),
    "secrets set": (("secrets.set",), secret),
    "sign": (("skills.sign",), lambda home: ("sign", write_skill(home.new(), assertions=[]))),
    "token create": (("tokens.create",), named("token", "create")),
    "token revoke": (("tokens.revoke",), after(named("token", "create"), "token", "revoke")),
    "trust add": (("trust.add",), lambda home: ("trust", "add", f"p{next(_NUMBERS)}", NEW_KEY.did)),
    "trust forget": (("trust.forget",), lambda home: ("trust", "forget", home.installed())),
    "trust import": (("trust.import",), exported),
    "trust remove": (("trust.remove",), lambda home: ("trust", "remove", home.publisher())),
    "trust revoke": (
        ("trust.revoke",),
        revoked,
    ),
    "trust rotate": (("trust.rotate",), rotated),
    "trust share": (("trust.share",), lambda home: ("trust", "share", "--key", "publishing")),
    "trust-level set": (("actions.trust_level.set",), lambda home: ("trust-level", "set", "observe")),
}

# Commands that only read, beside those that are made of an operation that does.
READS = {
    *("actions list", "actions show", "approvals list", "approvals show", "approvals wait", "approvals watch"),
    *("audit search", "audit tail", "audit verify", "completion", "doctor", "explore", "graph namespaces"),
    *("graph recent", "graph show", "graph stats", "index list", "installed check", "installed info"),
    *("installed list", "key export", "key list", "list", "package inspect", "package verify", "proof bundle"),
    *("proof openings", "proof show", "proof verify", "query", "registry events verify", "registry find"),
    *("registry list", "registry show", "scan", "secrets list", "status", "token list", "trust list"),
    *("trust-level show", "validate", "verify"),
}
# Commands that serve clients: what they change is walked in `test_every_change.py`.
SERVES = {"mcp", "serve"}


def test_every_command_has_an_example_or_a_reason_or_reads() -> None:
    reasons = {name for name in NOT_OPERATIONS if " /" not in name}
    found = dict(_commands(program, ()))
    made = {name: each.operation for name, each in found.items() if isinstance(each, Command) and each.operation}
    reads = {name for name, operation in made.items() if operation.effect == "reads"}
    assert reads.isdisjoint(READS)
    assert sorted(found) == sorted([*CHANGES, *READS, *reads, *SERVES, *reasons])


@pytest.mark.parametrize("command", CHANGES)
def test_a_command_changes_by_operations_and_leaves_one_record_of_each(home: Home, command: str) -> None:
    operations, example = CHANGES[command]
    words = example(home)
    before = len(home.changes())
    home.run(*words, given="1990\n")
    records = home.changes()[before:]
    assert tuple(each["event"] for each in records) == operations
    for each in records:
        data = each["data"]
        assert each["success"], each
        assert data["object"], each
        kind = "agent" if command in ("call", "proof request") else "owner"  # which run a tool for an agent
        assert (data["kind"], data["door"], data["namespace"]) == (kind, "command", "mayros")


def _commands(command: click.Command, path: tuple[str, ...]) -> Iterator[tuple[str, click.Command]]:
    if not isinstance(command, click.Group):
        yield " ".join(path), command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        if (found := command.get_command(context, name)) is not None:
            yield from _commands(found, (*path, name))
