"""Messages of esbuild's service: what is requested, and how any output is decoded."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex_sandbox.esbuild.protocol import build_request, decode_output

VERSION = struct.pack("<I", 5) + b"0.1.2"


@given(st.text(max_size=50))
@settings(max_examples=100, deadline=None)
def test_a_request_decodes_to_what_was_requested(entry: str) -> None:
    request = decode_output(VERSION + build_request(entry))
    assert (request["command"], request["context"], request["write"]) == ("build", False, False)
    assert request["entries"] == [["", f"./{entry}".encode("utf-8", "replace").decode()]]
    assert request["absWorkingDir"] == "/"
    assert "--bundle" in request["flags"]


@given(st.binary(max_size=200))
@settings(max_examples=500, deadline=None)
def test_any_output_is_a_response_or_a_value_error(data: bytes) -> None:
    for output in (data, VERSION + data):
        try:
            response = decode_output(output)
        except ValueError:
            continue
        assert isinstance(response, dict)


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_output_with_one_byte_changed_or_cut_off_is_decoded_or_refused(data: st.DataObject) -> None:
    packet = bytearray(VERSION + build_request("skill.ts"))
    place = data.draw(st.integers(0, len(packet) - 1))
    packet[place] = data.draw(st.integers(0, 255))
    for changed in (bytes(packet), bytes(packet[:place])):
        try:
            decode_output(changed)
        except ValueError:
            continue


def _output(value: bytes) -> bytes:
    return VERSION + struct.pack("<II", len(value) + 4, 0) + value


def test_output_that_is_nested_too_deeply_is_refused() -> None:
    with pytest.raises(ValueError, match="too deeply"):
        decode_output(_output(b"\x05\x01\0\0\0" * 100_000))


def test_a_list_longer_than_the_output_is_refused() -> None:
    with pytest.raises(ValueError, match="truncated"):
        decode_output(_output(b"\x05" + struct.pack("<I", 2**32 - 1) + b"\0" * 5))


def test_two_responses_are_refused() -> None:
    response = _output(b"\x06\0\0\0\0")
    assert decode_output(response) == {}
    with pytest.raises(ValueError, match="not one response"):
        decode_output(response + response[len(VERSION) :])
