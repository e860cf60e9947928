"""The limit of members of a body, checked before it is parsed."""

from __future__ import annotations

from typing import Any

import pytest

from cortex_skills.doors.http import bodies
from cortex_skills.doors.http.bodies import MAX_BODY, parse_json
from cortex_skills.doors.http.http_errors import HttpError

MANY = 600_000


@pytest.mark.parametrize("member", [b"0", b"[]", b"{}", b'""', b'"a,b\\",c"', b'{"a":0}'])
def test_a_body_with_too_many_members_is_not_read(member: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(_: Any) -> Any:
        raise AssertionError("it was read")

    monkeypatch.setattr(bodies, "read_json", read)
    with pytest.raises(HttpError, match="too many members") as refused:
        parse_json(b'{"triples": [' + (member + b",") * MANY + member + b"]}")
    assert refused.value.code == "invalid_arguments"


def test_commas_in_texts_are_no_members() -> None:
    text = 'a,\\"b\\\\' * MANY
    assert parse_json(b'{"object": "' + text.encode() + b'"}') == {"object": 'a,"b\\' * MANY}


@pytest.mark.parametrize("body", [b'"' * MAX_BODY, b'",' * (MAX_BODY // 2), b'["' + b",\\" * MANY, b'"\\' * MANY])
def test_strings_without_an_end_are_refused(body: bytes) -> None:
    with pytest.raises(HttpError) as refused:
        parse_json(body)
    assert refused.value.code == "invalid_arguments"


def test_a_byte_order_mark_before_a_body_is_ignored() -> None:
    assert parse_json(b'\xef\xbb\xbf{"query": "ASK {}"}') == {"query": "ASK {}"}


@pytest.mark.parametrize("number", ["1e400", "-1e400", "1" + "0" * 400 + ".0"])
def test_a_number_that_has_no_value_is_refused(number: str) -> None:
    with pytest.raises(HttpError, match="is too large"):
        parse_json(f'{{"object": {number}}}'.encode())


def test_the_error_names_the_remedy(client: Any) -> None:
    body = b'{"triples": [' + b"0," * MANY + b"0]}"
    answer = client.post("/api/v1/validate", content=body, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_arguments")
    assert "send several smaller requests" in answer.json()["hint"]
