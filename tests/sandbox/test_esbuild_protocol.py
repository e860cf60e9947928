"""Packets to and from esbuild's service: what is asked, and what is made of any bytes that come back."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_sandbox.esbuild_protocol import answer_length, build_request, decode_answer, prepared_request


@given(st.integers(0, 2**32 - 1), st.text(max_size=50))
@settings(max_examples=100, deadline=None)
def test_a_request_reads_back_as_what_was_asked(key: int, entry: str) -> None:
    packet = build_request(key, entry)
    assert answer_length(packet) == len(packet)
    asked = decode_answer(packet)
    assert (asked["command"], asked["key"], asked["context"], asked["write"]) == ("build", key, False, False)
    assert asked["entries"] == [["", f"./{entry}".encode("utf-8", "replace").decode()]]
    assert asked["absWorkingDir"] == "/"
    assert "--bundle" in asked["flags"]


def test_a_request_for_what_was_prepared_names_nothing_but_its_key() -> None:
    assert decode_answer(prepared_request(7)) == {"command": "rebuild", "key": 7}
    assert decode_answer(build_request(7, "skill.ts", prepare=True))["context"] is True


@given(st.binary(max_size=200))
@settings(max_examples=500, deadline=None)
def test_any_bytes_are_an_answer_or_a_value_error(data: bytes) -> None:
    told = ""
    try:
        told = f"the answer: {len(decode_answer(data))}"
    except ValueError as error:
        told = str(error)
    assert told.startswith("the answer")


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_a_request_with_one_byte_changed_or_cut_off_is_read_or_refused(data: st.DataObject) -> None:
    packet = bytearray(build_request(1, "skill.ts"))
    place = data.draw(st.integers(0, len(packet) - 1))
    packet[place] = data.draw(st.integers(0, 255))
    for changed in (bytes(packet), bytes(packet[:place])):
        try:
            decode_answer(changed)
        except ValueError:
            continue


def test_an_answer_that_is_nested_without_end_is_refused() -> None:
    with pytest.raises(ValueError, match="too deeply"):
        decode_answer(bytes(8) + b"\x05\x01\0\0\0" * 100_000)


def test_a_list_that_claims_to_be_longer_than_the_answer_is_refused() -> None:
    with pytest.raises(ValueError, match="breaks off"):
        decode_answer(bytes(8) + b"\x05" + struct.pack("<I", 2**32 - 1) + b"\0" * 5)


def test_the_length_of_an_answer_is_told_by_four_bytes() -> None:
    assert [answer_length(b"\x07\0\0\0"[:size]) for size in range(5)] == [None, None, None, None, 11]
