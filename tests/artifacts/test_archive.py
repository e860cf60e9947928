"""The ZIP of an artifact: round trip, same bytes, every limit, and each trick by name."""

from __future__ import annotations

import io
import stat
import struct
import zipfile
import zlib
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cortex_skills.features.artifacts.package import ArtifactError, read_archive, read_artifact_file, write_archive
from cortex_skills.features.artifacts.package import archive as archive_module
from tests.artifacts.samples import VECTOR

SIMPLE = {"skill.toml": b"x = 1\n", "assets/a.txt": b"hello"}


def zipped(names: list[tuple[str | zipfile.ZipInfo, bytes]], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, data in names:
            archive.writestr(name, data)
    return buffer.getvalue()


def raw(name: bytes, data: bytes = b"x", flags: int = 0, local_name: bytes | None = None, **fields: int) -> bytes:
    """An archive of one stored entry, with any field changed in the central header or, as `local_…`, in the local."""
    known = {"method": 0, "time": 0, "date": 33, "crc": zlib.crc32(data), "compressed": len(data), "size": len(data)}
    central = {key: fields.get(key, value) for key, value in known.items()}
    local = {key: fields.get(f"local_{key}", central[key]) for key in known}
    local_name = name if local_name is None else local_name
    head = struct.pack(
        "<4s5H3I2H",
        b"PK\3\4",
        fields.get("local_needed", 20),
        fields.get("local_flags", flags),
        *local.values(),
        len(local_name),
        0,
    )
    body = head + local_name + data
    directory = struct.pack(
        "<4s6H3I5H2I", b"PK\1\2", 788, fields.get("needed", 20), flags, *central.values(), len(name), 0, 0,
        fields.get("disk", 0), 0, fields.get("mode", stat.S_IFREG | 0o644) << 16 | fields.get("dos", 0),
        fields.get("offset", 0),
    ) + name  # fmt: skip
    return body + directory + struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 1, 1, len(directory), len(body), 0)


def refused(data: bytes, says: str) -> None:
    with pytest.raises(ArtifactError, match=says) as caught:
        read_archive(data)
    assert caught.value.code == "artifact_invalid"


def test_entries_are_read_as_they_were_written_and_sorted(tmp_path: Path) -> None:
    data = write_archive(VECTOR)
    assert read_archive(data) == VECTOR
    assert list(read_archive(data)) == sorted(VECTOR)
    (tmp_path / "a.palyra-skill").write_bytes(data)
    assert read_archive(read_artifact_file(tmp_path / "a.palyra-skill")) == VECTOR


def test_the_same_entries_give_the_same_bytes() -> None:
    assert write_archive(dict(reversed(VECTOR.items()))) == write_archive(VECTOR)
    infos = zipfile.ZipFile(io.BytesIO(write_archive(VECTOR))).infolist()
    assert {(info.date_time, info.external_attr >> 16, info.create_system) for info in infos} == {
        ((1980, 1, 1, 0, 0, 0), 0o100644, 3)
    }


def test_an_archive_of_another_tool_is_read_stored_or_deflated_with_times() -> None:
    info = zipfile.ZipInfo("assets\\a.txt", date_time=(2024, 5, 6, 7, 8, 10))
    info.extra = struct.pack("<2HBI", 0x5455, 5, 1, 1_700_000_000)
    assert read_archive(zipped([(info, b"hello"), ("skill.toml", b"")])) == {
        "assets/a.txt": b"hello",
        "skill.toml": b"",
    }
    assert read_archive(zipped([("skill.toml", b"x" * 99)], zipfile.ZIP_STORED)) == {"skill.toml": b"x" * 99}
    assert read_archive(raw(b"skill.toml")) == {"skill.toml": b"x"}


_NAMES = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=8).filter(
    lambda name: not set(name) & set("/\\:") and not name.endswith(".")
)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(_NAMES.map(lambda name: f"assets/{name}"), st.binary(max_size=200), max_size=8))
def test_any_entries_come_back(entries: dict[str, bytes]) -> None:
    try:
        data = write_archive(entries)
    except ArtifactError as error:
        assert "same on some file systems" in error.message  # noqa: PT017
    else:
        assert read_archive(data) == entries


@settings(max_examples=150, deadline=None)
@given(st.integers(0, len(write_archive(SIMPLE)) - 1), st.integers(1, 255))
def test_a_flipped_byte_is_refused_or_changes_no_entry(position: int, mask: int) -> None:
    data = bytearray(write_archive(SIMPLE))
    data[position] ^= mask
    try:
        entries = read_archive(bytes(data))
    except ArtifactError:
        return
    assert entries == SIMPLE


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200), st.integers(0, 300), st.integers(0, 300))
@example(b"PK\5\6" + bytes(18), 0, 0)
def test_random_bytes_raise_nothing_else(noise: bytes, start: int, end: int) -> None:
    valid = write_archive(SIMPLE)
    for data in (noise, valid[:start] + noise + valid[end:], noise + valid, valid + noise):
        try:
            assert read_archive(data) in ({}, SIMPLE)
        except ArtifactError as error:
            assert error.code == "artifact_invalid"  # noqa: PT017


@pytest.mark.parametrize(
    "name",
    [
        "/skill.toml", "\\skill.toml", "assets/../skill.toml", "assets/./a", "assets//a", "assets/..", "../skill.toml",
        "C:skill.toml", "assets/a:b", "assets/a\x00b", "assets/a\nb", "assets/a ", "assets/ a", "assets/a.",
        "assets/" + "x" * 256, "assets/" + "x/" * 600 + "a", "assets/\u202ea", "assets/", "modules/", "",
        "assets/a./b",
    ],
)  # fmt: skip
def test_a_path_that_is_not_safe_is_refused(name: str) -> None:
    refused(raw(name.encode(), flags=1 << 11), "path")
    with pytest.raises(ArtifactError):
        write_archive({name: b""})


@pytest.mark.parametrize(
    "name", ["other.txt", "modules/a.txt", "modules/.wasm", "module/a.wasm", "Skill.toml", "assets", "META-INF/a"]
)
def test_an_entry_that_does_not_belong_in_an_artifact_is_refused(name: str) -> None:
    refused(raw(name.encode()), "does not belong")


def test_a_folder_a_symbolic_link_and_a_device_are_refused() -> None:
    refused(raw(b"assets/a", mode=stat.S_IFLNK | 0o777), "symbolic link")
    refused(raw(b"assets/a", mode=stat.S_IFDIR | 0o755), "folder")
    refused(raw(b"assets/a", mode=stat.S_IFCHR), "device")
    refused(raw(b"assets/a", dos=0x10), "folder")
    refused(raw(b"assets/a/"), "that of a folder")


@pytest.mark.parametrize(
    ("first", "second", "says"),
    [
        ("assets/a.txt", "assets/a.txt", "twice"),
        ("assets/a.txt", "assets\\a.txt", "twice"),
        ("assets/a.txt", "assets/A.txt", "same on some file systems"),
        ("assets/straße", "assets/STRASSE", "same on some file systems"),
        ("assets/caf\u00e9", "assets/cafe\u0301", "same on some file systems"),
        ("assets/x/a", "assets/X/b", "same on some file systems"),
        ("assets/a", "assets/a/b", "also a folder"),
        ("assets/a/b", "assets/a", "also a folder"),
    ],
)
def test_two_entries_that_are_one_file_somewhere_are_refused(first: str, second: str, says: str) -> None:
    with pytest.warns() if first == second else _nothing():
        data = zipped([(first, b"1"), (_named(second), b"2")])
    refused(data, says)


def _named(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.filename = name
    return info


class _nothing:  # noqa: N801
    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...


@pytest.mark.parametrize(
    "changes",
    [
        {"local_name": b"assets/b"}, {"local_crc": 1}, {"local_size": 2}, {"local_compressed": 0}, {"local_method": 8},
        {"local_needed": 10}, {"local_time": 1}, {"local_date": 1}, {"local_flags": 2}, {"local_name": b"assets/aa"},
    ],
)  # fmt: skip
def test_a_local_header_that_differs_from_the_central_one_is_refused(changes: dict[str, object]) -> None:
    refused(raw(b"assets/a", **changes), "local header|overlaps|no entry|central directory")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"flags": 1}, "encrypted"),
        ({"flags": 1 << 6}, "encrypted"),
        ({"flags": 1 << 3}, "stream"),
        ({"flags": 1 << 13}, "encrypted"),
        ({"method": 12}, "neither stored nor deflated"),
        ({"method": 99}, "neither stored nor deflated"),
        ({"crc": 5}, "checksum"),
        ({"size": 5}, "declared size"),
        ({"needed": 45, "local_needed": 45}, "needs a reader of version 4.5"),
        ({"offset": 1}, "overlaps"),
        ({"disk": 1}, "another disk"),
        ({"compressed": 0xFFFFFFFF, "size": 0xFFFFFFFF}, "larger than 16 MiB"),
    ],
)
def test_a_trick_in_both_headers_is_refused(changes: dict[str, int], says: str) -> None:
    refused(raw(b"assets/a", **changes), says)


def test_a_name_that_is_not_marked_as_unicode_is_refused() -> None:
    refused(raw("assets/é".encode()), "not UTF-8 that is marked")
    refused(raw(b"assets/\xff", flags=1 << 11), "not UTF-8")


def test_extra_fields_that_rename_or_resize_an_entry_are_refused() -> None:
    for kind in (0x0001, 0x7075, 0x9901, 0x6375):
        info = zipfile.ZipInfo("assets/a")
        info.extra = struct.pack("<2H8s", kind, 8, b"assets/b")
        refused(zipped([(info, b"x")]), "extra field")


def test_bytes_before_between_and_after_the_entries_are_refused() -> None:
    data = write_archive(SIMPLE)
    start = struct.unpack_from("<I", data, len(data) - 6)[0]
    moved = bytearray(data[:start] + b"gap!" + data[start:])
    moved[-6:-2] = struct.pack("<I", start + 4)
    refused(bytes(moved), "no entry")
    refused(b"#!/bin/sh\n" + data, "central directory")
    refused(data + b"\n", "not a ZIP")
    refused(data[:-2] + b"\1\0c", "not a ZIP|comment")
    refused(data[:-1], "not a ZIP")
    refused(b"", "not a ZIP")


def test_two_entries_that_share_their_data_are_refused() -> None:
    data = bytearray(zipped([("assets/a", b"x"), ("assets/b", b"x")], zipfile.ZIP_STORED))
    second = data.rindex(b"PK\1\2")
    data[second + 42 : second + 46] = bytes(4)
    refused(bytes(data), "overlaps")


def test_the_number_of_entries_is_limited() -> None:
    entries = {f"assets/{number}": b"" for number in range(256)}
    assert len(read_archive(write_archive(entries))) == 256
    with pytest.raises(ArtifactError, match="more than 256 entries"):
        write_archive({**entries, "assets/256": b""})
    refused(zipped([(name, b"") for name in (*entries, "assets/256")]), "more than 256 entries")


def test_a_bomb_is_refused_by_its_declared_sizes() -> None:
    refused(zipped([("assets/a", bytes((16 << 20) + 1))]), "larger than 16 MiB")
    refused(zipped([(f"assets/{number}", bytes(13 << 20)) for number in range(5)]), "64 MiB in total")
    with pytest.raises(ArtifactError, match="larger than 16 MiB"):
        write_archive({"assets/a": bytes((16 << 20) + 1)})


def test_a_module_has_at_most_32_mib_and_no_other_entry_has_more_than_16() -> None:
    archive = write_archive({"modules/a.wasm": bytes(17 << 20)})
    assert list(read_archive(archive)) == ["modules/a.wasm"]
    for path, most in (("modules/a.wasm", 32), ("assets/modules/a.wasm", 16), ("assets/a.wasm", 16)):
        with pytest.raises(ArtifactError, match=f"larger than {most} MiB"):
            write_archive({path: bytes((most << 20) + 1)})
    declared = bytearray(archive)
    for at in (declared.index(b"PK\3\4") + 22, declared.index(b"PK\1\2") + 24):
        declared[at : at + 4] = struct.pack("<I", (32 << 20) + 1)
    refused(bytes(declared), "larger than 32 MiB")


def test_a_bomb_that_declares_a_small_size_is_decompressed_no_further() -> None:
    data = bytearray(zipped([("assets/a", bytes(1 << 20))]))
    for at in (data.index(b"PK\3\4") + 22, data.index(b"PK\1\2") + 24):
        data[at : at + 4] = struct.pack("<I", 10)
    refused(bytes(data), "does not end at its declared size")


def test_data_after_the_end_of_a_deflated_entry_is_refused() -> None:
    deflated = zlib.compress(b"hello", 9, wbits=-15) + b"junk"
    refused(raw(b"assets/a", deflated, method=8, crc=zlib.crc32(b"hello"), size=5), "does not end")
    refused(raw(b"assets/a", b"\xff\xff", method=8, crc=0, size=5), "cannot be decompressed")
    refused(raw(b"assets/a", b"", method=8, crc=0, size=0), "does not end")


def test_a_file_that_is_too_large_is_not_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_module, "MAX_ARCHIVE", 1 << 20)
    with (tmp_path / "big").open("wb") as file:
        file.truncate(2 << 20)
    with pytest.raises(ArtifactError, match="larger than 1,048,576 bytes"):
        read_artifact_file(tmp_path / "big")
