"""Gives a Go program in WebAssembly inside its own module what it would ask its host for: memory, and the time.

Rules kept here:
- pure functions over bytes: no engine, no file;
- the memory has its final size from the start, and how much of it the program has is a number that it counts: an engine
  then checks every access against a constant. What was not counted is zero and untouched;
- the clock counts how often it is read, so that equal runs are equal to the last bit, and the host's time is not seen;
- a goroutine begins with as much stack as it is likely to need, so that it is not moved to a larger one time and again;
- a function is replaced when all of it is what Go's assembler writes; a module that is not laid out so is refused.

The functions are those of Go's runtime for WebAssembly (`currentMemory`, `growMemory`, and `clock_time_get`, which
calls WASI preview 1); the variable is its `startingStackSize`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .wasm_format import imported_functions, read_uleb, replaced, section_of, sleb, uleb

_MEMORY, _GLOBAL, _CODE, _DATA = 5, 6, 10, 11
_CLOCK_STEP_NS = 1000
# What Go sets `runtime.startingStackSize` back to, and where it does: `i64.const` place, `i32.wrap_i64`,
# `i64.const` size, `i64.store32`.
_FIRST_STACK = 2048
_SETS_FIRST_STACK = re.compile(rb"\x42([\x80-\xff]{1,4}[\x01-\x3f])\xa7\x42\x80\x10\x3e\x02\x00", re.DOTALL)

# Go's stack pointer is global 0, and local 1 of a function; what it is given and what it gives lie above it.
_ENTER = bytes.fromhex("2300 2101")
_LEAVE = bytes.fromhex("2001 4108 6a 2201 2400 4100 0f 00 0b")
_SIZE = bytes.fromhex("01 01 7f") + _ENTER + bytes.fromhex("2001 3f00 360208") + _LEAVE
_GROW = bytes.fromhex("01 01 7f") + _ENTER + bytes.fromhex("2001 2001 280208 4000 360210") + _LEAVE


def with_first_stacks(module: bytes, size: int) -> bytes:
    """The module, in which a goroutine that takes the place of an ended one begins with `size` bytes of stack.

    Args:
        module: as Go's linker wrote it.
        size: a power of two.

    Raises:
        ValueError: when it is not to be seen where Go keeps that number.

    """
    places = _SETS_FIRST_STACK.findall(section_of(module, _CODE))
    if len(places) != 1:
        raise ValueError(f"{len(places)} places set the size of the first stack, in place of one")
    place, _ = read_uleb(places[0], 0)

    def change(content: bytes) -> bytes:
        for offset, begin, end in _segments(content):
            if offset <= place <= offset + end - begin - 4:
                at = begin + place - offset
                if int.from_bytes(content[at : at + 4], "little") == _FIRST_STACK:
                    return content[:at] + size.to_bytes(4, "little") + content[at + 4 :]
        raise ValueError(f"the first stack has not {_FIRST_STACK} bytes")

    return replaced(module, _DATA, change)


def with_memory_and_clock(module: bytes, limit: int) -> bytes:
    """The module, with a memory that has its final size, and with a clock of its own.

    Args:
        module: a Go program; its memory's initial size is what it has of it at first.
        limit: how much memory it may come to have, in pages of 64 KiB.

    Raises:
        ValueError: when it does not ask for memory and time as Go does.

    """
    count, rest = read_uleb(section_of(module, _GLOBAL), 0)
    has, now = uleb(count), uleb(count + 1)
    _, position = read_uleb(section_of(module, _MEMORY), 0)
    pages, _ = read_uleb(section_of(module, _MEMORY), position + 1)
    if pages > limit:
        raise ValueError(f"the program has {pages} pages already")
    clock = imported_functions(module).index(b"clock_time_get")
    module = replaced(module, _MEMORY, lambda _: bytes([1, 1]) + uleb(limit) * 2)
    added = b"\x7f\1\x41" + sleb(pages) + b"\x0b" + b"\x7e\1\x42\0\x0b"
    module = replaced(module, _GLOBAL, lambda content: uleb(count + 2) + content[rest:] + added)
    swaps = {_SIZE: _counted_size(has), _GROW: _counted_growth(has, limit), _asks_for_time(clock): _counted_time(now)}
    return replaced(module, _CODE, lambda content: _swapped(content, swaps))


def _counted_size(has: bytes) -> bytes:
    return bytes.fromhex("01 01 7f") + _ENTER + b"\x20\1\x23" + has + bytes.fromhex("360208") + _LEAVE


def _counted_growth(has: bytes, limit: int) -> bytes:
    """When what is asked for (local 2) is there: what it had, and count it; otherwise -1."""
    fits = bytes.fromhex("2001 280208 2202 41") + sleb(limit) + b"\x23" + has + bytes.fromhex("6b 4d")
    grant = b"\x20\1\x23" + has + bytes.fromhex("360210") + b"\x23" + has + bytes.fromhex("2002 6a 24") + has
    refuse = bytes.fromhex("2001 417f 360210")
    return bytes.fromhex("01 02 7f") + _ENTER + fits + b"\x04\x40" + grant + b"\x05" + refuse + b"\x0b" + _LEAVE


def _asks_for_time(clock: int) -> bytes:
    """What WASI is asked for: which clock, how exact, where to put it. The result is a number of errors."""
    asks = bytes.fromhex("2001280208 2001290310 2001280218 10") + uleb(clock)
    return bytes.fromhex("02 01 7f 01 7e") + _ENTER + asks + _ENTER + bytes.fromhex("ad2102 2001 2002 3e0220") + _LEAVE


def _counted_time(now: bytes) -> bytes:
    step = b"\x23" + now + b"\x42" + sleb(_CLOCK_STEP_NS) + b"\x7c\x24" + now
    put = bytes.fromhex("2001280218 23") + now + bytes.fromhex("370000")
    return bytes.fromhex("01 01 7f") + _ENTER + step + put + bytes.fromhex("2001 4200 3e0220") + _LEAVE


def _swapped(content: bytes, swaps: dict[bytes, bytes]) -> bytes:
    """The code section with other bodies for some functions, each of which must be there once."""
    count, position = read_uleb(content, 0)
    out = bytearray(uleb(count))
    swapped = []
    for _ in range(count):
        size, begin = read_uleb(content, position)
        body, position = content[begin : begin + size], begin + size
        if body in swaps:
            swapped.append(body)
            body = swaps[body]
        out += uleb(len(body)) + body
    if len(swapped) != len(swaps) or set(swapped) != set(swaps):
        raise ValueError("the program does not ask for memory and time as Go does")
    return bytes(out)


def _segments(content: bytes) -> Iterator[tuple[int, int, int]]:
    """Of each active data segment where it goes, and where it begins and ends in the section."""
    count, position = read_uleb(content, 0)
    for _ in range(count):
        if content[position : position + 2] != b"\0\x41":
            raise ValueError("only active data segments at constant offsets are understood")
        offset, position = read_uleb(content, position + 2)  # below 2**31, so that its sign is not in the way
        size, begin = read_uleb(content, position + 1)
        position = begin + size
        yield offset, begin, position
