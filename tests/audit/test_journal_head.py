"""The head of a journal is a note: the records are the chain, and what differs in it is reported."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cortex_skills.audit.journal import Journal
from cortex_skills.audit.journal_files import day_files, lines_in
from cortex_skills.audit.journal_head import LENGTH, JournalHead, read_head
from cortex_skills.audit.journal_state import snapshot
from cortex_skills.audit.lines import line_of, read_line
from cortex_skills.doors.cli.app import program
from tests.audit.test_journal import DAY, KEY, NOON, STRANGER, checked, document, found, written

REPAIRED = "audit.repaired"


def old_form(head: JournalHead) -> bytes:
    """A head as earlier versions wrote it."""
    return f"cortex-audit/1 {head.day} {head.size:020d} {head.seq:020d} {head.hash} {head.signed:020d}\n".encode()


def repairs(folder: Path) -> list[dict[str, Any]]:
    """The data of the records of repairs."""
    records = [json.loads(line) for path in day_files(folder) for line in path.read_bytes().splitlines()]
    return [record["details"]["data"] for record in records if record["event"] == REPAIRED]


def numbers(folder: Path) -> list[int]:
    records = [read_line(line) for path in day_files(folder) for line in lines_in(path)]
    return [record.seq for record in records if record is not None]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Of a journal with ten records and a signed head."""
    written(tmp_path / "audit", 10)
    return tmp_path / "audit"


def head_of(folder: Path) -> JournalHead:
    head = snapshot(folder)
    assert head is not None
    return head


def test_no_flipped_bit_of_a_head_is_taken_for_another_head(folder: Path) -> None:
    content = (folder / "head").read_bytes()
    assert len(content) == LENGTH
    assert read_head(content) == head_of(folder)
    for bit in range(8 * len(content)):
        changed = bytearray(content)
        changed[bit // 8] ^= 1 << bit % 8
        assert read_head(bytes(changed)) is None, bit
    assert [size for size in range(len(content)) if read_head(content[:size]) is not None] == []
    assert read_head(content + b"\n") is None


@pytest.mark.parametrize("form", [JournalHead.to_bytes, old_form])
def test_after_a_flipped_bit_writing_goes_on_behind_the_last_record_and_is_signed(
    folder: Path, form: Callable[[JournalHead], bytes]
) -> None:
    day, content = day_files(folder)[0], form(head_of(folder))
    records = day.read_bytes()
    for place in range(0, len(content), 1 if form is old_form else 8):
        changed = bytearray(content)
        changed[place] ^= 1 << place % 7
        (folder / "head").write_bytes(changed)
        day.write_bytes(records)
        if form is not old_form:
            assert found(checked(folder))[0] == 11
        written(folder, 1, fsync="never")
        kept = numbers(folder)
        assert kept == list(range(1, len(kept) + 1)), place
        report = checked(folder)
        assert (report.last, report.signed) in [(13, 13), (14, 14)], place
        assert report.fault is None or "reports a repair" in report.fault.problem, place
        assert len(day_files(folder)) == 1


def test_a_head_of_an_earlier_version_is_read_and_replaced_at_the_next_record(folder: Path) -> None:
    (folder / "head").write_bytes(old_form(head_of(folder)))
    assert checked(folder).fault is None
    written(folder, 1)
    assert (folder / "head").read_bytes().startswith(b"cortex-audit/2 ")
    assert (checked(folder).fault, checked(folder).last, repairs(folder)) == (None, 13, [])


def _short(content: bytes) -> bytes:
    return content[:80]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda _: None, "the head was lost"),
        (lambda _: b"", "the head was lost"),
        (_short, "the head was damaged"),
        (lambda content: content * 3, "the head was damaged"),
        (lambda content: content.replace(b"audit/2", b"audit/3"), "the head was damaged"),
        (lambda content: b"\0" * len(content), "the head was damaged"),
    ],
)
def test_a_lost_or_damaged_head_is_named_until_the_next_record_reports_it(
    folder: Path, change: Callable[[bytes], bytes | None], problem: str
) -> None:
    content = change((folder / "head").read_bytes())
    (folder / "head").unlink()
    if content is not None:
        (folder / "head").write_bytes(content)
    report = checked(folder)
    state = "missing" if content is None else "damaged"
    assert found(report) == (11, f"is the last one here, and the head is {state}: nothing shows whether more followed")
    assert report.fault is not None
    assert (report.fault.file, report.fault.line) == ("head", 1)
    written(folder, 1)
    report = checked(folder)
    assert (report.fault, report.last, report.signed, report.repairs) == (None, 14, 14, 1)
    assert repairs(folder) == [{"file": "2026-01-31.ndjson", "problem": problem}]


def _ahead(head: JournalHead) -> JournalHead:
    return replace(head, seq=200_000_000_000_000_009)


@pytest.mark.parametrize("form", [JournalHead.to_bytes, old_form])
def test_a_head_ahead_of_the_last_record_is_reported_and_not_continued(
    folder: Path, form: Callable[[JournalHead], bytes]
) -> None:
    (folder / "head").write_bytes(form(_ahead(head_of(folder))))
    number, problem = found(checked(folder))
    assert (number, problem) == (12, "is missing to 200,000,000,000,000,009: the head of the journal counts it")
    written(folder, 1)
    (repair,) = repairs(folder)
    assert (repair["headSeq"], repair["missing"]) == (200_000_000_000_000_009, 199_999_999_999_999_998)
    report = checked(folder)
    assert (report.last, report.signed, found(report)[0]) == (14, 14, 12)
    assert "reports a repair after which records were missing" in found(report)[1]
    assert checked(folder, since=13).fault is None


def test_a_head_of_another_journal_is_reported_and_not_continued(folder: Path, tmp_path: Path) -> None:
    written(tmp_path / "other", 3)
    (folder / "head").write_bytes((tmp_path / "other" / "head").read_bytes())
    assert found(checked(folder)) == (
        11,
        "is the last one here, and the head names a record 4 that is not where it states",
    )
    written(folder, 1)
    assert checked(folder).fault is None
    assert repairs(folder)[0]["problem"] == "the head names a record that is not here"
    assert numbers(folder) == list(range(1, 15))


def test_a_head_behind_the_last_record_is_one_of_a_writer_that_was_killed(folder: Path) -> None:
    before = (folder / "head").read_bytes()
    written(folder, 3, lambda: NOON + DAY)
    (folder / "head").write_bytes(before)
    assert (checked(folder).fault, checked(folder).last) == (None, 15)
    written(folder, 1, lambda: NOON)  # and the clock went back
    assert (checked(folder).fault, checked(folder).last, repairs(folder)) == (None, 17, [])
    assert [path.name for path in day_files(folder)] == ["2026-01-31.ndjson", "2026-02-01.ndjson"]


def test_a_writer_that_is_open_notices_a_head_that_another_one_changed(folder: Path) -> None:
    journal = Journal(folder, lambda: KEY, clock=lambda: NOON)
    journal.append(document())
    (folder / "head").write_bytes(_ahead(head_of(folder)).to_bytes())
    assert journal.append(document())[0] == 14  # behind the report
    (folder / "head").unlink()
    assert journal.append(document())[0] == 16
    journal.close()
    assert (numbers(folder), checked(folder).signed) == (list(range(1, 18)), 17)
    assert [each["problem"] for each in repairs(folder)] == [
        "the head names record 200,000,000,000,000,009, and the last one is 12",
        "the head was lost",
    ]


def test_a_deleted_head_does_not_end_signing(folder: Path) -> None:
    journal = Journal(folder, lambda: KEY, clock=lambda: NOON)
    journal.append(document())
    (folder / "head").unlink()
    journal.close()
    assert (checked(folder).signed, checked(folder).last, checked(folder).fault) == (14, 14, None)


def test_a_repair_whose_record_cannot_be_written_is_reported_by_the_next_writer(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "head").write_bytes(_ahead(head_of(folder)).to_bytes())
    with monkeypatch.context() as patch:
        patch.setattr("os.write", lambda *_: 0)
        with pytest.raises(OSError, match="No space left"):
            Journal(folder, clock=lambda: NOON).append(document())
    assert found(checked(folder))[0] == 12
    written(folder, 1)
    assert [each["missing"] for each in repairs(folder)] == [199_999_999_999_999_998]


def test_a_record_that_does_not_follow_is_not_continued_when_the_head_is_lost(folder: Path) -> None:
    day = day_files(folder)[0]
    body = b'{"timestamp":"2026-01-31T12:00:00.000+00:00","event":"x.y"'
    with day.open("ab") as file:
        file.write(line_of(body, 200_000_000_000_000_009, "0" * 64)[0])
    (folder / "head").unlink()
    written(folder, 1)
    assert numbers(folder) == [*range(1, 12), 200_000_000_000_000_009, 12, 13, 14]
    assert found(checked(folder))[0] == 12
    assert "not of this journal" in repairs(folder)[0]["problem"]


@pytest.mark.parametrize(
    ("junk", "number"), [(b"an editor was here\n", 12), (b"junk", 12), (b"\0" * 30, 12), (b"{}\n{}", 12), (b"\n", 12)]
)
def test_what_is_behind_the_last_record_is_named_with_its_place(folder: Path, junk: bytes, number: int) -> None:
    with day_files(folder)[0].open("ab") as file:
        file.write(junk)
    report = checked(folder)
    assert found(report) == (number, "was changed: the line is not a record")
    assert report.fault is not None
    assert (report.fault.file, report.fault.line) == ("2026-01-31.ndjson", 12)
    result = CliRunner().invoke(program, ["audit", "verify", "--folder", str(folder), "--key", KEY.did])
    assert (result.exit_code, "(2026-01-31.ndjson:12)" in result.stdout) == (1, True)
    exported = CliRunner().invoke(program, ["audit", "export", "--folder", str(folder)])
    assert exported.stdout.count("\n") == 11
    assert "no records, and were left out, from 2026-01-31.ndjson:12 on" in exported.stderr


def test_a_torn_record_is_named_and_is_no_fault(folder: Path) -> None:
    with day_files(folder)[0].open("ab") as file:
        file.write(b'{"timestamp":"2026-01-31T12:00:01","lev')
    result = CliRunner().invoke(program, ["audit", "verify", "--folder", str(folder), "--key", KEY.did])
    assert result.exit_code == 0
    assert "39 bytes are behind the head, of a writer that was stopped" in result.stdout
    written(folder, 1)
    result = CliRunner().invoke(program, ["audit", "verify", "--folder", str(folder), "--key", KEY.did])
    assert (result.exit_code, "repairs: 1; " in result.stdout) == (0, True)


def test_a_head_that_is_damaged_is_named_by_the_command_with_its_place(folder: Path) -> None:
    (folder / "head").write_bytes(b"x" * LENGTH)
    result = CliRunner().invoke(program, ["audit", "verify", "--folder", str(folder), "--key", KEY.did])
    assert (result.exit_code, "the head is damaged" in result.stdout, "(head:1)" in result.stdout) == (1, True, True)


def test_the_signer_of_a_repair_is_that_of_the_journal(folder: Path) -> None:
    (folder / "head").unlink()
    journal = Journal(folder, lambda: STRANGER, clock=lambda: NOON)
    journal.append(document())
    journal.close()
    assert "is signed with another key" in found(checked(folder))[1]
