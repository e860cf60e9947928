"""The binary format of WebAssembly modules, as far as it is read and rewritten here: sections and numbers.

Rules kept here:
- pure functions over bytes that the build of this package uses: the modules are known, nothing of a guest's is read.

The format is that of the WebAssembly Core Specification 2.0, §5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

_IMPORT = 2
_KIND_FUNCTION = 0


def sections(module: bytes) -> Iterator[tuple[int, bytes]]:
    """The module's sections, each with its number."""
    position = 8
    while position < len(module):
        section = module[position]
        size, start = read_uleb(module, position + 1)
        yield section, module[start : start + size]
        position = start + size


def section_of(module: bytes, wanted: int) -> bytes:
    """The content of the one section with this number.

    Raises:
        ValueError: when the module has none.

    """
    for section, content in sections(module):
        if section == wanted:
            return content
    raise ValueError(f"the module has no section {wanted}")


def replaced(module: bytes, wanted: int, change: Callable[[bytes], bytes]) -> bytes:
    """The module, with another content for the sections with this number."""
    out = bytearray(module[:8])
    for section, content in sections(module):
        new = change(content) if section == wanted else content
        out += bytes([section]) + uleb(len(new)) + new
    return bytes(out)


def imported_functions(module: bytes) -> list[bytes]:
    """The names of what the module imports, by their numbers as functions.

    Raises:
        ValueError: when it imports anything but functions.

    """
    content = section_of(module, _IMPORT)
    count, position = read_uleb(content, 0)
    names = []
    for _ in range(count):
        for _ in range(2):  # module and name
            size, begin = read_uleb(content, position)
            position = begin + size
        names.append(content[begin:position])
        if content[position] != _KIND_FUNCTION:
            raise ValueError("only a module that imports nothing but functions can be frozen")
        _, position = read_uleb(content, position + 1)
    return names


def uleb(value: int) -> bytes:
    """A number as an unsigned LEB128."""
    out = bytearray()
    while True:
        value, low = value >> 7, value & 0x7F
        if not value:
            out.append(low)
            return bytes(out)
        out.append(low | 0x80)


def sleb(value: int) -> bytes:
    """Any integer as a signed LEB128."""
    out = bytearray()
    while True:
        low, value = value & 0x7F, value >> 7
        if value == (-1 if low & 0x40 else 0):
            out.append(low)
            return bytes(out)
        out.append(low | 0x80)


def read_uleb(data: bytes, position: int) -> tuple[int, int]:
    """The unsigned LEB128 at a position, and the position after it."""
    value = shift = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7
