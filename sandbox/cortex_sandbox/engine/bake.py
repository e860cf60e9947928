"""Writes the memory of a running WebAssembly instance into its module, so that new instances start from there.

Rules kept here:
- a pure function over bytes: no engine, no file;
- only the data section, the initial size of the memory and constants at the end of the exports change; code and imports
  stay byte for byte;
- a module for which this cannot be correct (a start function, passive data, more than one memory) is refused.

The binary format is that of the WebAssembly Core Specification 2.0, §5.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

PAGE = 65536
_MEMORY, _GLOBAL, _EXPORT, _START, _DATA, _DATA_COUNT = 5, 6, 7, 8, 11, 12
_KIND_GLOBAL = 3
# Shorter runs of zeros stay inside a segment: the header of a segment is about as long.
_GAP = 32
_MAX_SEGMENTS = 100_000


def bake(module: bytes, memory: bytes, constants: Mapping[str, int], final_pages: int | None = None) -> bytes:
    """The module, with `memory` as its initial memory and `constants` as exported i32 globals.

    Args:
        module: a core module with one memory, globals that it defines itself, and active data segments only.
        memory: the whole linear memory of an instance of it, a multiple of 64 KiB.
        constants: numbers below 2**31, such as addresses in the memory.
        final_pages: the fixed size of the memory in pages of 64 KiB, zeros behind `memory`: the engine then checks
            accesses against a constant. None when the memory may grow as the module declares.

    Raises:
        ValueError: when the module is not of that kind, or `memory` is larger than `final_pages`.
    """
    if module[:8] != b"\0asm\x01\0\0\0" or len(memory) % PAGE:
        raise ValueError("not a core WebAssembly module, or not a whole number of pages")
    segments = list(_segments(memory))
    if len(segments) > _MAX_SEGMENTS:
        raise ValueError("the memory image is too scattered")
    out = bytearray(module[:8])
    own_globals = 0
    for section, content in _sections(module):
        if section == _START:
            raise ValueError("a module with a start function cannot be baked")
        if section == _MEMORY:
            content = _memory_section(content, len(memory) // PAGE, final_pages)
        elif section == _GLOBAL:
            own_globals, rest = _read_uleb(content, 0)
            added = b"".join(b"\x7f\0\x41" + _sleb(value) + b"\x0b" for value in constants.values())
            content = _uleb(own_globals + len(constants)) + content[rest:] + added
        elif section == _EXPORT:
            count, rest = _read_uleb(content, 0)
            added = b"".join(
                _uleb(len(name.encode())) + name.encode() + bytes([_KIND_GLOBAL]) + _uleb(own_globals + index)
                for index, name in enumerate(constants)
            )
            content = _uleb(count + len(constants)) + content[rest:] + added
        elif section == _DATA_COUNT:
            content = _uleb(len(segments))
        elif section == _DATA:
            _require_active(content)
            content = _uleb(len(segments)) + b"".join(_segment(offset, data) for offset, data in segments)
        out += bytes([section]) + _uleb(len(content)) + content
    return bytes(out)


def _memory_section(content: bytes, pages: int, final_pages: int | None) -> bytes:
    count, position = _read_uleb(content, 0)
    flags = content[position]
    if count != 1 or flags not in (0, 1):
        raise ValueError("only a module with one plain 32-bit memory can be baked")
    if final_pages is not None:
        if pages > final_pages:
            raise ValueError(f"a memory of {pages} pages cannot be baked into one of {final_pages}")
        return b"\x01\x01" + _uleb(final_pages) * 2
    _, rest = _read_uleb(content, position + 1)
    return b"\x01" + bytes([flags]) + _uleb(pages) + content[rest:]


def _require_active(content: bytes) -> None:
    """Every segment must be `i32.const offset` into memory 0: a passive one would be copied again at run time."""
    count, position = _read_uleb(content, 0)
    for _ in range(count):
        if content[position] != 0 or content[position + 1] != 0x41:
            raise ValueError("only active data segments at constant offsets can be baked")
        _, position = _read_uleb(content, position + 2)  # a signed LEB128 is as long as an unsigned one
        if content[position] != 0x0B:
            raise ValueError("only constant offsets can be baked")
        size, position = _read_uleb(content, position + 1)
        position += size


def _segments(memory: bytes) -> Iterator[tuple[int, bytes]]:
    """The runs of the memory that are not zero, as (offset, bytes)."""
    zeros = bytes(_GAP)
    position, end = 0, len(memory)
    while position < end:
        chunk = memory[position : position + PAGE]
        stripped = chunk.lstrip(b"\0")
        position += len(chunk) - len(stripped)
        if not stripped:
            continue
        stop = memory.find(zeros, position)
        stop = end if stop < 0 else stop
        yield position, memory[position:stop]
        position = stop


def _segment(offset: int, data: bytes) -> bytes:
    return b"\0\x41" + _sleb(offset) + b"\x0b" + _uleb(len(data)) + data


def _sections(module: bytes) -> Iterator[tuple[int, bytes]]:
    """The sections of a module, each with its id."""
    position = 8
    while position < len(module):
        section = module[position]
        size, start = _read_uleb(module, position + 1)
        yield section, module[start : start + size]
        position = start + size


def _uleb(value: int) -> bytes:
    """A number as unsigned LEB128."""
    out = bytearray()
    while True:
        value, low = value >> 7, value & 0x7F
        if not value:
            out.append(low)
            return bytes(out)
        out.append(low | 0x80)


def _sleb(value: int) -> bytes:
    """An integer as signed LEB128."""
    out = bytearray()
    while True:
        low, value = value & 0x7F, value >> 7
        if value == (-1 if low & 0x40 else 0):
            out.append(low)
            return bytes(out)
        out.append(low | 0x80)


def _read_uleb(data: bytes, position: int) -> tuple[int, int]:
    """The unsigned LEB128 at a position, and the position after it."""
    value = shift = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7
