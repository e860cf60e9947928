"""What is answered to a message that is not passed on, without any process."""

from __future__ import annotations

import json
from typing import Any

import mcp_types as types
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cortex_skills.doors.mcp.top_level_members import MAX_MEMBER, TopLevelMembers
from cortex_skills.doors.mcp.unreadable import refusal_of, too_long, unread

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=4),
)
MEMBERS = {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "x", "arguments": {"id": 3, "a": ['"}', {}]}}}


def answered(message: bytes | str) -> Any:
    """The answer as its receiver reads it; None if there is none."""
    refused = unread(message.encode(errors="surrogatepass") if isinstance(message, str) else message)
    if refused is None or refused.answer is None:
        return None
    return json.loads(refused.answer.model_dump_json(by_alias=True, exclude_unset=True))


def members_of(text: bytes, size: int = 7) -> dict[str, Any]:
    members = TopLevelMembers()
    for place in range(0, len(text), size):
        members.feed(text[place : place + size])
    return members.found


@given(
    st.binary() | st.text().map(lambda text: text.encode(errors="replace")) | JSON.map(lambda v: json.dumps(v).encode())
)
@example(b"[" * 100_000)
@example(b'{"id": ' + b"9" * 10_000 + b"}")
@example(b'{"id": "\\ud800", "method": "ping"}')
@example(b'{"id": 1e999, "method": "ping"}')
@example(b"\xef\xbb\xbf{}")
def test_the_answer_to_any_line_can_be_read(line: bytes) -> None:
    found = answered(line)
    for answer in found if isinstance(found, list) else [found] if found else []:
        assert answer["error"]["code"] in (types.PARSE_ERROR, types.INVALID_REQUEST)
        assert "id" in answer


@pytest.mark.parametrize("number", [0, -1, 2**70, "", "a", "é", "\x1b", "a\nb", 1.5, 5.0])
def test_an_id_that_can_be_repeated_is_that_of_the_answer(number: float | str) -> None:
    found = answered(json.dumps({"jsonrpc": "2.0", "id": number, "method": "ping", "params": []}))
    assert found["id"] == number
    assert type(found["id"]) is type(number)


@pytest.mark.parametrize("number", [None, True, [], {}, "\ud800", float("inf")])
def test_what_can_be_no_id_is_not_repeated(number: object) -> None:
    found = answered(json.dumps({"jsonrpc": "2.0", "id": number, "method": "ping"}))
    assert found["id"] is None


@pytest.mark.parametrize("number", [None, 1.5, 5.0, True])
def test_a_request_whose_id_mcp_does_not_allow_is_answered_and_not_taken_as_a_notification(number: object) -> None:
    found = answered(json.dumps({"jsonrpc": "2.0", "id": number, "method": "ping"}))
    assert found["error"]["code"] == types.INVALID_REQUEST
    assert "string or an integer" in found["error"]["message"]


@pytest.mark.parametrize("line", ["", " \r", '{"method": "notifications/x", "params": 7}', '{"id": 1, "result": 7}'])
def test_notifications_and_answers_get_no_answer(line: str) -> None:
    assert unread(line.encode()).answer is None


@pytest.mark.parametrize("line", [MEMBERS | {"id": 1}, {"jsonrpc": "2.0", "method": "notifications/x"}])
def test_a_message_is_passed_on(line: dict[str, Any]) -> None:
    assert unread(json.dumps(line).encode()) is None
    assert refusal_of(json.dumps(line).encode()) is None


FAULTS = {
    "a repeated key": (b'{"a": 1, "a": 2}', "a key is given twice"),
    "NaN": (b"[NaN]", "NaN is not JSON"),
    "invalid UTF-8": (b'"\xff"', "not UTF-8"),
    "deep": (b"[" * 101 + b"]" * 101, "nested more than"),
    "too deep to parse": (b"[" * 5000 + b"]" * 5000, "nested too deeply"),
    "a number without a value": (b"1e400", "the number 1e400 is too large"),
    "a long integer": (b"9" * 5000, "4300"),
    "no value": (b"", "not JSON"),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize(
    "form", [b'{"id": 34, "method": "x", "params": %s}', b'{"method": "x", "params": %s, "id": 34}']
)
def test_a_fault_in_a_request_is_named_with_its_id_wherever_that_is(fault: str, form: bytes) -> None:
    text, reason = FAULTS[fault]
    found = answered(form % text)
    assert (found["id"], found["error"]["code"]) == (34, types.PARSE_ERROR)
    assert reason in found["error"]["message"]


def test_a_byte_order_mark_is_named_as_what_it_is() -> None:
    found = answered(b'\xef\xbb\xbf{"id": 34, "method": "ping"}')
    assert (found["id"], found["error"]["code"]) == (34, types.PARSE_ERROR)
    assert found["error"]["message"].endswith("it begins with a byte order mark")


def test_a_repeated_id_is_not_guessed_and_a_faulty_notification_is_not_answered() -> None:
    assert answered('{"id": 1, "id": 2, "method": "ping"}')["id"] is None
    assert answered('{"method": "notifications/x", "params": {"a": 1, "a": 2}}') is None
    assert json.loads(refusal_of(b'{"method": "notifications/x", "params": {"a": 1, "a": 2}}'))["id"] is None


UNREADABLE_IDS = {
    "a long string": b'"id": "%s"' % (b"x" * (MAX_MEMBER + 1)),
    "far from its name": b'"id" %s: 3' % (b" " * MAX_MEMBER),
    "a long integer": b'"id": ' + b"9" * 5000,
    "5,000 digits in few bytes of a member": b'"id":' + b"9" * (MAX_MEMBER - 5) + b"x",
    "invalid UTF-8": b'"id": "\xff"',
    "a name with an escape": b'"\\u0069d": "\xff"',
    "no JSON": b'"id": 0x7',
    "a name without quotes": b"id: 7",
    "a name in other quotes": b"'id': 7",
    "a name that is not UTF-8": b'"id\xff": 7',
}


@pytest.mark.parametrize("form", [b'{%s, "method": "ping"}', b'{"method": "ping", %s}'])
@pytest.mark.parametrize("name", UNREADABLE_IDS)
def test_a_request_whose_id_cannot_be_read_is_not_taken_as_a_notification(name: str, form: bytes) -> None:
    line = form % UNREADABLE_IDS[name]
    members = TopLevelMembers()
    members.feed(line)
    assert too_long(members).answer.id is None
    assert answered(line[:-1] + b",}")["id"] is None


def test_each_request_of_a_batch_is_answered_with_its_id() -> None:
    batch = [
        {"id": 1, "method": "ping"},
        {"method": "notifications/x"},
        {"id": "b", "method": "ping"},
        {"id": 3, "result": {}},
        7,
    ]
    found = answered(json.dumps(batch))
    assert [answer["id"] for answer in found] == [1, "b", None]
    assert all("batch" in answer["error"]["message"] for answer in found)
    assert answered(json.dumps(batch[1:2])) is None
    assert answered("[]")["id"] is None
    assert answered(json.dumps([{"id": 1, "method": "ping"}] * 1001))["id"] is None


@given(st.permutations([*MEMBERS, "id"]), st.integers() | st.text(max_size=20), st.integers(1, 40))
@settings(max_examples=150)
def test_the_id_of_a_message_of_any_length_is_found(order: list[str], number: int | str, size: int) -> None:
    document = {name: (MEMBERS | {"id": number})[name] for name in order}
    for text in (json.dumps(document), json.dumps(document, ensure_ascii=False), json.dumps(document, indent=1)):
        found = members_of(text.encode(errors="surrogatepass"), size)
        assert found == document | {"params": None}


def test_only_small_and_complete_members_count() -> None:
    long = b"a" * (MAX_MEMBER + 1)
    assert members_of(b'{"method": "%s", "id": 3}' % long) == {"method": None, "id": 3}
    assert members_of(b'{"method": "x", "id": 3') == {"method": "x"}  # it may be the beginning of 34
    assert members_of(b'{"x": "\\"", "id": 3, "y": "\\\\"}') == {"x": '"', "id": 3, "y": "\\"}
    assert members_of(b'[{"id": 3}]') == {}
    assert members_of(b'{"id": 3}, {"id": 4}') == {"id": 3}


def test_the_answer_to_a_long_line_has_its_id_and_the_reason() -> None:
    members = TopLevelMembers()
    members.feed(b'{"params": {"a": "' + b"x" * 10_000 + b'"}, "method": "tools/call", "id": 34}')
    answer = too_long(members).answer
    assert (answer.id, answer.error.message) == (34, "the message is longer than 8 MiB")
    members = TopLevelMembers()
    members.feed(b'{"id": 3, "result": {}}')
    assert too_long(members).answer is None
