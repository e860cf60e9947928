"""`doctor`."""

import os
import shutil
import socket
import sys

import pytest

from cortex_graph import open_store
from cortex_sandbox import Limits, warm_up
from cortex_skills.doors.cli import checks
from cortex_skills.keys.ed25519 import Key
from tests.ports import quiet_port
from tests.without_override import without_override

SUBJECTS = [
    "python",
    "packages",
    "features",
    "sandbox",
    "bundler",
    "graph",
    "code cache",
    "explorer",
    "configuration",
    "store",
    "keys",
    "host",
    "port",
    "node.js",
]


@pytest.fixture
def free_port():
    """The environment variable that sets a free port."""
    return {"CORTEX_CORTEX__PORT": str(quiet_port())}


@pytest.fixture(scope="module")
def loaded_guests():
    """The guests are in this process: a command with another code cache compiles none."""
    warm_up(Limits())


def test_every_check_of_a_sound_installation_is_ok(run, store, free_port):
    answer = run("doctor", env=free_port)
    assert (answer.exit_code, answer.stderr) == (0, "")
    lines = answer.stdout.splitlines()
    assert [line.partition(":")[0] for line in lines] == [f"ok    {subject}" for subject in SUBJECTS]
    assert f"ok    store: {store} does not exist yet; the first command that needs the store creates it" in lines


def test_an_existing_store_is_opened_and_a_missing_one_is_not_created(run, store, tmp_path):
    open_store(store).close()
    assert f"ok    store: {store} can be opened and holds 0 namespaces" in run("doctor").stdout
    for missing in (tmp_path / "a" / "b", (tmp_path / "c").as_uri()):
        answer = run("doctor", "--store", missing)
        assert "does not exist yet" in answer.stdout
    assert {path.name for path in tmp_path.iterdir()} == {"store"}


def test_a_store_that_cannot_be_created_fails_with_a_hint(run, tmp_path):
    (tmp_path / "file").write_text("x")
    answer = run("doctor", "--store", tmp_path / "file" / "store")
    assert answer.exit_code == 2
    assert "fail  store: " in answer.stdout
    assert "name another place with --store" in answer.stdout


def test_keys_are_opened_and_the_signing_key_must_be_usable(run, tmp_path):
    folder = tmp_path / "keys"
    env = {"CORTEX_PROOFS__KEYS": str(folder)}
    assert f"ok    keys: {folder} holds no key yet; the first proof creates one" in run("doctor", env=env).stdout
    assert not folder.exists()
    run("key", "create", "local", env=env)
    run("key", "create", "other", env=env)
    assert f"ok    keys: 2 in {folder}, all usable" in run("doctor", env=env).stdout
    (folder / "other.seed").write_bytes(b"short")
    answer = run("doctor", env=env)
    assert answer.exit_code == 0
    assert f"warn  keys: {folder / 'other.seed'} is damaged: a key is 32 bytes" in answer.stdout
    assert "hint: restore a copy, or create a new key" in answer.stdout
    (folder / "local.seed").write_bytes(b"short")
    answer = run("doctor", env=env)
    assert answer.exit_code == 2
    assert f"fail  keys: {folder / 'local.seed'} is damaged" in answer.stdout
    assert (folder / "local.seed").read_bytes() == b"short"


@pytest.mark.skipif(os.name != "posix", reason="the permissions are POSIX file modes")
def test_a_key_folder_readable_by_other_users_fails(run, tmp_path):
    folder = tmp_path / "keys"
    folder.mkdir(mode=0o755)
    answer = run("doctor", env={"CORTEX_PROOFS__KEYS": str(folder)})
    assert answer.exit_code == 2
    assert f"fail  keys: {folder}" in answer.stdout


def test_a_port_in_use_is_a_warning(run):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        answer = run("doctor", env={"CORTEX_CORTEX__PORT": str(taken.getsockname()[1])})
    assert answer.exit_code == 0
    assert "warn  port: another process already listens on 127.0.0.1:" in answer.stdout
    assert "hint: if it is not `cortex-skills serve`" in answer.stdout
    elsewhere = run("doctor", env={"CORTEX_CORTEX__HOST": "192.0.2.1"}).stdout
    assert "cortex.host: '192.0.2.1' is not this machine" in elsewhere


DIRECT = {"CORTEX_SKILL_SANDBOX__SANDBOX_ENABLED": "false"}


def test_the_direct_mode_without_node_fails(run, tmp_path):
    answer = run("doctor", env={**DIRECT, "PATH": str(tmp_path), "CORTEX_UNSAFE_DIRECT_LOAD": "1"})
    assert answer.exit_code == 2
    assert "fail  node.js: the direct mode needs Node.js" in answer.stdout
    assert "hint: install Node.js 20 or newer" in answer.stdout
    assert "warn  direct mode: skills run WITHOUT A SANDBOX" in answer.stdout


@pytest.mark.skipif(os.name != "posix", reason="the test writes a shell script as the program")
def test_the_direct_mode_needs_a_recent_node_and_permission(run, tmp_path):
    node = tmp_path / "node"
    node.write_text("#!/bin/sh\necho '[\"18.0.0\", false]'\n")
    node.chmod(0o755)
    answer = run("doctor", env={**DIRECT, "PATH": str(tmp_path)})
    assert answer.exit_code == 2
    assert "is 18.0.0" in answer.stdout
    assert "fail  direct mode: the direct mode is off" in answer.stdout
    assert "hint: set CORTEX_UNSAFE_DIRECT_LOAD=1" in answer.stdout


def test_json_lists_every_check(run, free_port):
    report = run("doctor", "--json", env=free_port).json
    assert report["ok"] is True
    assert [check["subject"] for check in report["checks"]] == SUBJECTS
    assert {check["status"] for check in report["checks"]} == {"ok"}


def test_an_invalid_store_fails_and_the_other_checks_still_run(run, tmp_path):
    (tmp_path / "notes.txt").write_text("not a store")
    answer = run("doctor", "--store", tmp_path)
    assert answer.exit_code == 2
    assert f"fail  store: the folder {tmp_path} is not a store and has other files: notes.txt" in answer.stdout
    assert "        hint: give an empty or a new folder" in answer.stdout
    assert "ok    node.js" in answer.stdout


def test_a_bad_configuration_fails_and_the_store_is_not_checked(run, tmp_path):
    path = tmp_path / "cortex.yaml"
    path.write_text("stoer: x\n")
    report = run("doctor", "--config", path, "--json")
    assert report.exit_code == 2
    checks = {check["subject"]: check for check in report.json["checks"]}
    assert checks["configuration"]["status"] == "fail"
    assert "did you mean store?" in checks["configuration"]["message"]
    assert checks["store"]["status"] == "warn"


def test_a_configuration_warning_does_not_fail(run):
    answer = run("doctor", env={"CORTEX_SKILL_SANDBOX__MAX_CALLS_PER_MINUTE": "100000"})
    assert answer.exit_code == 0
    assert "warn  configuration: CORTEX_SKILL_SANDBOX__MAX_CALLS_PER_MINUTE" in answer.stdout


@pytest.mark.extended  # it compiles
@pytest.mark.usefixtures("loaded_guests")
def test_a_code_cache_writable_by_other_users_is_a_warning(run, tmp_path):
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o777)
    answer = run("doctor", env={"CORTEX_SANDBOX_CACHE": str(folder)})
    assert answer.exit_code == 0
    assert "warn  code cache: not used" in answer.stdout
    assert "CORTEX_SANDBOX_CACHE" in answer.stdout


def test_the_variable_of_the_code_cache_is_a_known_setting(run, tmp_path, monkeypatch):
    monkeypatch.setattr(checks, "CHECKS", (checks.code_cache, checks.configuration))  # the others compile into it
    folder = tmp_path / "own"
    answer = run("doctor", env={"CORTEX_SANDBOX_CACHE": str(folder)})
    assert f"ok    code cache: {folder} is private and writable" in answer.stdout
    assert "ok    configuration" in answer.stdout


def test_a_missing_node_fails_no_check(run, tmp_path):
    answer = run("doctor", env={"PATH": str(tmp_path)})
    assert answer.exit_code == 0
    assert "ok    node.js: not installed" in answer.stdout


def test_a_copied_home_is_adopted_with_all_that_it_trusts_after_it_was_shown_what_differs(run, tmp_path, monkeypatch):
    monkeypatch.setattr(checks, "CHECKS", (checks.host,))  # the others run engines
    kept, revoked = (Key(name, name[:1].encode() * 32).did for name in ("acme", "lost"))
    homes = [{f"XDG_{kind}_HOME": str(tmp_path / home / kind) for kind in ("DATA", "CONFIG")} for home in ("a", "b")]
    first, second = homes
    run("trust", "add", "acme", kept, env=first)
    assert run("trust", "revoke", revoked, env=first).exit_code == 0
    assert run("doctor", "--adopt", env=first).stdout == "nothing differs: there is nothing to adopt\n"
    trusted = run("trust", "list", "--json", env=first).json
    shutil.copytree(tmp_path / "a", tmp_path / "b")

    refused = run("trust", "list", env=second)
    assert refused.exit_code != 0
    assert "was moved or copied here" in refused.stderr
    assert "cortex-skills doctor --adopt" in refused.stderr
    checked = run("doctor", env=second)
    trust = tmp_path / "a" / "DATA" / "cortex-skills" / "trust.json"
    differs = f"it was moved or copied from {trust}; it has 1 publishers (acme), 1 revoked keys"
    assert checked.exit_code == 2
    assert f"fail  host: the trust store is not used: {differs}" in checked.stdout
    assert f"warn  host: its id is that of another host: it was made in {trust.parent}" in checked.stdout

    asked = run("doctor", "--adopt", stdin="n\n", env=second)
    assert (asked.exit_code, asked.stdout) == (1, "")
    assert f"the trust store: {differs}" in asked.stderr
    assert run("trust", "list", env=second).exit_code != 0
    adopted = run("doctor", "--adopt", "--yes", "--json", env=second).json
    assert (adopted["adopted"], adopted["identity"], adopted["trust"]) == (True, "", "")
    assert run("trust", "list", "--json", env=second).json == trusted
    assert run("trust", "list", "--json", env=first).json == trusted
    assert run("doctor", "--adopt", "--yes", "--json", env=first).json["host"] != adopted["host"]


def test_a_journal_belongs_to_one_host_until_another_one_adopts_it(run, tmp_path, monkeypatch):
    monkeypatch.setattr(checks, "CHECKS", (checks.host,))
    first, second = (
        {
            "XDG_DATA_HOME": str(tmp_path / home),
            "CORTEX_AUDIT__FOLDER": str(tmp_path / "journal"),
            "CORTEX_HOST__NAME": home,
            "CORTEX_STORE": str(tmp_path / home / "graph"),
        }
        for home in ("desk", "attic")
    )
    assert run("memory", "remember", "one", env=first).exit_code == 0
    for words in (("memory", "remember", "two"), ("trust", "revoke", Key("x", bytes(32)).did)):
        refused = run(*words, "--json", env=second)
        assert (refused.exit_code, refused.error["code"]) == (2, "config_invalid")
        assert "is that of desk (" in refused.error["message"]
        assert "doctor --adopt" in refused.error["hint"]
    assert "fail  host: the journal in audit.folder is that of desk" in run("doctor", env=second).stdout
    assert run("memory", "remember", "three", env=first).exit_code == 0
    adopted = run("doctor", "--adopt", "--yes", "--json", env=second).json
    assert (adopted["adopted"], adopted["journal"]) == (True, "")
    assert run("memory", "remember", "four", env=second).exit_code == 0
    assert run("memory", "remember", "five", env=first).exit_code == 2
    (desk,) = run("key", "list", "--json", env=first).json
    verified = run("audit", "verify", "--key", desk["did"], "--json", env=second).json
    assert (verified["whole"], verified["records"] >= 4) == (True, True), verified


def test_the_list_of_a_former_owner_is_removed_and_what_it_revoked_stays_revoked(run, tmp_path, monkeypatch):
    monkeypatch.setattr(checks, "CHECKS", (checks.host,))
    home = {f"XDG_{kind}_HOME": str(tmp_path / kind) for kind in ("DATA", "CONFIG")}
    home |= {"CORTEX_STORE": str(tmp_path / "graph"), "CORTEX_AUDIT__JOURNAL": "off"}
    old, new = (run("key", "create", name, "--json", env=home).json["did"] for name in ("old", "new"))
    owned = {name: {**home, "CORTEX_VERIFICATION__OWNER": did} for name, did in (("old", old), ("new", new))}
    run("trust", "add", "acme", Key("a", b"a" * 32).did, env=home)
    assert run("trust", "share", "--key", "old", env=owned["old"]).exit_code == 0
    lost = Key("lost", b"l" * 32).did
    run("trust", "revoke", lost, env=owned["old"])
    assert run("trust", "share", "--key", "old", env=owned["old"]).exit_code == 0
    stored = tmp_path / "DATA" / "cortex-skills" / "trust.json"
    assert run("trust", "list", env=owned["new"]).exit_code == 2
    what = f"{stored.name}.shared is list 2 of {old}, and the owner is {new}; it is removed, and its 1 revoked"
    assert f"fail  host: the list of the owner is not used: {what}" in run("doctor", env=owned["new"]).stdout
    assert run("doctor", "--adopt", "--yes", "--json", env=owned["new"]).json["sharedTrust"] == ""
    assert [each["key"] for each in run("trust", "list", "--json", env=owned["new"]).json["revoked"]] == [lost]
    assert not stored.with_name("trust.json.shared").exists()
    assert run("trust", "share", "--key", "new", env=owned["new"]).exit_code == 1  # the store has the former list


@pytest.mark.skipif(sys.platform != "linux", reason="needs modes of files that hold for root")
@pytest.mark.parametrize("barred", ["store", "."])
def test_a_store_that_may_not_be_read_is_no_fault_of_the_program(run, tmp_path, barred, free_port):
    store = tmp_path / "place" / "store"
    run("graph", "sparql", "--update", "INSERT DATA { mayros:a mayros:b 1 }", "--store", store)
    place = store.parent / barred
    place.chmod(0)
    try:
        with without_override():
            answers = [run(*words, "--store", store) for words in (("status",), ("graph", "stats"))]
            report = run("doctor", "--store", store, "--json", env=free_port).json
    finally:
        place.chmod(0o700)
    for answer in answers:
        assert answer.exit_code == 2
        assert answer.stderr.startswith(f"error[graph_unavailable]: the folder {store} cannot be used as a store: ")
        assert "report" not in answer.stderr
    (found,) = [check for check in report["checks"] if check["subject"] == "store"]
    assert (found["status"], "Permission denied" in found["message"]) == ("fail", True)


@pytest.mark.skipif(sys.platform != "linux", reason="needs modes of files that hold for root")
def test_a_store_that_cannot_be_written_to_is_a_warning(run, store, free_port):
    open_store(store).close()
    store.chmod(0o500)
    try:
        with without_override():
            answer = run("doctor", env=free_port)
    finally:
        store.chmod(0o700)
    assert f"warn  store: {store} can be opened and holds 0 namespaces, and cannot be written to" in answer.stdout
    assert answer.exit_code == 0
