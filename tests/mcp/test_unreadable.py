"""What is answered to a line that is no message, without any process."""

from __future__ import annotations

import json

import mcp_types as types
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cortex_skills.server.mcp.unreadable import refusal_of

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=4),
)


@given(st.text() | JSON.map(json.dumps))
@example("[" * 100_000)
@example('{"id": ' + "9" * 10_000 + "}")
@example('{"id": "\\ud800", "method": "ping"}')
def test_the_answer_to_any_line_can_be_serialized(line: str) -> None:
    refusal = refusal_of(line)
    if refusal is not None:
        again = types.JSONRPCError.model_validate_json(refusal.model_dump_json())
        assert again.error.code in (types.PARSE_ERROR, types.INVALID_REQUEST)


@pytest.mark.parametrize("number", [0, -1, 2**70, "", "a", "é"])
def test_an_id_that_can_be_made_out_is_that_of_the_answer(number: int | str) -> None:
    refusal = refusal_of(json.dumps({"jsonrpc": "2.0", "id": number, "method": "ping", "params": []}))
    assert refusal is not None
    assert refusal.id == number


@pytest.mark.parametrize("number", [None, True, 1.5, [], {}, "\ud800", "\x1b"])
def test_what_can_be_no_id_is_not_repeated(number: object) -> None:
    refusal = refusal_of(json.dumps({"jsonrpc": "2.0", "id": number, "method": "ping"}))
    assert refusal is not None
    assert refusal.id is None


@pytest.mark.parametrize("line", ["", " \r", '{"method": "notifications/x", "params": 7}', '{"id": 1, "result": 7}'])
def test_notifications_and_answers_get_no_answer(line: str) -> None:
    assert refusal_of(line) is None
