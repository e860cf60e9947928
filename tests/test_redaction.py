"""What is removed from the arguments of calls before they are kept or leave the process."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_skills.safe_io.redaction import MASK, MAX_TEXT, redacted, redacted_text

SECRET = "hunter2-is-mine"
NAMES = ["password", "Passwd", "db_password", "apiKey", "API-KEY", "x_api_key", "accessToken", "client secret", "PIN"]
NAMES += [
    "Authorization",
    "Set-Cookie",
    "privateKey",
    "sessionId",
    "jwt",
    "otp",
    "credentials",
    "\uff50assword",
    "auth",
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [SECRET, 1234, [SECRET], {"a": {"b": SECRET}}, True])
def test_the_value_of_a_member_that_names_a_secret_is_replaced(name: str, value: Any) -> None:
    assert redacted({"a": [{"b": {name: value}}]}) == {"a": [{"b": {name: MASK}}]}


@pytest.mark.parametrize("name", ["path", "author", "monkey", "pinned", "keyboard", "passage", "description", "count"])
def test_other_members_stay(name: str) -> None:
    value = {name: ["report.md", 7, None, 1.5, False]}
    assert redacted(value) == value


@pytest.mark.parametrize(
    "text",
    [
        "sk-abcdEFGH12345678",
        "ghp_0123456789abcdefghij",
        "AKIAIOSFODNN7EXAMPLE",
        "eyJhbGciOi.eyJzdWIiOiIx.c2lnbmF0dXJl",
        "Bearer abc.def",
        "0123456789abcdef0123456789abcdef",
        "password=hunter2!",
        "MY_SECRET: s3cr3t",
        '"api_key": "k1"',
        "https://ada:hunter2@host/x",
        "-----BEGIN EC PRIVATE KEY-----\nMHc\n-----END EC PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\nMHc",
        "aGVsbG8gd29ybGQgMTIzNDU2Nzg5MA==",
    ],
)
def test_parts_of_texts_that_look_like_secrets_are_replaced(text: str) -> None:
    secret = text.rpartition("=")[2] if text.startswith("password") else text
    found = redacted({"note": [f"before {text} after"]})["note"][0]
    assert MASK in found
    assert secret not in found
    assert (found.startswith("before "), "hunter2" in found, "MHc" in found) == (True, False, False)
    assert secret not in str(redacted({text: 1}))


def test_a_name_beside_its_value_counts_too() -> None:
    assert redacted([{"name": "Authorization", "value": SECRET}]) == [{"name": "Authorization", "value": MASK}]
    assert redacted(["login", "--password", SECRET, "x"]) == ["login", "--password", MASK, "x"]
    assert "hunter2" not in str(redacted(json.dumps({"a": json.dumps({"password": "hunter2"})})))
    assert redacted({"X-Auth": "a", "name": "ada", "value": 7}) == {"X-Auth": MASK, "name": "ada", "value": 7}


def test_ordinary_texts_stay() -> None:
    for text in (
        "Read the report of 2026 and write a summary.",
        "src/app.py",
        "a" * 60,
        "internationalization",
        "東京",
    ):
        assert redacted(text) == text


def test_size_and_depth_are_limited() -> None:
    assert redacted("x y " * 1000) == ("x y " * 1000)[:MAX_TEXT] + "…"
    assert redacted(list(range(60)))[-1] == "… 10 more"
    assert redacted({str(number): 0 for number in range(60)})["…"] == "10 more"
    deep: Any = "end"
    for _ in range(5000):
        deep = [deep]
    assert MASK in json.dumps(redacted(deep))
    assert redacted({"a": {1, 2}}) == {"a": MASK}


values = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=20,
)


@settings(max_examples=100, deadline=None)
@given(before=values, after=values, name=st.sampled_from(NAMES))
def test_a_named_secret_never_survives_anywhere(before: Any, after: Any, name: str) -> None:
    value = {"list": [before, {"x": {name: [SECRET, {"y": SECRET}]}}, after]}
    assert SECRET not in json.dumps(redacted(value))


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "text",
    [
        "a",
        "-",
        "a-",
        "sk-",
        "a1",
        "password",
        "token=",
        "bearer ",
        "://",
        "://a:",
        "key ",
        "-----BEGIN PRIVATE KEY-----",
    ],
)
def test_a_hostile_text_takes_no_longer_than_another(text: str) -> None:
    assert len(redacted_text(text * 200_000)) <= 501


def test_a_secret_at_the_end_of_what_is_searched_is_replaced() -> None:
    secrets = "sk-live-0123456789abcdef " * 159
    assert "0123" not in redacted_text(f"{secrets}{'x' * 10} password=hunter2 sk-live-0123456789abcdef")
    assert "0123" not in redacted_text(f"{secrets}{'x' * 24}0123 more")
