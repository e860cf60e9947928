"""The store of a configuration on a SPARQL server, and its secrets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cortex_skills.config.settings import Config
from cortex_skills.errors import CortexError

SECRET = "hunter2-of-the-tests"
STORE = {
    "query": "http://127.0.0.1:9/sparql",
    "update": "http://127.0.0.1:9/sparql-auth",
    "auth": {"type": "digest", "user": "dba", "password": "${STORE_PASSWORD}"},
}
ENV = {"STORE_PASSWORD": SECRET}

FILE = """
store:
  query: http://127.0.0.1:9/sparql
  update: http://127.0.0.1:9/sparql-auth
  auth: {type: digest, user: dba, password: "${STORE_PASSWORD}"}
"""


def test_a_file_names_a_server_and_the_variable_of_its_secret(tmp_path: Path) -> None:
    (tmp_path / "cortex.yaml").write_text(FILE)
    config = Config.load(tmp_path / "cortex.yaml", env=ENV)
    assert config.store == STORE
    assert (config.store_name, config.store_folder) == (STORE["query"], None)
    assert config.to_json()["store"] == STORE
    assert SECRET not in repr(config) + json.dumps(config.to_json())


def test_the_environment_names_a_store_as_a_url_or_as_json(tmp_path: Path) -> None:
    assert Config.load(env={"CORTEX_STORE": "https://example.org/sparql"}).store == "https://example.org/sparql"
    assert Config.load(env={"CORTEX_STORE": json.dumps(STORE), **ENV}).store == STORE


def test_a_store_is_never_merged_from_two_sources(tmp_path: Path) -> None:
    (tmp_path / "cortex.yaml").write_text(FILE)
    other = {"query": "http://127.0.0.1:10/query"}
    assert Config.load(tmp_path / "cortex.yaml", env=ENV, overrides={"store": other}).store == other
    assert Config.load(tmp_path / "cortex.yaml", env=ENV | {"CORTEX_STORE": "memory:"}).store == "memory:"


@pytest.mark.parametrize(
    ("store", "field"),
    [
        (STORE | {"auth": {"type": "basic", "user": "dba", "password": SECRET}}, "store.auth.password"),
        (STORE | {"auth": {"type": "basic", "user": "dba", "password": f"x${{STORE_PASSWORD}}{SECRET}"}}, "store.auth"),
        (STORE | {"auth": {"type": "bearer", "token": SECRET}}, "store.auth.token"),
        (STORE | {"auth": {"type": "bearer", "password": SECRET}}, "store.auth"),
        (STORE | {"auth": {"type": SECRET}}, "store.auth.type"),
        (STORE | {"auth": SECRET}, "store.auth"),
        (STORE | {"auth": {"type": "bearer", "token": "${NOT_SET_IN_THE_TESTS}"}}, "store.auth.token"),
        (STORE | {"query": f"http://dba:{SECRET}@127.0.0.1/sparql"}, "store.query"),
        (STORE | {"update": f"http://127.0.0.1/sparql?key={SECRET}"}, "store.update"),
        ({"update": "http://127.0.0.1/update"}, "store"),
        (STORE | {"username": SECRET}, "store"),
        (f"http://dba:{SECRET}@127.0.0.1/sparql", "store"),
        (f"https://127.0.0.1/sparql#{SECRET}", "store"),
        ("http://", "store"),
    ],
)
def test_a_secret_in_clear_text_or_a_malformed_store_is_rejected_and_not_repeated(
    tmp_path: Path, store: Any, field: str
) -> None:
    (tmp_path / "cortex.yaml").write_text(json.dumps({"store": store}))
    with pytest.raises(CortexError) as caught:
        Config.load(tmp_path / "cortex.yaml", env=ENV)
    assert caught.value.code == "config_invalid"
    (problem,) = caught.value.details["errors"]
    assert problem["field"].startswith(field)
    assert problem["hint"]
    assert SECRET not in str(caught.value) + repr(caught.value) + json.dumps(caught.value.details)


@pytest.mark.parametrize("text", ['{"query": "http://127.0.0.1:1"', "{query: x}", ' {"password": "secret"'])
def test_a_mapping_that_is_not_json_is_no_folder(text: str) -> None:
    for given in ({"env": {"CORTEX_STORE": text}}, {"env": {}, "overrides": {"store": text}}):
        with pytest.raises(CortexError, match=r"store: begins with \{ and is not JSON") as caught:
            Config.load(**given)  # type: ignore[arg-type]
        assert caught.value.code == "config_invalid"
        assert "secret" not in caught.value.message
    assert Config.load(env={"CORTEX_STORE": "./{x"}).store_folder is not None
