"""`cortex-skills token` and `cortex-skills serve` on the command line."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys

import httpx
import pytest

from cortex_skills.tokens import PERMISSIONS
from tests.cli.conftest import run, store  # noqa: F401 - fixtures
from tests.server.serving import FAST, WAIT_S, until_healthy


@pytest.fixture
def tokens(tmp_path, run):  # noqa: F811
    def invoke(*words):
        return run("token", *words, env={"CORTEX_CORTEX__TOKEN_FILE": str(tmp_path / "tokens.json")})

    return invoke


def test_a_token_is_shown_once_then_listed_by_name_then_revoked(tokens):
    made = tokens("create", "alice", "--for", "a", "--for", "b", "--permission", "read", "--permission", "write")
    assert made.exit_code == 0
    text = made.stdout.strip()
    assert text.startswith("cortex_")
    assert "not shown again" in made.stderr
    listed = tokens("list")
    assert listed.stdout.splitlines()[0] == "name\tnamespaces\tpermissions\texpires\tholder"
    assert listed.stdout.splitlines()[1].startswith("alice\ta, b\tread, write\t2")
    assert text not in listed.stdout
    assert tokens("revoke", "alice").stdout == "alice is revoked\n"
    assert tokens("list", "--json").json == []
    missing = tokens("revoke", "alice", "--json")
    assert (missing.exit_code, missing.error["code"]) == (1, "invalid_arguments")


def test_a_token_is_of_an_agent_unless_its_holder_is_a_person(tokens):
    tokens("create", "bot")
    assert tokens("create", "ann", "--holder", "person", "--json").json["holder"] == "person"
    assert tokens("create", "eve", "--holder", "owner").exit_code == 2
    assert [line.rpartition("\t")[2] for line in tokens("list").stdout.splitlines()] == ["holder", "agent", "person"]
    assert {each["name"]: each["holder"] for each in tokens("list", "--json").json} == {"bot": "agent", "ann": "person"}


def test_the_command_offers_every_permission_of_a_token(tokens):
    words = [word for permission in PERMISSIONS for word in ("--permission", permission)]
    assert tokens("create", "all", *words, "--json").json["permissions"] == list(PERMISSIONS)


def test_a_token_reads_the_configured_namespace_for_ninety_days_by_default(tokens):
    made = tokens("create", "bob", "--namespace", "mine", "--json").json
    assert (made["namespaces"], made["permissions"]) == (["mine"], ["read"])
    assert made["expires"] > made["created"]
    assert made["token"].startswith("cortex_")
    assert tokens("create", "carol", "--expires", "never", "--json").json["expires"] is None
    assert tokens("create", "bob", "--json").error["code"] == "invalid_arguments"


@pytest.mark.parametrize(
    "words",
    [["create"], ["create", "a b"], ["create", "x", "--for", "a:b"], ["create", "x", "--expires", "soon"], ["revoke"]],
)
def test_invalid_options_of_a_token_are_refused(tokens, words):
    assert tokens(*words).exit_code in (1, 2)
    assert tokens("list", "--json").json == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_serve_prints_its_url_and_ends_with_the_signal(process, number):
    server = process()
    assert server.document["namespace"] == "mayros"
    with httpx.Client(base_url=server.url, timeout=WAIT_S, trust_env=False, **FAST) as client:
        until_healthy(client)
    server.signal(number)
    code, errors = server.wait()
    assert code == 0
    assert "there is no token" in errors
    assert "Traceback" not in errors


@pytest.fixture
def serve_once(tmp_path, run):  # noqa: F811
    """Runs a `serve` that fails to start, in this process; the exit code and the error."""

    def invoke(*words):
        settings = {"CORTEX_STORE": "memory:", "CORTEX_CORTEX__TOKEN_FILE": str(tmp_path / "tokens.json")}
        done = run("serve", "--json", *words, env=settings)
        return done.exit_code, done.error

    return invoke


def test_a_port_in_use_is_reported(serve_once):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, error = serve_once("--port", str(port))
    assert (code, error["code"]) == (2, "config_invalid")
    assert f"port {port} of 127.0.0.1: Address already in use" in error["message"]
    assert "--port" in error["hint"]


@pytest.mark.parametrize("host", ["no such host", "256.1.1.1", "", "\u2603.invalid", "a" * 300])
def test_an_invalid_host_is_reported(serve_once, host):
    code, error = serve_once("--port", "0", "--host", host or " ")
    assert (code, error["code"]) == (2, "config_invalid")


def test_an_address_that_other_machines_reach_needs_tokens(serve_once, tmp_path):
    code, error = serve_once("--port", "0", "--host", "0.0.0.0")
    assert (code, error["code"]) == (2, "config_invalid")
    assert "there is no token" in error["message"]
    config = tmp_path / "cortex.yaml"
    config.write_text("cortex: {authToken: secret-of-the-configuration, allowAnonymousReads: true}\n")
    code, error = serve_once("--port", "0", "--host", "0.0.0.0", "--config", str(config))
    assert (code, error["code"]) == (2, "config_invalid")
    assert "allowAnonymousReads" in error["message"]


def test_such_an_address_is_served_with_a_warning_if_there_is_a_token(process, tmp_path):
    config = tmp_path / "cortex.yaml"
    config.write_text("cortex: {authToken: secret-of-the-configuration}\n")
    server = process("--host", "0.0.0.0", "--config", str(config))
    url = f"http://127.0.0.1:{server.port}/api/v1/triples"
    assert httpx.get(url, timeout=WAIT_S, trust_env=False).status_code == 401
    server.signal(signal.SIGTERM)
    assert "nothing is encrypted" in server.wait()[1]


def test_help_and_version_do_not_import_the_server():
    code = (
        "import sys\nfrom cortex_skills.doors.cli.app import program\n"
        "try: program(['serve', '--help'])\nexcept SystemExit: pass\n"
        "print({'starlette', 'uvicorn', 'h11', 'httpx', 'asyncio'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "set()"
