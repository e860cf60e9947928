"""`store: cortex`: the section `cortex` names the Cortex that is asked, and otherwise where this process serves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cortex_graph import GraphUnavailable, Provenance
from cortex_skills import Config, CortexError, Plugin
from cortex_skills.doors.http.auth import AccessControl
from tests.cli.conftest import run, store  # noqa: F401 - fixtures
from tests.configs import config
from tests.graph.remote.hostile import hostile, response, says
from tests.server.serving import Running, served

FAR = "graph.invalid"  # RFC 2606: no machine has this name
ALL = ("read", "write", "provenance")


@pytest.fixture(scope="module")
def far(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The Cortex that is asked."""
    with served(tmp_path_factory.mktemp("far")) as running:
        yield running


def asking(far: Running, token: str, **settings: Any) -> Config:
    return config(store="cortex", cortex={"host": far.host, "port": far.port, "authToken": token}, **settings)


@pytest.mark.parametrize("form", ["{}", "Bearer {}"])
def test_the_triples_and_their_records_are_in_the_cortex_that_the_section_names(far: Running, form: str) -> None:
    token = form.format(far.token("near", permissions=ALL))
    with Plugin.open(asking(far, token)) as plugin:
        made = plugin.graph.create_triple({"subject": "a", "predicate": form, "object": 1})
        assert plugin.status()["store"] == f"cortex://{far.host}:{far.port}"
    assert far.plugin.graph.get_triple(made["id"]) is not None


def test_a_wrong_token_is_an_error_that_names_the_address_and_not_the_token(far: Running) -> None:
    with Plugin.open(asking(far, "wrong-secret")) as plugin:
        with pytest.raises(Exception, match=f"{far.host}:{far.port} refuses the token") as raised:
            plugin.graph.count()
        assert "wrong-secret" not in str(raised.value)
        assert "wrong-secret" not in repr(plugin.config) + json.dumps(plugin.config.to_json())


def test_the_section_names_no_server_of_this_process_then(tmp_path: Path) -> None:
    section = {"host": FAR, "port": 4711, "authToken": "abc", "tokenFile": str(tmp_path / "none.json")}
    asks = Config(store="cortex", cortex={**section, "queryTimeoutMs": 5000})
    assert (asks.serving.host, asks.serving.port, asks.serving.auth_token) == ("127.0.0.1", 19090, None)
    assert asks.serving.query_timeout_ms == 5000
    assert (asks.store_name, asks.store_folder) == (f"cortex://{FAR}:4711", None)
    assert not AccessControl(asks).has_tokens()  # the token of the other server opens nothing here
    assert Config(store="cortex", cortex={"host": "::1"}).cortex_url == "http://[::1]:19090"
    assert Config(store="./cortex").store_folder == Path("cortex")


@pytest.mark.parametrize("host", [FAR, "203.0.113.7", "2001:db8::7", "a b", "x" * 200, "exa\u0000mple"])
def test_a_host_elsewhere_without_that_store_is_an_error_with_both_meanings(host: str, tmp_path: Path) -> None:
    with pytest.raises(CortexError) as raised:
        Config(cortex={"host": host})
    assert raised.value.code == "config_invalid"
    (tmp_path / "cortex.yaml").write_text(json.dumps({"cortex": {"host": host}}))
    with pytest.raises(CortexError, match="is not this machine") as raised:
        Config.load(tmp_path / "cortex.yaml", env={})
    assert "`store: cortex` to ask the Cortex there; to serve, use an address of this machine" in str(
        raised.value.details
    )


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "localhost", "0.0.0.0", "::1"])
def test_a_host_of_this_machine_is_where_it_serves(host: str) -> None:
    assert Config(cortex={"host": host}).serving.host == host


def test_a_command_with_a_store_of_its_own_works_with_such_a_configuration(tmp_path: Path) -> None:
    (tmp_path / "cortex.yaml").write_text(json.dumps({"store": "cortex", "cortex": {"host": FAR}}))
    loaded = Config.load(tmp_path / "cortex.yaml", env={}, overrides={"store": "memory:"})
    assert (loaded.store, loaded.serving.host) == ("memory:", FAR)


def test_serve_does_not_ask_itself(run: Any) -> None:  # noqa: F811
    answer = run("serve", "--store", "cortex", "--json")
    assert answer.error["code"] == "config_invalid"
    assert answer.error["message"] == "the store is the Cortex at 127.0.0.1:19090"
    assert "--port" in answer.error["hint"]


def test_another_kind_of_cortex_is_no_store_and_nothing_is_written_to_it() -> None:
    """It has triples and patterns, but no records of assertions: the error states it."""
    with hostile(says(response(404, b"", kind="text/plain"))) as server:
        host, port = server.url.removeprefix("http://").split(":")
        with Plugin.open(config(store="cortex", cortex={"host": host, "port": int(port)})) as plugin:
            with pytest.raises(GraphUnavailable) as raised:
                plugin.graph.create_triple({"subject": "a", "predicate": "p", "object": 1}, Provenance(agent="a1"))
            assert "lacks a path of the Cortex API" in raised.value.message
            assert raised.value.hint.startswith("the store must be `cortex-skills serve`")
        assert {request.split(b" ")[0] for request in server.requests} == {b"GET"}


@pytest.mark.parametrize("given", [{"host": "a b"}, {"host": "x/y?z"}, {"authToken": "ü"}, {"authToken": "a\nb"}])
def test_an_address_or_a_token_that_cannot_be_sent_is_an_error(given: dict[str, str]) -> None:
    with pytest.raises(CortexError) as raised:
        Plugin.open(config(store="cortex", cortex=given))
    assert raised.value.code == "config_invalid"
