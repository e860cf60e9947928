"""What is removed from the arguments of calls before they are kept or leave the process."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_skills.safe_io.redaction import MASK, MAX_TEXT, redacted, redacted_text
from cortex_skills.safe_io.secret_names import MARKS, folded_name, naming
from tests.redaction_cases import WORD, made
from tests.redaction_notations import INNOCENT, INNOCENT_MEMBERS, MEMBERS, SECRETS

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
        "password=hunter2!",
        "MY_SECRET: s3cr3t",
        '"api_key": "k1"',
        "https://ada:hunter2@host/x",
        "-----BEGIN EC PRIVATE KEY-----\nMHc\n-----END EC PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\nMHc",
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


@pytest.mark.parametrize(
    ("arguments", "kept"),
    [
        (["curl", "-u", "ada:x9", "https://host"], ["curl", "-u", f"ada:{MASK}", "https://host"]),
        (["mysql", "-h", "db", f"-p{SECRET}"], ["mysql", "-h", "db", f"-p{MASK}"]),
        (["sshpass", "-p", SECRET, "ssh", "a@b"], ["sshpass", "-p", MASK, "ssh", "a@b"]),
        (["docker", "login", "-p", SECRET], ["docker", "login", "-p", MASK]),
        (["tool", f"--api-key={SECRET}", "-v"], ["tool", f"--api-key={MASK}", "-v"]),
        (["run", "-e", f"DB_PASS={SECRET}"], ["run", "-e", f"DB_PASS={MASK}"]),
        (["git", "log", "-p", "--author", "ada"], ["git", "log", "-p", "--author", "ada"]),
        (["grep", "-rn", "password", "src"], ["grep", "-rn", "password", "src"]),
    ],
)
def test_arguments_of_a_program_are_read_with_those_before_them(arguments: list[str], kept: list[str]) -> None:
    assert redacted({"args": arguments}) == {"args": kept}


def test_what_was_cut_within_a_value_is_replaced_too() -> None:
    for text in (
        "<password>correct horse",
        'password="correct horse',
        "password: 'correct horse",
        "Cookie: a=correct; b",
    ):
        assert "correct" not in redacted_text(text), text


def test_ordinary_texts_stay() -> None:
    for text in (
        "Read the report of 2026 and write a summary.",
        "src/app.py",
        "a" * 60,
        "internationalization",
        "東京",
    ):
        assert redacted(text) == text


def _left(value: Any) -> str:
    return json.dumps(redacted(value), ensure_ascii=False)


def _written(text: str) -> dict[str, Any]:
    """A text as it may be in the arguments of a call."""
    return {
        "alone": text,
        "in a list": ["x", [text]],
        "in JSON": json.dumps({"x": text}),
        "in JSON, twice": json.dumps([json.dumps({"x": text})]),
        "after a sentence": f"It was seen.\n{text}\nThen it went on.",
    }


def test_the_shapes_of_secrets_that_detectors_name_are_found_wherever_they_are() -> None:
    left = [
        (kind, place, text)
        for kind, examples in SECRETS.items()
        for text, secret in examples
        for place, written in _written(text).items()
        if secret in _left(written) or MASK not in _left(written)
    ]
    assert left == []
    assert len(SECRETS) >= 120


def test_texts_without_a_secret_stay_as_they_are() -> None:
    changed = {
        (place, text): redacted(written)
        for text in INNOCENT
        for place, written in list(_written(text).items())[:3]
        if redacted(written) != written
    }
    assert changed == {}
    assert len(INNOCENT) >= 90


@pytest.mark.parametrize(("value", "secret"), MEMBERS)
def test_a_member_names_what_another_one_holds(value: Any, secret: str) -> None:
    for depth in (value, [value], {"a": {"b": value}}):
        assert secret not in _left(depth)
        assert MASK in _left(depth)


@pytest.mark.parametrize("value", INNOCENT_MEMBERS)
def test_members_that_name_no_secret_stay(value: Any) -> None:
    assert redacted([value]) == [value]


INVISIBLE = "\u200b\u200d\u2060\ufeff\u00ad\u202e\u034f\U000e0041\x00"


@pytest.mark.parametrize("char", INVISIBLE)
def test_invisible_characters_and_styles_hide_no_secret(char: str) -> None:
    name = f"pass{char}word"
    styled = "".join(chr(ord(each) + 0xFEE0) for each in "password")
    key = "gh" + "p_" + made(36)
    for written in ({name: WORD}, {styled: WORD}, f"{name}={WORD}", f"{styled}: {WORD}", f'{{"{name}": "{WORD}"}}'):
        assert WORD not in _left(written), written
    for written in (json.dumps({name: WORD}), json.dumps(f"{styled}: {WORD}"), quote(f"{name}={WORD}")):
        assert WORD not in _left({"x": written}), written
    hidden = _left(f"see {key[:2]}{char}{key[2:10]}{char}{key[10:]}")
    assert (MASK in hidden, key[12:] in hidden) == (True, False)
    assert redacted(f"Zü{char}rich ﬁnds nothing") == f"Zü{char}rich ﬁnds nothing"


@pytest.mark.parametrize("name", NAMES)
def test_a_name_of_a_member_names_an_assignment_in_a_text_too(name: str) -> None:
    for text in (f'{{"{name}": "{WORD}"}}', f"{name.replace(' ', '_')}={WORD}", f"--{name.replace(' ', '-')} {WORD}"):
        assert WORD not in redacted_text(text), text


def test_each_name_of_a_secret_has_a_mark_that_its_text_is_searched_for() -> None:
    others = """
        DB_PASS tokens
        recovery_code mot_de_passe motdepasse hmac_key sid cvc security_code code_verifier client_assertion
        connection_string signing_seed seed_phrase csrf xsrf
    """
    names = [*NAMES, *others.split()]
    assert all(naming(name) for name in names)
    assert [name for name in names if not any(mark in folded_name(name) for mark in MARKS)] == []


def test_weak_names_hold_texts_and_no_numbers() -> None:
    given = {"pass": 12, "fail": 1, "tokens": 512, "max_tokens": 9, "has_password": True, "cookies": 0}
    assert redacted(given) == given
    assert redacted({"pass": WORD, "tokens": [WORD], "hasPassword": WORD}) == dict.fromkeys(
        ("pass", "tokens", "hasPassword"), MASK
    )


def test_a_statement_about_a_password_is_one_and_a_statement_about_a_token_is_none() -> None:
    password = {"subject": "ada", "predicate": "mayros:password", "object": WORD}
    assert redacted(password) == password | {"object": MASK}
    token = {"subject": "ada", "predicate": "hasToken", "object": "mayros:token-5"}
    assert redacted(token) == token
    assert redacted(["user", "password", "email"]) == ["user", "password", "email"]
    assert redacted([["Authorization", WORD], ["Accept", "text/html"]]) == [
        ["Authorization", MASK],
        ["Accept", "text/html"],
    ]
    key = {"kty": "OKP", "crv": "Ed25519", "x": "a", "d": WORD}
    assert redacted(key) == key | {"d": MASK}


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
        "-u a:",
        "mysql -p",
        "docker login ",
        "name=token value",
        "passpass",
        "pass_",
        "token,",
        "pass=(",
        "token:{",
        "secret='\\\\",
        "\\\\",
        "\\\\u0041",
        "<token>",
        "a.",
        "sk-1.",
        "eyJ.",
        "https://a@",
        "\u200bpass\ufb01=",
        "password is ",
        "Basic basic ",
        "$6$",
        "--token",
        "**password**: ",
        "%70",
        "&#112;",
        "token is ",
        '<a name="token" ',
        'variable "token" {',
        "http -a ",
        "QUJD",
        "-----BEGIN CERTIFICATE-----\nAAAA\n",
        "\u0430a",
        'authorization: ="',
        "password:\n  ",
        "[('token', ",
    ],
)
def test_a_hostile_text_takes_no_longer_than_another(text: str) -> None:
    assert len(redacted_text(text * 200_000)) <= 501


@settings(max_examples=60, deadline=None)
@given(before=st.text(max_size=60), after=st.text(max_size=60))
def test_any_text_is_redacted_once_and_keeps_no_key(before: str, after: str) -> None:
    key = "gh" + "p_" + made(36)
    found = redacted_text(f"{before} {key} {after}")
    assert key not in found
    assert redacted_text(found) == found


def test_a_secret_at_the_end_of_what_is_searched_is_replaced() -> None:
    secrets = "sk-live-0123456789abcdef " * 159
    assert "0123" not in redacted_text(f"{secrets}{'x' * 10} password=hunter2 sk-live-0123456789abcdef")
    assert "0123" not in redacted_text(f"{secrets}{'x' * 24}0123 more")
