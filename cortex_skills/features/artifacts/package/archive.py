"""The ZIP of an artifact, read from and written to bytes.

Rules kept here:
- at most 64 MiB, 256 entries, 32 MiB a module, 16 MiB another entry, 64 MiB in total: the sizes that the archive
  declares are checked first, then each entry is decompressed up to its declared size, and must end there, with the
  declared CRC-32;
- the archive is exactly its entries, its central directory and its end record (APPNOTE 4.3.6), in this order and
  without gaps: nothing before, between or after them is skipped, so all readers see the same entries;
- each local header equals its central header. Encryption, data descriptors, ZIP64, several disks, comments, extra
  fields that rename an entry, and a needed version above 2.0 are refused, as are entries that are folders, symbolic
  links or devices;
- the paths are those of `entry_paths`;
- a written archive has its entries sorted by path, deflated, with the time 1980-01-01 and the mode 0644: the same
  entries give the same bytes with the same zlib.

`zipfile` writes but does not read: it searches for the end record, cuts names at a NUL, and ignores most fields of
local headers.
"""

from __future__ import annotations

import io
import stat
import struct
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cortex_skills.features.artifacts.package.artifact_error import ArtifactError
from cortex_skills.features.artifacts.package.entry_paths import check_distinct, entry_path, is_module
from cortex_skills.safe_io.outside_file import OutsideFileError, read_outside
from cortex_skills.safe_io.schemas import shown

MAX_ARCHIVE = 64 << 20
MAX_TOTAL = 64 << 20
MAX_ENTRY = 16 << 20
MAX_MODULE = 32 << 20
MAX_ENTRIES = 256

_END = struct.Struct("<4s4H2IH")
_CENTRAL = struct.Struct("<4s6H3I5H2I")
_LOCAL = struct.Struct("<4s5H3I2H")
_STORED, _DEFLATED = 0, 8
_NEEDED = 20  # version 2.0 of the format: deflated entries
_UTF8 = 1 << 11
_ALLOWED_FLAGS = _UTF8 | 0b110  # bits 1 and 2: the effort of the compressor
_TIMES, _OWNERS = 0x5455, 0x7875  # extra fields without meaning here
_FOLDER_OF_DOS = 0x10


@dataclass(frozen=True, slots=True)
class _Header:
    """What the central directory states about an entry."""

    name: bytes
    path: str
    needed: int
    flags: int
    method: int
    time: int
    date: int
    crc: int
    compressed: int
    size: int
    offset: int

    @property
    def stated(self) -> tuple[int, ...]:
        """The fields that the local header repeats, in its order."""
        return (self.needed, self.flags, self.method, self.time, self.date, self.crc, self.compressed, self.size)


def read_artifact_file(path: Path) -> bytes:
    """The bytes of an artifact in a file, which are verified by `verify_artifact`.

    Raises:
        ArtifactError: it is not a regular file, is too large, or cannot be read.
    """
    try:
        return read_outside(path, MAX_ARCHIVE)
    except OutsideFileError as error:
        raise ArtifactError(
            f"{shown(str(path))} {error}", hint="give the file of an artifact, NAME.palyra-skill"
        ) from None


def read_archive(data: bytes) -> dict[str, bytes]:
    """The entries of an artifact by path, sorted.

    Raises:
        ArtifactError: the bytes are not a valid archive.
    """
    if len(data) > MAX_ARCHIVE:
        raise ArtifactError(f"the artifact is larger than {MAX_ARCHIVE >> 20} MiB")
    headers, directory = _directory(data)
    for header in headers:
        _check_size(header.path, header.size)
    if sum(header.size for header in headers) > MAX_TOTAL:
        raise ArtifactError(f"the entries are larger than {MAX_TOTAL >> 20} MiB in total")
    check_distinct(header.path for header in headers)
    entries, position = {}, 0
    for header in sorted(headers, key=lambda each: each.offset):
        if header.offset != position:
            raise ArtifactError(f"the entry {shown(header.path)} overlaps another, or bytes lie before it")
        start = _after_local_header(data, header)
        position = start + header.compressed
        if position > directory:
            raise ArtifactError(f"the entry {shown(header.path)} reaches into the central directory")
        entries[header.path] = _content(data[start:position], header)
    if position != directory:
        raise ArtifactError("the archive contains bytes that belong to no entry")
    return dict(sorted(entries.items()))


def write_archive(entries: Mapping[str, bytes]) -> bytes:
    """The archive of entries by path.

    Raises:
        ArtifactError: a path or a size is not allowed.
    """
    check_entries(entries)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path, content in sorted(entries.items()):
            info = zipfile.ZipInfo(path, date_time=(1980, 1, 1, 0, 0, 0))
            info.create_system = 3  # Unix, on every system
            info.external_attr = (stat.S_IFREG | 0o644) << 16
            archive.writestr(info, content, zipfile.ZIP_DEFLATED, 9)
    data = buffer.getvalue()
    if len(data) > MAX_ARCHIVE:
        raise ArtifactError(f"the artifact would be larger than {MAX_ARCHIVE >> 20} MiB")
    return data


def check_entries(entries: Mapping[str, bytes]) -> None:
    """Check the paths and sizes of entries.

    Raises:
        ArtifactError: a path or a size is not allowed.
    """
    if len(entries) > MAX_ENTRIES:
        raise ArtifactError(f"there are more than {MAX_ENTRIES} entries")
    for path, content in entries.items():
        if entry_path(path) != path:
            raise ArtifactError(f"the path {shown(path)} is not in its normal form", hint="write / instead of \\")
        _check_size(path, len(content))
    if sum(map(len, entries.values())) > MAX_TOTAL:
        raise ArtifactError(f"the entries are larger than {MAX_TOTAL >> 20} MiB in total")
    check_distinct(entries)


def _check_size(path: str, size: int) -> None:
    most = MAX_MODULE if is_module(path) else MAX_ENTRY
    if size > most:
        raise ArtifactError(f"the entry {shown(path)} is larger than {most >> 20} MiB")


def _directory(data: bytes) -> tuple[list[_Header], int]:
    """The headers in the central directory, and where it starts."""
    at = len(data) - _END.size
    if at < 0 or data[at : at + 4] != b"PK\5\6":
        raise ArtifactError("the file is not a ZIP, or bytes follow its end", hint="get the artifact again")
    _, disk, first_disk, here, count, size, start, comment = _END.unpack_from(data, at)
    if disk or first_disk or comment or here != count:
        raise ArtifactError("the archive has several disks or a comment")
    if count > MAX_ENTRIES:
        raise ArtifactError(f"there are more than {MAX_ENTRIES} entries")
    if start + size != at:
        raise ArtifactError("the central directory does not end where the archive ends, or the archive is ZIP64")
    headers, position = [], start
    for _ in range(count):
        header, position = _central_header(data, position, at)
        headers.append(header)
    if position != at:
        raise ArtifactError("the central directory contains more than its entries")
    return headers, start


def _central_header(data: bytes, position: int, end: int) -> tuple[_Header, int]:
    if position + _CENTRAL.size > end or data[position : position + 4] != b"PK\1\2":
        raise ArtifactError("the central directory has fewer entries than declared")
    (_, _, needed, flags, method, time, date, crc, compressed, size, names, extras, comments, disk, _, mode, offset) = (
        _CENTRAL.unpack_from(data, position)
    )
    name_at = position + _CENTRAL.size
    extra_at = name_at + names
    after = extra_at + extras + comments
    if after > end:
        raise ArtifactError("the central directory is cut off")
    name = data[name_at:extra_at]
    path = entry_path(_decoded(name, flags))
    if flags & ~_ALLOWED_FLAGS:
        raise ArtifactError(f"the entry {shown(path)} is encrypted, or was written to a stream")
    if method not in (_STORED, _DEFLATED):
        raise ArtifactError(f"the entry {shown(path)} is neither stored nor deflated")
    kind = stat.S_IFMT(mode >> 16)
    if kind not in (0, stat.S_IFREG) or mode & _FOLDER_OF_DOS:
        raise ArtifactError(f"the entry {shown(path)} is a folder, a symbolic link or a device, not a file")
    if needed > _NEEDED:
        raise ArtifactError(f"the entry {shown(path)} needs a reader of version {needed / 10:.1f}")
    if disk or comments:
        raise ArtifactError(f"the entry {shown(path)} has a comment or is on another disk")
    _check_extra(data[extra_at : extra_at + extras], path)
    return _Header(name, path, needed, flags, method, time, date, crc, compressed, size, offset), after


def _after_local_header(data: bytes, header: _Header) -> int:
    """Where the data of an entry starts, after its local header, which must equal the central one."""
    if header.offset + _LOCAL.size > len(data) or data[header.offset : header.offset + 4] != b"PK\3\4":
        raise ArtifactError(f"the entry {shown(header.path)} has no local header")
    _, *stated, names, extras = _LOCAL.unpack_from(data, header.offset)
    name_at = header.offset + _LOCAL.size
    extra_at = name_at + names
    if tuple(stated) != header.stated or data[name_at:extra_at] != header.name:
        raise ArtifactError(f"the local header of {shown(header.path)} differs from the central directory")
    _check_extra(data[extra_at : extra_at + extras], header.path)
    after: int = extra_at + extras
    return after


def _check_extra(extra: bytes, path: str) -> None:
    while extra:
        if len(extra) < 4:
            raise ArtifactError(f"the entry {shown(path)} has an extra field that is cut off")
        kind, length = struct.unpack_from("<2H", extra)
        if kind not in (_TIMES, _OWNERS) or len(extra) < 4 + length:
            raise ArtifactError(f"the entry {shown(path)} has an extra field that may change its meaning")
        extra = extra[4 + length :]


def _content(data: bytes, header: _Header) -> bytes:
    content = data if header.method == _STORED else _inflated(data, header)
    if len(content) != header.size or zlib.crc32(content) != header.crc:
        raise ArtifactError(f"the entry {shown(header.path)} differs from its declared size or checksum")
    return content


def _inflated(data: bytes, header: _Header) -> bytes:
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        content = inflater.decompress(data, header.size + 1)
    except zlib.error:
        raise ArtifactError(f"the entry {shown(header.path)} cannot be decompressed") from None
    if not inflater.eof or inflater.unused_data:
        raise ArtifactError(f"the entry {shown(header.path)} does not end at its declared size")
    return content


def _decoded(name: bytes, flags: int) -> str:
    try:
        return name.decode("utf-8" if flags & _UTF8 else "ascii")
    except UnicodeDecodeError:
        raise ArtifactError(f"the name {name[:60]!r} of an entry is not UTF-8 that is marked as such") from None
