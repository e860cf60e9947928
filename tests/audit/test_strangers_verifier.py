"""The verifier that was written from the documentation finds what the command finds, in real journals and exports."""

from __future__ import annotations

import ast
import errno
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from click.testing import CliRunner

from cortex_skills import Plugin
from cortex_skills.audit.journal import Journal
from cortex_skills.audit.journal_files import day_files
from cortex_skills.audit.journal_state import snapshot
from cortex_skills.audit.lines import line_of, read_line
from cortex_skills.doors.cli.app import program
from tests.audit import stranger
from tests.audit.test_journal import DAY, KEY, NOON, STRANGER, checked, document, written
from tests.configs import config

Files = dict[str, bytes]
FORGED = b'{"timestamp":"2026-01-31T12:00:00.000+00:00","event":"tool.call","details":{}'


def found_in(folder: Path, keys: set[str] = {KEY.did}) -> list[str]:  # noqa: B006 - not changed
    head = folder / "head"
    files = {path.name: path.read_bytes() for path in day_files(folder)}
    return stranger.faults_of(files, head.read_bytes() if head.exists() else None, keys)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Of a journal of two days, with texts that need escapes and members with the names of the chain."""
    folder = tmp_path / "audit"
    inputs = {"text": '"\n\\ \u202eü\ud800', "seq": 5, "prevHash": "0" * 64, "hash": "0" * 64, 'a","hash":"': 1}
    for day in range(2):
        journal = Journal(folder, lambda: KEY, clock=lambda day=day: NOON + day * DAY)  # type: ignore[misc]
        for number in range(5):
            journal.append(document(number, inputs=inputs))
        journal.close()
    return folder


def test_it_shares_no_code_with_what_it_verifies() -> None:
    tree = ast.parse(Path(stranger.__file__).read_text())
    imported = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    imported |= {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    assert imported == {"__future__", "hashlib", "json", "nacl.exceptions", "nacl.signing", "pathlib", "re", "sys"}


def test_a_journal_that_is_whole_has_no_fault(folder: Path) -> None:
    assert (found_in(folder), checked(folder).fault) == ([], None)
    written(folder, 3, lambda: NOON + 3 * DAY, keep_days=2)
    assert [path.name for path in day_files(folder)] == ["2026-02-01.ndjson", "2026-02-03.ndjson"]
    assert (found_in(folder), checked(folder).fault) == ([], None)


def _replaced(old: bytes, new: bytes) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        path = day_files(folder)[0]
        content = path.read_bytes()
        assert old in content
        path.write_bytes(content.replace(old, new, 1))

    return change


def _lines(change: Callable[[list[bytes]], list[bytes]], day: int = 0) -> Callable[[Path], None]:
    def changed(folder: Path) -> None:
        path = day_files(folder)[day]
        path.write_bytes(b"".join(change(path.read_bytes().splitlines(keepends=True))))

    return changed


def _rehashed(lines: list[bytes]) -> list[bytes]:
    """The record 3 with another tool and its hash; those behind it stay."""
    record = read_line(lines[2].replace(b'"tool-2"', b'"tool-9"'))
    assert record is not None
    return [*lines[:2], line_of(record.body[: record.body.rindex(b',"seq":')], 3, record.prev_hash)[0], *lines[3:]]


def _signed_by_another(folder: Path) -> None:
    journal = Journal(folder, lambda: STRANGER, clock=lambda: NOON + DAY)
    journal.append(document())
    journal.close()


def _bad_signature(lines: list[bytes]) -> list[bytes]:
    record = read_line(lines[-1])
    assert record is not None
    place = record.body.index(b'"signature":"') + len(b'"signature":"')
    digit = b"0" if record.body[place : place + 1] != b"0" else b"1"
    body = record.body[:place] + digit + record.body[place + 1 :]
    return [*lines[:-1], line_of(body[: body.rindex(b',"seq":')], record.seq, record.prev_hash)[0]]


def _head(change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    return lambda folder: (folder / "head").write_bytes(change((folder / "head").read_bytes())) and None  # type: ignore[func-returns-value]


def _each(change: Callable[[Path], object]) -> Callable[[Path], None]:
    def changed(folder: Path) -> None:
        for path in day_files(folder):
            change(path)

    return changed


def _linked(path: Path) -> None:
    path.rename(path.parent.parent / path.name)
    path.symlink_to(path.parent.parent / path.name)


def _ahead(folder: Path) -> None:
    head = snapshot(folder)
    assert head is not None
    (folder / "head").write_bytes(replace(head, seq=head.seq + 1).to_bytes())


def _repaired(folder: Path) -> None:
    _ahead(folder)
    written(folder, 1, lambda: NOON + DAY)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(_replaced(b'"tool-2"', b'"tool-9"'), id="a word is changed"),
        pytest.param(_replaced(b'"level":"info"', b'"level":"warn"'), id="a level is changed"),
        pytest.param(_replaced(b"\\u202e", b"\\u202d"), id="an escape is changed"),
        pytest.param(_replaced(b'{"timestamp"', b'{ "timestamp"'), id="a space is added"),
        pytest.param(_lines(_rehashed), id="a record is replaced with its hash"),
        pytest.param(_lines(lambda lines: [*lines[:2], *lines[3:]]), id="a record is removed"),
        pytest.param(_lines(lambda lines: lines[2:]), id="the beginning is removed"),
        pytest.param(_lines(lambda lines: lines[:-1], 1), id="the end is removed"),
        pytest.param(_lines(lambda lines: [lines[1], lines[0], *lines[2:]]), id="two records are swapped"),
        pytest.param(_lines(lambda lines: [*lines[:3], lines[2], *lines[3:]]), id="a record is copied"),
        pytest.param(_lines(lambda lines: [*lines, line_of(FORGED, 7, "0" * 64)[0]]), id="a record is inserted"),
        pytest.param(_lines(lambda lines: [*lines, b"an editor was here\n"], 1), id="junk behind the last record"),
        pytest.param(_lines(lambda lines: [*lines, b"junk"], 1), id="junk without the end of a line"),
        pytest.param(_lines(_bad_signature, 1), id="a signature is changed"),
        pytest.param(_signed_by_another, id="another key signs"),
        pytest.param(lambda folder: day_files(folder)[0].unlink(), id="a file is removed"),
        pytest.param(_each(lambda path: path.unlink()), id="all files are removed"),
        pytest.param(_each(lambda path: path.write_bytes(b"")), id="all files are emptied"),
        pytest.param(_each(_linked), id="all files are links"),
        pytest.param(_each(lambda path: (path.unlink(), path.mkdir())), id="all files are folders"),
        pytest.param(_each(lambda path: (path.unlink(), os.mkfifo(path))), id="all files are pipes"),
        pytest.param(lambda folder: (folder / "head").unlink(), id="the head is removed"),
        pytest.param(_head(lambda head: head.replace(b"2026-02", b"2026-03")), id="the head is changed"),
        pytest.param(_head(lambda head: head[:90]), id="the head is cut"),
        pytest.param(_ahead, id="the head is ahead"),
        pytest.param(_repaired, id="records were missing at a repair"),
    ],
)
def test_what_was_changed_is_found_by_both(folder: Path, change: Callable[[Path], None]) -> None:
    change(folder)
    assert checked(folder).fault is not None
    assert found_in(folder) != []
    result = CliRunner().invoke(program, ["audit", "verify", "--folder", str(folder), "--key", KEY.did])
    assert (result.exit_code, result.stdout.startswith("record ")) == (1, True)


def test_a_torn_line_is_no_fault_for_both(folder: Path) -> None:
    path = day_files(folder)[-1]
    whole = path.read_bytes()
    line = whole[: whole.index(b"\n")]
    for size in (1, 10, 14, 200, len(line)):
        path.write_bytes(whole + line[:size])
        assert (found_in(folder), checked(folder).fault) == ([], None)
    path.write_bytes(whole + b"{junk")
    assert (found_in(folder) != [], checked(folder).fault is not None) == (True, True)


def test_a_copy_that_cannot_be_written_is_verified(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = os.open

    def open_to_read(path: object, flags: int, *rest: int) -> int:
        if flags & os.O_RDWR:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return opened(path, flags, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", open_to_read)
    assert checked(folder).fault is None


_OWN = b'{"timestamp":"2026-02-01T12:00:00.000+00:00","event":"audit.%s","details":{"namespace":"","data":%s}'


@pytest.mark.parametrize(
    "body",
    [
        _OWN % (b"head", b"[]"),
        _OWN % (b"head", b'{"key":5,"signature":"zz"}'),
        _OWN % (b"head", b'{"key":"did:key:z%s","signature":"%s"}' % (b"6" * 5000, b"0" * 128)),
        _OWN % (b"cut", b'{"firstKept":1e400,"prevHash":5}'),
        _OWN % (b"cut", b'{"firstKept":-1e400,"prevHash":"%s"}' % (b"0" * 64)),
        _OWN % (b"repaired", b'{"missing":"x"}'),
        _OWN % (b"repaired", b'{"missing":%s}' % (b"9" * 6000)),
        _OWN % (b"head", b"[" * 100_000 + b"]" * 100_000),
    ],
    ids=range(8),
)
def test_a_record_that_somebody_made_up_stops_no_verifier_and_no_export(folder: Path, body: bytes) -> None:
    path = day_files(folder)[-1]
    last = read_line(path.read_bytes().splitlines(keepends=True)[-1])
    assert last is not None
    path.write_bytes(path.read_bytes() + line_of(body, last.seq + 1, last.hash)[0])
    result = CliRunner().invoke(program, ["audit", "verify", "--folder", str(folder), "--key", KEY.did])
    assert (result.exit_code, result.stdout.startswith(f"record {last.seq + 1} ")) == (1, True)
    assert found_in(folder) != []
    exported = CliRunner().invoke(program, ["audit", "export", "--folder", str(folder)])
    assert (exported.exit_code, exported.stdout.count("\n") >= last.seq) == (0, True)


def test_a_journal_to_which_nothing_was_written_has_no_fault(folder: Path) -> None:
    for path in day_files(folder):
        path.unlink()
    (folder / "head").write_bytes(b"")
    assert (found_in(folder), checked(folder).fault, checked(folder).records) == ([], None, 0)


def test_each_changed_byte_of_a_line_is_found(folder: Path) -> None:
    path = day_files(folder)[0]
    content = path.read_bytes()
    start = content.index(b"\n") + 1
    for place in range(start, content.index(b"\n", start) + 1):
        changed = bytearray(content)
        changed[place] ^= 4
        files = {path.name: bytes(changed), day_files(folder)[1].name: day_files(folder)[1].read_bytes()}
        assert stranger.faults_of(files, (folder / "head").read_bytes(), {KEY.did}), place


def test_an_export_of_a_real_plugin_is_verified_by_the_program_alone(tmp_path: Path) -> None:
    with Plugin.open(config(audit={"folder": str(tmp_path / "journal")})) as plugin:
        for number in range(3):
            plugin.call("nothing", {"n": number, "text": "ü"}, agent="a1")
        key = plugin.audit.journal._key()  # type: ignore[union-attr]
    assert key is not None
    export = tmp_path / "all.ndjson"
    command = ["audit", "export", "--folder", str(tmp_path / "journal"), "--output", str(export)]
    assert CliRunner().invoke(program, command).exit_code == 0

    def run(*arguments: str) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, stranger.__file__, *arguments], capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout

    assert run(str(export), key.did) == (0, "")
    assert run(str(tmp_path / "journal"), key.did) == (0, "")
    assert run(str(export)) == (1, "record 4: signed by a stranger")
    export.write_bytes(export.read_bytes().replace(b'"n":1', b'"n":2'))
    assert run(str(export), key.did) == (1, "record 2: its hash is another")


def test_the_checksum_of_the_head_is_the_one_of_the_page(folder: Path) -> None:
    content = (folder / "head").read_bytes()
    before, _, checksum = content.rstrip(b"\n").rpartition(b" ")
    assert sha256(before).hexdigest()[:16].encode() == checksum
