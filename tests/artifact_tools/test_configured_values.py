"""`operator.config`: defaults, required and redacted values and enumerations; and the default tool and entrypoint."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from wasmtime import wat2wasm

from cortex_skills import Plugin
from cortex_skills.features.artifacts.artifact_operations import describe
from cortex_skills.features.artifacts.installed.grant_decisions import GrantAnswers
from cortex_skills.features.artifacts.package import write_archive
from cortex_skills.secrets import SecretName, SecretStore
from tests.artifact_tools.conftest import add
from tests.artifacts.samples import MANIFEST, payload, signed
from tests.installed.samples import install_with
from tests.wasm.modules import ECHO, FORWARD, component

ID = "acme.echo_http"
# Answers with the value of `INPUT`, which is the name of a property in quotes, or fails with the code of the refusal.
NAMED = "(i32.add (local.get $in) (i32.const 10)) (i32.sub (local.get $size) (i32.const 12))"
READS = component(f"(call $config-read {NAMED} (i32.const 2048)) {FORWARD}", "config-read")
# Answers with the last digit of the length of the name of the tool.
LAST_DIGIT = component(
    "(i32.store8 (i32.const 100) (i32.add (i32.const 48) (i32.rem_u (local.get $toolsize) (i32.const 10))))"
    "(i32.store (i32.const 1028) (i32.const 100)) (i32.store (i32.const 1032) (i32.const 1)) (i32.const 1024)"
)
CONFIG = """
[operator.config]
required = ["language", "token"]
[operator.config.properties.language]
type = "string"
enum_values = ["en", "cs"]
[operator.config.properties.base]
type = "string"
default = "https://api.example.org"
[operator.config.properties.limits]
type = "string_list"
[operator.config.properties.token]
type = "string"
redacted = true
"""


def answers_anything(text: str) -> str:
    return text.replace('output_schema = { type = "object" }', "output_schema = {}")


def asked(plugin: Plugin, name: str) -> Any:
    """What the component reads as the value of a property."""
    return plugin.call("acme.echo", {"text": name}, skill=None)


def secret(plugin: Plugin, value: str, name: str = "config.token") -> None:
    SecretStore.of(plugin.config.secrets).set(SecretName(f"skill:{ID}", name), value)


def test_a_component_reads_what_was_configured_and_the_defaults(open_plugin: Callable[..., Plugin]) -> None:
    plugin = open_plugin(artifacts={"config": {ID: {"language": "cs", "limits": ["a"]}}})
    secret(plugin, "tok-8c1f2a9e77")
    add(plugin, READS, CONFIG, tool=answers_anything)
    found = {name: asked(plugin, name) for name in ("language", "base", "limits")}
    assert {name: each.details["outputs"]["result"] for name, each in found.items()} == {
        "language": "cs",
        "base": "https://api.example.org",
        "limits": ["a"],
    }
    hidden = asked(plugin, "token")
    assert not hidden.is_error
    assert "tok-8c1f2a9e77" not in hidden.text + json.dumps(hidden.details)
    assert asked(plugin, "other").code == "action_failed"


@pytest.mark.parametrize(
    ("given", "token", "says"),
    [
        ({}, "t0k-e5n-value", "language is required, and has no value"),
        ({"language": "en"}, None, "token is required, and has no value"),
        ({"language": "de"}, "t0k-e5n-value", "language is none of en, cs"),
        ({"language": 7}, "t0k-e5n-value", "language is not of the type string"),
        ({"language": "en", "limits": [1]}, "t0k-e5n-value", "limits is not of the type string_list"),
        ({"language": "en", "token": "plain"}, "t0k-e5n-value", "token is redacted, and not kept in the settings"),
        ({"language": "en", "speed": 1}, "t0k-e5n-value", "'speed' is not declared by its manifest"),
    ],
)
def test_an_artifact_that_is_not_configured_as_it_declares_does_not_run(
    open_plugin: Callable[..., Plugin], given: dict[str, Any], token: str | None, says: str
) -> None:
    plugin = open_plugin(artifacts={"config": {ID: given}})
    if token is not None:
        secret(plugin, token)
    add(plugin, READS, CONFIG, tool=answers_anything)
    refused = asked(plugin, "base")
    assert refused.code == "config_invalid"
    assert says in refused.text
    assert "plain" not in refused.text


def test_a_secret_that_was_denied_is_not_read_as_a_value(open_plugin: Callable[..., Plugin]) -> None:
    plugin = open_plugin(artifacts={"config": {ID: {"language": "en"}}})
    secret(plugin, "denied-8c1f2a9e", "token")
    requested = f'[[capabilities.secrets]]\nscope = "skill:{ID}"\nkey_names = ["token"]\n'
    add(plugin, READS, requested + CONFIG, GrantAnswers(rest=False), tool=answers_anything)
    assert "token is required, and has no value" in asked(plugin, "token").text


def test_what_is_configured_is_shown_without_redacted_values(open_plugin: Callable[..., Plugin]) -> None:
    plugin = open_plugin(artifacts={"config": {ID: {"language": "en"}}})
    secret(plugin, "tok-8c1f2a9e77")
    add(plugin, READS, CONFIG, tool=answers_anything)
    shown = plugin.operate(describe, id=ID).document()["config"]
    assert {each["name"]: (each["value"], each["required"]) for each in shown} == {
        "language": ("en", True),
        "base": ("https://api.example.org", False),
        "limits": (None, False),
        "token": ("[redacted]", True),
    }


def test_the_id_of_an_artifact_calls_its_default_tool(plugin: Plugin) -> None:
    def two(text: str) -> str:
        other = text[text.index("[[entry") : text.index("[compat]")].replace("acme.echo", "acme.other")
        return text.replace("[compat]", f"{other}\n[compat]")

    add(
        plugin,
        LAST_DIGIT,
        '[operator.plugin]\ndefault_tool_id = "acme.other"\n',
        tool=lambda t: two(answers_anything(t)),
    )
    for name in (ID, "acme_DOT_echo_http"):
        assert plugin.call(name, {"text": "x"}).details["outputs"]["result"] == 0
    assert plugin.call("acme.echo", {"text": "x"}).details["outputs"]["result"] == 9
    assert ID not in [tool["name"] for tool in plugin.tools()]


def test_without_a_default_tool_the_id_of_an_artifact_is_no_tool(plugin: Plugin) -> None:
    add(plugin)
    assert plugin.call(ID, {"text": "x"}).code == "tool_not_found"


def test_the_default_entrypoint_of_a_core_module_is_called(plugin: Plugin) -> None:
    text = '(module (func (export "run") (result i32) i32.const 1) (func (export "go-on") (result i32) i32.const 2))'
    add(plugin, bytes(wat2wasm(text)), '[operator.plugin]\ndefault_entrypoint = "go-on"\n')
    assert plugin.call("acme.echo", {}).details["outputs"] == {"code": 2}


def test_a_component_with_another_entrypoint_is_quarantined(plugin: Plugin) -> None:
    text = MANIFEST + '[operator.plugin]\ndefault_entrypoint = "go"\n'
    data = write_archive(signed(payload(text, {"modules/echo.wasm": component(ECHO)})))
    found = install_with(plugin, data)
    assert (found.status, found.findings) == ("quarantined", ("wasm_module_validation:modules/echo.wasm",))
