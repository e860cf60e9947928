"""The switch and the warning of the direct mode, and the environment of the skill's process."""

from __future__ import annotations

import ipaddress
import logging
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex_sandbox import SandboxError
from cortex_sandbox.direct import DirectSandbox
from cortex_sandbox.direct.node import child_environment, find_node, inspector_address
from cortex_sandbox.direct.opt_in import VARIABLES, check_allowed

from .conftest import needs_node

EMPTY = "export default {}"


@pytest.mark.parametrize("environment", [{}, {VARIABLES[0]: ""}, {VARIABLES[0]: "0"}, {VARIABLES[1]: "true"}])
def test_the_direct_mode_is_refused_unless_the_environment_allows_it(environment: dict[str, str]) -> None:
    with pytest.raises(SandboxError) as refused:
        check_allowed(environment)
    assert refused.value.name == "DirectModeRefused"
    assert "MAYROS_UNSAFE_DIRECT_LOAD=1" in refused.value.message
    assert "CORTEX_UNSAFE_DIRECT_LOAD=1" in refused.value.message
    assert "outside of the sandbox, with all privileges of your account" in refused.value.message


@pytest.mark.parametrize("name", VARIABLES)
def test_either_variable_allows_it(name: str) -> None:
    check_allowed({name: "1"})


def test_a_refused_skill_prints_no_warning(
    folder: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("CORTEX_UNSAFE_DIRECT_LOAD")
    monkeypatch.delenv("MAYROS_UNSAFE_DIRECT_LOAD", raising=False)
    with pytest.raises(SandboxError, match="DirectModeRefused"):
        DirectSandbox(folder(EMPTY))
    assert capsys.readouterr().err == ""


@needs_node
def test_each_use_prints_a_warning_on_standard_error_and_in_the_log(
    folder: Callable[..., Path], capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    home = folder(EMPTY)
    for _ in range(2):
        DirectSandbox(home).close()
    shown = capsys.readouterr().err
    assert shown.count("THIS SKILL RUNS WITHOUT A SANDBOX") == 2
    assert shown.count("ALL PRIVILEGES OF YOUR ACCOUNT") == 2
    assert str(home) in shown
    assert len(shown.splitlines()) > 15
    warnings = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert ["without a sandbox" in record.getMessage() for record in warnings] == [True, True]


def test_a_missing_node_is_an_error_with_a_remedy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SandboxError, match=r"no `node` on the PATH: install Node\.js 20 or newer") as refused:
        find_node()
    assert refused.value.name == "DirectModeUnavailable"


@pytest.mark.parametrize(
    ("version", "message"),
    [
        ('["18.19.1",false]', "needs Node.js 20 or newer; .* is 18.19.1"),
        ("hello", "does not run as Node.js"),
        ("[]", "does not run as Node.js"),
        ("[20, true]", "does not run as Node.js"),
    ],
)
def test_a_node_that_is_too_old_or_does_not_run_is_refused(
    version: str, message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = tmp_path / "node"
    program.write_text(f"#!/bin/sh\necho '{version}'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SandboxError, match=message):
        find_node()


@needs_node
@pytest.mark.parametrize("entry", ["absent.ts", "../outside.ts", "/etc/hostname", ".", "link.ts"])
def test_an_entry_that_is_not_a_file_of_the_folder_is_refused(entry: str, folder: Callable[..., Path]) -> None:
    home = folder(EMPTY)
    (home.parent / "outside.ts").write_text(EMPTY)
    (home / "link.ts").symlink_to(home.parent / "outside.ts")
    with pytest.raises(ValueError, match="is not a file in"):
        DirectSandbox(home, entry)


def test_the_skill_gets_no_secrets_of_the_host_and_no_options_of_node() -> None:
    host = {
        "PATH": "/bin",
        "HOME": "/home/a",
        "LC_ALL": "C",
        "CORTEX_TOKEN": "t",
        "NODE_OPTIONS": "-r x",
        "AWS_KEY": "k",
    }
    assert child_environment(host) == {"PATH": "/bin", "HOME": "/home/a", "LC_ALL": "C"}


@pytest.mark.parametrize("address", ["127.0.0.1:9229", "127.0.0.2:1", "[::1]:65535"])
def test_a_loopback_address_is_accepted_for_a_debugger(address: str) -> None:
    assert inspector_address(address) == address


@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0:9229",
        "192.168.0.1:9229",
        "[::]:9229",
        "localhost:9229",
        "9229",
        "127.0.0.1",
        "127.0.0.1:0",
        "127.0.0.1:x",
        "127.0.0.1:65536",
        "127.0.0.1:99999999999999999999",
        "127.0.0.1:９",
        ":9229",
        "",
        "127.0.0.1:9229,0.0.0.0:1",
    ],
)
def test_another_address_is_refused_for_a_debugger(address: str) -> None:
    with pytest.raises(ValueError, match="loopback address with a port"):
        inspector_address(address)


@given(st.one_of(st.text(), st.builds("{}:{}".format, st.ip_addresses(), st.integers())))
def test_every_accepted_address_is_a_loopback_address(text: str) -> None:
    try:
        host, _, port = inspector_address(text).rpartition(":")
    except ValueError:
        return
    assert ipaddress.ip_address(host.strip("[]")).is_loopback
    assert 0 < int(port) < 65536
