"""Addresses of Cortex servers."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex_graph import InvalidArguments, open_store
from cortex_graph.stores.cortex import read_server_address
from cortex_graph.stores.cortex.cortex_store import CortexStore
from cortex_skills import Config
from cortex_skills.errors import CortexError

SECRET = "hunter2-of-the-tests"
ENV = {"TOKEN": SECRET}
AUTH = {"type": "bearer", "token": "${TOKEN}"}


@pytest.mark.parametrize(
    ("where", "url"),
    [
        ("cortex://h:1", "http://h:1"),
        ("cortex://h", "http://h:19090"),
        ("cortex://h/", "http://h:19090"),
        ("cortex://[::1]:8", "http://[::1]:8"),
        ("cortex://h:1/under/a/path/", "http://h:1/under/a/path"),
        ({"cortex": "cortex://h"}, "http://h:19090"),
        ({"cortex": "https://h"}, "https://h"),
        ({"cortex": "http://h:19090/"}, "http://h:19090"),
    ],
)
def test_where_it_is_asked(where: Any, url: str) -> None:
    assert read_server_address(where, {}).url == url
    assert read_server_address(where, {}).credentials is None


@given(st.text() | st.builds("cortex://{}".format, st.text()))
def test_any_text_is_an_address_or_refused(text: str) -> None:
    with contextlib.suppress(InvalidArguments):
        assert read_server_address(text, {}).url.startswith("http://")


@pytest.mark.parametrize(
    "where",
    [
        f"cortex://{SECRET}@h",
        f"cortex://h?token={SECRET}",
        f"cortex://h#{SECRET}",
        {"cortex": "cortex://h", "auth": {"type": "bearer", "token": SECRET}},
        {"cortex": "cortex://h", "auth": {"type": "basic", "user": "u", "password": "${TOKEN}"}},
        {"cortex": "cortex://h", "auth": {"type": "bearer", "token": "${UNSET}"}},
        {"cortex": "cortex://h", "auth": SECRET},
        {"cortex": "cortex://h", "token": SECRET},
        {"cortex": f"cortex://h?{SECRET}", "auth": AUTH},
        {"cortex": "ftp://h"},
        {"cortex": 5},
        {"auth": AUTH},
    ],
)
def test_an_invalid_address_or_one_with_a_secret_is_refused_without_repeating_it(where: Any) -> None:
    with pytest.raises(InvalidArguments) as caught:
        read_server_address(where, ENV)
    assert SECRET not in f"{caught.value} {caught.value.hint} {caught.value.details}"


def test_the_token_is_in_no_repr() -> None:
    place = read_server_address({"cortex": "cortex://h", "auth": AUTH}, ENV)
    assert SECRET not in repr(place) + repr(CortexStore(place))


def test_opening_asks_nothing() -> None:
    store = open_store("cortex://192.0.2.1:9")
    store.close()


def test_a_configuration_takes_it_and_refuses_a_secret_in_the_clear(tmp_path: Path) -> None:
    file = tmp_path / "cortex.yaml"
    file.write_text('store: {cortex: "cortex://h", auth: {type: bearer, token: "${TOKEN}"}}\n')
    config = Config.load(file, env=ENV)
    assert config.store_name == "cortex://h"
    assert config.store_folder is None
    assert SECRET not in str(config.to_json())
    file.write_text(f'store: {{cortex: "cortex://h", auth: {{type: bearer, token: {SECRET}}}}}\n')
    with pytest.raises(CortexError) as caught:
        Config.load(file, env=ENV)
    assert caught.value.code == "config_invalid"
    assert SECRET not in str(caught.value)
    file.write_text("store: cortex://user:pw@h\n")
    with pytest.raises(CortexError):
        Config.load(file, env=ENV)


def test_httpx_is_imported_when_such_a_store_is_opened_and_not_before() -> None:
    code = "import cortex_graph, cortex_graph.stores.cortex, sys; assert 'httpx' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
