"""Paths as their users mean them: in settings, variables and options."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from cortex_skills.config import Config
from cortex_skills.config.sections import Name, declared, path_settings
from cortex_skills.config.setting import snake
from cortex_skills.doors.cli.app import program
from cortex_skills.doors.cli.path_types import GivenPath, PathOrName
from cortex_skills.errors import CortexError
from cortex_skills.safe_io.expanded_path import expanded_path

ENV = {"HOME": "/home/ada", "DATA": "/data", "ODD": "a b$DATA", "EMPTY": "", "LINE": "/line\r\n"}
SETTINGS = list(declared().paths)
on_posix = pytest.mark.skipif(os.name == "nt", reason="paths have another form there")


@on_posix
@pytest.mark.parametrize(
    ("given", "path"),
    [
        ("~/graph", "/home/ada/graph"),
        ("~", "/home/ada"),
        ("~root/graph", "/root/graph"),
        ("$DATA/graph", "/data/graph"),
        ("x/${DATA}", "x//data"),
        ("$ODD", "a b$DATA"),  # a value is not expanded again
        ("$LINE/graph", "/line/graph"),
        ("a$$b", "a$b"),
        ("a$$(b", "a$(b"),
        ("it's", "it's"),
        ("cost$", "cost$"),
        ("$1", "$1"),
        ("./~", "./~"),
        ("a~b/~", "a~b/~"),
        ("50%DATA%", "50%DATA%"),
        ("", ""),
    ],
)
def test_home_folders_and_variables_are_expanded_once(given: str, path: str) -> None:
    assert expanded_path(given, ENV) == path


@on_posix
@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("$NOWHERE/graph", "the environment variable NOWHERE is not set"),
        ("x/${NOWHERE}", "the environment variable NOWHERE is not set"),
        ("$EMPTY/graph", "the environment variable EMPTY is not set"),
        ("${}/graph", "${} is no environment variable: write ${NAME}"),
        ("${DATA:-x}/graph", "${DATA:-x} is no environment variable: write ${NAME}"),
        ("$(pwd)/graph", "$(...) is a command, which only a shell runs: write the path"),
        (" ~/graph", "the path begins or ends with a blank: write it without"),
        ("/data/graph ", "the path begins or ends with a blank: write it without"),
        ("/data/graph\n", "the path begins or ends with a blank: write it without"),
        (" ", "the path begins or ends with a blank: write it without"),
        ('"~/graph"', "the path is in quotes: write it without"),
        ("'/data/graph'", "the path is in quotes: write it without"),
        ("~no-such-user/x", "there is no home folder of no-such-user: write ./~no-such-user if it is a name"),
        ("%APPDATA%/graph", "%APPDATA% is a variable on Windows only: write $APPDATA"),
    ],
)
def test_what_is_not_there_is_an_error_and_no_part_of_the_path(given: str, reason: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(reason)}$"):
        expanded_path(given, ENV)


@on_posix
@pytest.mark.parametrize(
    ("given", "address"),
    [
        ("file:~/g", "file:/home/ada/g"),
        ("file:%7E/g", "file:/home/ada/g"),
        ("file:///data/%7Eg", "file:///data/%7Eg"),
        ("file://$DATA/g", "file:///data/g"),
        ("file:$ODD/a%20b", "file:a%20b%24DATA/a%20b"),
        ("file:///data/a%20b", "file:///data/a%20b"),
        ("file://localhost/$NAME", "file://localhost/ada"),
        ("https://example.org/~ada/$DATA", "https://example.org/~ada/$DATA"),
        ("memory:", "memory:"),
        ("artifact:acme.$DATA", "artifact:acme.$DATA"),
        ("~/g", "/home/ada/g"),
    ],
)
def test_of_addresses_only_those_of_files_are_expanded(given: str, address: str) -> None:
    assert expanded_path(given, {**ENV, "NAME": "ada"}, may_be_address=True) == address


@pytest.mark.parametrize("given", ["file:///~/g", "file:/~/g", "file:///%7e/g", "file://localhost/~ada/g"])
def test_an_address_of_a_home_folder_at_the_root_is_an_error(given: str) -> None:
    with pytest.raises(ValueError, match="write file:~"):
        expanded_path(given, ENV, may_be_address=True)


@on_posix
def test_on_windows_its_variables_are_expanded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cortex_skills.safe_io.expanded_path.os.name", "nt")
    assert expanded_path(r"%DATA%\graph 100%", {"DATA": r"C:\data"}) == r"C:\data\graph 100%"
    with pytest.raises(ValueError, match="NOWHERE is not set"):
        expanded_path(r"%NOWHERE%\graph", {})


def placed(setting: Name, path: str) -> tuple[dict[str, Any], str]:
    """The settings with a path at a setting, and the name of the value in `path_settings`."""
    section, name = setting if len(setting) == 2 else (None, setting[0])
    default = getattr(getattr(Config(), section), name) if section else Config().store
    key = ".x" if isinstance(default, dict) else ""
    value = {"x": path} if key else [path] if isinstance(default, tuple) else path
    return {section: {name: value}} if section else {name: value}, key


def paths_of(config: Config) -> set[str]:
    return {value for _, value, _ in path_settings(config)}


@on_posix
@pytest.mark.parametrize("setting", SETTINGS, ids=".".join)
def test_each_path_setting_is_expanded_wherever_it_comes_from(
    setting: Name, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    settings, _ = placed(setting, "~/of-arguments")
    assert "/home/ada/of-arguments" in paths_of(Config(**settings))
    import yaml

    from cortex_skills.config.setting import camel

    in_file = {
        camel(key): {camel(name): part for name, part in value.items()} if isinstance(value, dict) else value
        for key, value in placed(setting, "$HOME/of-file")[0].items()
    }
    (tmp_path / "cortex.yaml").write_text(yaml.safe_dump(in_file))
    assert "/home/ada/of-file" in paths_of(Config.load(tmp_path / "cortex.yaml", env={"HOME": "/home/ada"}))
    rule = declared().rules[next(known for known in declared().rules if tuple(map(snake, known)) == setting)]
    text = '{"x": "${HOME}/of-variable"}' if rule["type"] == "object" else "${HOME}/of-variable"
    env = {"HOME": "/home/ada", "CORTEX_" + "__".join(setting).upper(): text}
    assert "/home/ada/of-variable" in paths_of(Config.load(env=env))


@pytest.mark.parametrize("setting", SETTINGS, ids=".".join)
def test_each_path_setting_that_names_an_unknown_variable_is_an_error(setting: Name) -> None:
    with pytest.raises(CortexError, match="the environment variable NOWHERE is not set") as caught:
        Config(**placed(setting, "${NOWHERE}/x")[0])
    assert caught.value.code == "config_invalid"


@on_posix
def test_the_path_of_the_configuration_file_is_expanded(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text("agentNamespace: here")
    assert Config.load("~/c.yaml", env={"HOME": str(tmp_path)}).agent_namespace == "here"
    with pytest.raises(CortexError, match="NOWHERE is not set"):
        Config.load("$NOWHERE/c.yaml", env={})


def parameters(command: click.Command) -> Iterator[tuple[str, click.Parameter]]:
    yield from ((f"{command.name} {parameter.opts[-1]}", parameter) for parameter in command.params)
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from parameters(inner)


# What names a path and is expanded with the settings, and what is only looked up.
OTHERS = {"--store", "url"}
OF_THE_WORKSPACE = {"add-rule folder", "preview-rule folder"}  # where an action writes, which may be another machine


def test_each_option_and_argument_that_is_a_path_is_expanded() -> None:
    for name, parameter in parameters(program):
        words = set((parameter.metavar or "").strip("[].").replace("|", " ").replace("#", " ").split())
        is_path = isinstance(parameter.type, click.Path) or words & {"FILE", "FOLDER", "PATH", "STORE", "OUT", "URL"}
        if is_path and parameter.opts[-1] not in OTHERS and name not in OF_THE_WORKSPACE:
            assert isinstance(parameter.type, GivenPath | PathOrName), name


@on_posix
def test_commands_take_a_path_with_a_home_folder_or_a_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("DATA", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.nt").write_text('<urn:a> <urn:p> "1" .')
    run = CliRunner().invoke
    assert run(program, ["graph", "import", "$DATA/a.nt", "--store", "~/graph"]).exit_code == 0
    assert run(program, ["graph", "import", "a.nt"], env={"CORTEX_STORE": "file:~/other"}).exit_code == 0
    assert run(program, ["graph", "copy", "--from", "~/graph", "--to", "~/third"]).exit_code == 0
    assert sorted(path.name for path in (tmp_path / "home").iterdir() if path.suffix != ".audit") == [
        "graph",
        "other",
        "third",
    ]
    assert not (tmp_path / "~").exists()
    refused = run(program, ["graph", "import", "$NOWHERE/a.nt"])
    assert refused.exit_code == 2
    assert "the environment variable NOWHERE is not set" in refused.stderr
    refused = run(program, ["graph", "import", "a.nt", "--store", "$NOWHERE/g"])
    assert "store: the environment variable NOWHERE is not set" in refused.stderr
