"""`secrets set`, `secrets list` and `secrets remove`."""

import pytest
from click.testing import CliRunner

from cortex_skills.doors.cli.app import program


@pytest.fixture
def secrets(tmp_path, monkeypatch):
    """A function that runs `secrets` with a standard input."""
    monkeypatch.setenv("CORTEX_SECRETS__STORE", "file")
    monkeypatch.setenv("CORTEX_SECRETS__FILE", str(tmp_path / "secrets.json"))
    monkeypatch.setenv("CORTEX_SECRETS__KEY", str(tmp_path / "config" / "key"))
    return lambda *words, value="": CliRunner().invoke(program, ["secrets", *words], input=value)


def test_a_secret_is_set_from_standard_input_and_never_shown(secrets):
    answer = secrets("set", "skill:acme.weather/api_key", value="hunter2-hunter2\n")
    assert (answer.exit_code, answer.stdout) == (0, "skill:acme.weather/api_key is set\n")
    listed = secrets("list")
    assert listed.stdout == "skill:acme.weather/api_key\n"
    assert "hunter2" not in answer.output + listed.output
    again = secrets("set", "skill:acme.weather/api_key", "--json", value="hunter3-hunter3")
    assert '"replaced": true' in again.stdout


def test_a_value_as_an_argument_is_refused(secrets):
    assert secrets("set", "global/token", "hunter2-hunter2").exit_code == 2
    assert secrets("list").stdout == ""


def test_a_short_value_gets_a_note(secrets):
    assert "whole word only" in secrets("set", "global/pin", value="1234").stderr


def test_a_secret_that_is_not_there_cannot_be_removed(secrets):
    answer = secrets("remove", "global/token")
    assert answer.exit_code == 1
    assert "error[secret_not_found]: there is no secret global/token" in answer.stderr
    secrets("set", "global/token", value="something")
    assert secrets("remove", "global/token").stdout == "global/token is removed\n"
    assert secrets("list").stdout == ""


def test_bytes_that_are_no_text_are_refused(secrets):
    answer = secrets("set", "global/token", value=b"\xff\xfe\xfd")
    assert answer.exit_code == 1
    assert "is not UTF-8" in answer.stderr
