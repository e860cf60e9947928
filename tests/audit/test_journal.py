"""The audit on disk: one chain by all writers, repairs after a crash, full disks, and old files."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from cortex_skills.audit import lines
from cortex_skills.audit.call_records import AuditRecord, Removed, of_event, started
from cortex_skills.audit.journal import Journal
from cortex_skills.audit.journal_files import day_files, lines_backwards, lines_in
from cortex_skills.audit.journal_state import snapshot
from cortex_skills.audit.lines import document_of, entry_of, read_line
from cortex_skills.audit.verification import JournalReport, verify_journal
from cortex_skills.config import host_identity
from cortex_skills.config.host_identity import HostIdentity
from cortex_skills.errors import CortexError
from cortex_skills.keys import Key
from cortex_skills.keys.did import public_of
from cortex_skills.keys.ed25519 import verify as verify_signature

KEY, STRANGER = Key("a", b"\1" * 32), Key("b", b"\2" * 32)
NOON = datetime(2026, 1, 31, 12, tzinfo=UTC).timestamp()
DAY = 86_400
WRITER = """
import sys
from pathlib import Path
from cortex_skills.audit.call_records import AuditRecord
from cortex_skills.audit.journal import Journal
from cortex_skills.audit.lines import document_of
journal = Journal(Path(sys.argv[1]))
for number in range(int(sys.argv[2])):
    entry = AuditRecord("2026-01-31T12:00:00.000+00:00", sys.argv[3], None, "a1", "ok", 1.0, inputs={"n": number})
    journal.append(document_of(entry, "mayros"))
    if number == 0 or number % 50 == 49:
        print(number, flush=True)
"""


def verify(did: str, message: bytes, signature: bytes) -> bool:
    return verify_signature(public_of(did), message, signature)


def document(number: int = 0, **given: Any) -> dict[str, Any]:
    return document_of(AuditRecord(started(), f"tool-{number}", "probe", "a1", "ok", 1.0, **given), "mayros")


def checked(folder: Path, **settings: Any) -> JournalReport:
    return verify_journal(folder, verify, **({"keys": {KEY.did}} | settings))


def written(folder: Path, count: int, clock: Callable[[], float] = lambda: NOON, **settings: Any) -> Path:
    """A journal of so many records, signed at the end; its last file."""
    journal = Journal(folder, lambda: KEY, clock=clock, **settings)
    for number in range(count):
        journal.append(document(number))
    journal.close()
    return day_files(folder)[-1]


def found(report: JournalReport) -> tuple[int, str]:
    assert report.fault is not None
    return report.fault.seq, report.fault.problem


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "audit"


@pytest.fixture
def file(folder: Path) -> Path:
    """A journal of ten records and a signed head."""
    return written(folder, 10)


def test_records_are_numbered_chained_and_signed_at_the_end(folder: Path) -> None:
    journal = Journal(folder, lambda: KEY, clock=lambda: NOON)
    assert [journal.append(document(number))[0] for number in range(3)] == [1, 2, 3]
    assert (checked(folder).records, checked(folder).signed) == (3, 0)
    journal.close()
    journal.close()
    report = checked(folder)
    assert (report.records, report.first, report.last, report.signed) == (4, 1, 4, 4)
    assert (report.keys, report.fault, report.waiting) == ((KEY.did,), None, 0)
    assert [path.name for path in day_files(folder)] == ["2026-01-31.ndjson"]
    modes = [oct(path.stat().st_mode & 0o777) for path in (folder, folder / "head", folder / "2026-01-31.ndjson")]
    assert modes == ["0o700", "0o600", "0o600"]


def test_a_line_has_the_nesting_that_readers_of_earlier_systems_know(folder: Path) -> None:
    entry = AuditRecord(
        "2026-01-31T12:00:00.000+00:00",
        "fs_write",
        "probe",
        "a1",
        "permission_denied",
        2.5,
        3,
        (Removed("override", "/note", 3),),
        event="skill_executed",
        category="action",
        actor="ada",
        inputs={"path": "out/x", "text": "\u202e\x1b[2J\ud800"},
        approval_required=True,
        approved_by="ada",
        trust_level="suggest",
        session="0" * 32,
        changes=({"event": "graph.assert", "success": True, "code": None, "data": {"object": "ab"}},),
    )
    given = document_of(entry, "mayros")
    assert entry_of(given) == entry
    Journal(folder).append(given)
    line = next(lines_in(day_files(folder)[0]))
    assert line.isascii()
    assert line.startswith(b'{"timestamp":"2026-01-31T12:00:00.000+00:00","level":"warn","category":"action",')
    read = read_line(line)
    assert read is not None
    assert read.document() == {**given, "seq": 1, "prevHash": lines.FIRST}
    assert set(given["details"]) >= {"skillId", "inputs", "outputs", "success", "durationMs", "approvalRequired"}


def test_two_journals_of_a_folder_make_one_chain(folder: Path) -> None:
    first, second = Journal(folder, lambda: KEY), Journal(folder, lambda: KEY)
    for number in range(20):
        (first if number % 3 else second).append(document(number))
    threads = [threading.Thread(target=lambda: [second.append(document()) for _ in range(20)]) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    first.close()
    second.close()
    report = checked(folder)
    assert (report.records, report.signed, report.fault) == (81, 81, None)


def test_processes_that_are_killed_leave_one_unbroken_chain(folder: Path) -> None:
    command = [sys.executable, "-c", WRITER, str(folder)]
    writers = [subprocess.Popen([*command, "100000", str(n)], stdout=subprocess.PIPE, text=True) for n in range(3)]
    acknowledged = {}
    for number, writer in enumerate(writers):
        assert writer.stdout is not None
        acknowledged[str(number)] = int([writer.stdout.readline() for _ in range(3)][-1])
    for writer in writers:
        writer.send_signal(signal.SIGKILL)
        writer.communicate()
    written(folder, 1)
    report = checked(folder)
    assert (report.fault, report.waiting, report.signed) == (None, 0, report.last)
    kept: dict[str, int] = {}
    for path in day_files(folder):
        for content in lines_in(path):
            read = read_line(content)
            assert read is not None
            details = (read.document() or {})["details"]
            if details["action"] in acknowledged:
                assert details["inputs"]["n"] == kept.get(details["action"], -1) + 1
                kept[details["action"]] = details["inputs"]["n"]
    assert all(kept[name] >= last for name, last in acknowledged.items())


# --- what verification finds


def _edited(content: list[bytes]) -> list[bytes]:
    return [line.replace(b'"tool-4"', b'"tool-5"') if n == 4 else line for n, line in enumerate(content)]


def _rehashed(content: list[bytes]) -> list[bytes]:
    read = read_line(_edited(content)[4])
    assert read is not None
    body = read.body[: read.body.rindex(b',"seq":')]
    return [*content[:4], lines.line_of(body, read.seq, read.prev_hash)[0], *content[5:]]


def _copied(content: list[bytes]) -> list[bytes]:
    return [*content[:5], content[4], *content[5:]]


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (_edited, (5, "was changed: it does not have its hash")),
        (_rehashed, (6, "does not follow the record before it: that one was replaced")),
        (lambda c: [*c[:4], *c[5:]], (5, "is missing: the next record has the number 6")),
        (lambda c: [*c[:2], *c[6:]], (3, "is missing to 6: the next record has the number 7")),
        (lambda c: [*c[:4], c[5], c[4], *c[6:]], (5, "is missing: the next record has the number 6")),
        (_copied, (5, "is out of order: the record before it has the number 5")),
        (lambda c: [*c[:4], b'{"x": 1}\n', *c[5:]], (5, "was changed: the line is not a record")),
        (lambda c: [*c[:4], b"\0" * 30 + b"\n", *c[5:]], (5, "was changed: the line is not a record")),
        (lambda c: c[:8], (9, "is missing to 11: the head of the journal counts it")),
        (lambda c: c[3:], (1, "is missing to 3: no signed record reports that it was cut")),
    ],
)
def test_the_first_changed_missing_or_reordered_record_is_named(
    folder: Path, file: Path, change: Callable[[list[bytes]], list[bytes]], fault: tuple[int, str]
) -> None:
    file.write_bytes(b"".join(change(list(lines_in(file)))))
    assert found(checked(folder)) == fault


def test_a_lost_file_is_named(folder: Path) -> None:
    times = iter([NOON] * 3 + [NOON + DAY] * 3 + [NOON + 2 * DAY] * 9)
    written(folder, 9, lambda: next(times))
    names = [path.name for path in day_files(folder)]
    assert names == ["2026-01-31.ndjson", "2026-02-01.ndjson", "2026-02-02.ndjson"]
    assert checked(folder).fault is None
    (folder / names[1]).unlink()
    assert found(checked(folder)) == (4, "is missing to 6: the next record has the number 7")


def test_a_chain_that_a_stranger_wrote_again_is_not_signed_by_this_installation(folder: Path, file: Path) -> None:
    for name in (file, folder / "head"):
        name.unlink()
    journal = Journal(folder, lambda: STRANGER, clock=lambda: NOON)
    journal.append(document())
    journal.close()
    report = checked(folder)
    assert found(report) == (2, f"is signed with another key: {STRANGER.did}")
    assert (report.signed, report.keys) == (0, (STRANGER.did,))
    assert checked(folder, keys=None).fault is None


def test_a_forged_signature_does_not_verify(folder: Path, file: Path) -> None:
    *before, last = lines_in(file)
    read = read_line(last)
    assert read is not None
    body = read.body[: read.body.rindex(b',"seq":')]
    start = body.index(b'"signature":"') + len(b'"signature":"')
    forged = body[:start] + (b"0" if body[start : start + 1] != b"0" else b"1") + body[start + 1 :]
    file.write_bytes(b"".join([*before, lines.line_of(forged, read.seq, read.prev_hash)[0]]))
    assert found(checked(folder)) == (11, "has a signature that does not verify")


def test_a_hash_that_was_noted_must_be_there(folder: Path, file: Path) -> None:
    noted = checked(folder).hash
    written(folder, 2)
    assert checked(folder, noted=noted).fault is None
    for name in (file, folder / "head"):
        name.unlink()
    written(folder, 3)
    assert checked(folder).fault is None
    assert "the noted hash is not in the journal" in found(checked(folder, noted=noted))[1]


def test_further_faults_are_counted_and_those_before_a_number_left_out(folder: Path, file: Path) -> None:
    content = list(lines_in(file))
    content[2] = content[2].replace(b"tool", b"fool")
    content[6] = content[6].replace(b"tool", b"fool")
    file.write_bytes(b"".join(content))
    report = checked(folder)
    assert (found(report)[0], report.faults, report.records) == (3, 2, 11)
    assert found(checked(folder, since=4))[0] == 7


# --- crashes


def test_a_torn_last_line_is_removed_and_reported(folder: Path, file: Path) -> None:
    with file.open("ab") as torn:
        torn.write(b'{"timestamp":"2026-01-31T12:00:01","lev')
    assert checked(folder).waiting == 39
    written(folder, 1)
    report = checked(folder)
    assert (report.fault, report.records, report.waiting) == (None, 14, 0)
    repair = (read_line(list(lines_in(file))[11]) or pytest.fail("no record")).document()
    assert repair is not None
    assert repair["event"] == "audit.repaired"
    assert repair["details"]["data"]["problem"] == "the last line was torn, and removed"
    assert repair["details"]["data"]["bytes"] == 39


def test_a_line_without_a_head_is_kept(folder: Path, file: Path) -> None:
    before = (folder / "head").read_bytes()
    written(folder, 2)
    (folder / "head").write_bytes(before)
    assert checked(folder).waiting > 0
    written(folder, 1)
    report = checked(folder)
    assert (report.fault, report.records) == (None, 16)


@pytest.mark.parametrize("content", [None, b"", b"x" * 154, b"\0" * 500])
def test_a_lost_head_is_found_again(folder: Path, file: Path, content: bytes | None) -> None:
    (folder / "head").unlink()
    if content is not None:
        (folder / "head").write_bytes(content)
    with file.open("ab") as torn:
        torn.write(b"torn")
    written(folder, 1)
    report = checked(folder)
    assert (report.fault, report.last) == (None, 14)


def test_foreign_bytes_are_kept_and_named_and_hide_nothing(folder: Path, file: Path) -> None:
    with file.open("ab") as foreign:
        foreign.write(b"an editor was here\nand here")
    written(folder, 1)
    report = checked(folder)
    assert found(report) == (12, "was changed: the line is not a record")
    assert report.records == 14
    assert b"an editor was here\nand here\n" in file.read_bytes()


def test_a_file_that_was_cut_continues_and_the_missing_records_are_named(folder: Path, file: Path) -> None:
    content = list(lines_in(file))
    file.write_bytes(b"".join(content[:8]) + content[8][:20])
    written(folder, 1)
    report = checked(folder)
    assert found(report) == (
        9,
        "reports a repair after which records were missing: the head names record 11, and the last one is 8; the last"
        " line was torn, and removed",
    )
    assert report.last == 11


def test_a_clock_that_goes_back_appends_to_the_last_file(folder: Path) -> None:
    written(folder, 1, lambda: NOON + DAY)
    assert written(folder, 1, lambda: NOON).name == "2026-02-01.ndjson"
    assert checked(folder).fault is None


def names(folder: Path) -> list[str]:
    return [path.name for path in day_files(folder)]


def test_the_file_of_a_clock_that_was_years_ahead_gets_the_name_of_a_day(folder: Path) -> None:
    written(folder, 2)
    written(folder, 2, lambda: NOON + 40_000 * DAY)
    assert names(folder) == ["2026-01-31.ndjson", "2135-08-08.ndjson"]
    written(folder, 1)  # a file of today is there already
    assert names(folder) == ["2026-01-31.ndjson", "2135-08-08.ndjson"]
    other = Journal(folder, lambda: KEY, clock=lambda: NOON + DAY)
    other.append(document())
    assert names(folder) == ["2026-01-31.ndjson", "2026-02-01.ndjson"]
    written(folder, 1, lambda: NOON + 2 * DAY, keep_days=1)
    assert names(folder) == ["2026-02-01.ndjson", "2026-02-02.ndjson"]
    other.append(document())
    other.close()
    report = checked(folder)
    assert (report.fault, report.repairs) == (None, 1)
    repairs = [each for path in day_files(folder) for each in path.read_text().splitlines() if "audit.repaired" in each]
    assert json.loads(repairs[0])["details"]["data"] == {
        "file": "2026-02-01.ndjson",
        "problem": "the file of a future day, 2135-08-08.ndjson, has the name of today now",
    }


def test_a_writer_that_was_killed_behind_the_new_name_leaves_a_whole_chain(folder: Path) -> None:
    written(folder, 2, lambda: NOON + 40_000 * DAY)
    (folder / "2135-08-08.ndjson").rename(folder / "2026-01-31.ndjson")
    written(folder, 1)
    report = checked(folder)
    assert (names(folder), report.fault, report.last) == (["2026-01-31.ndjson"], None, 6)


@pytest.mark.parametrize("content", [b"", b"mine\n", b'{"timestamp":"', b"\x00" * 100])
@pytest.mark.parametrize("is_head_lost", [False, True])
def test_a_strange_file_of_a_future_day_takes_no_records(folder: Path, content: bytes, is_head_lost: bool) -> None:
    written(folder, 2)
    for name in ("2135-08-08.ndjson", "9999-99-99.ndjson"):
        (folder / name).write_bytes(content)
    if is_head_lost:
        (folder / "head").unlink()
    written(folder, 2)
    written(folder, 2, lambda: NOON + DAY)
    assert names(folder) == ["2026-01-31.ndjson", "2026-02-01.ndjson", "2135-08-08.ndjson", "9999-99-99.ndjson"]
    for name in ("2135-08-08.ndjson", "9999-99-99.ndjson"):
        assert (folder / name).read_bytes() == content
    fault = checked(folder).fault
    assert (fault is None) == (content == b"")
    assert fault is None or fault.file == "2135-08-08.ndjson"
    for name in ("2135-08-08.ndjson", "9999-99-99.ndjson"):
        (folder / name).unlink()
    assert checked(folder).fault is None


def test_a_file_that_is_removed_while_it_is_open_is_written_again(folder: Path) -> None:
    journal = Journal(folder, lambda: KEY, clock=lambda: NOON)
    journal.append(document())
    day_files(folder)[0].unlink()
    journal.append(document())
    journal.close()
    assert found(checked(folder)) == (1, "is missing: no signed record reports that it was cut")
    assert checked(folder).last == 4


def test_a_symbolic_link_is_not_followed(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_bytes(b"")
    written(folder, 1)
    (folder / "2026-02-01.ndjson").symlink_to(target)
    with pytest.raises(OSError, match="symbolic links"):
        Journal(folder, clock=lambda: NOON + DAY).append(document())
    assert target.read_bytes() == b""


@pytest.fixture
def small_files() -> Iterator[Callable[[int], None]]:
    """Limits the size of files that this process writes."""
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, old[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, old)


def test_a_line_that_does_not_fit_is_taken_back(folder: Path, small_files: Callable[[int], None]) -> None:
    journal = Journal(folder, lambda: KEY, clock=lambda: NOON)
    journal.append(document())
    small_files(day_files(folder)[0].stat().st_size + 100)
    for _ in range(2):
        with pytest.raises(OSError, match=r"No space left|too large"):
            journal.append(document())
    small_files(resource.RLIM_INFINITY)
    assert journal.append(document())[0] == 2
    journal.close()
    report = checked(folder)
    assert (report.records, report.fault, report.signed) == (3, None, 3)


# --- days


def test_old_files_are_deleted_behind_a_signed_record(folder: Path) -> None:
    times = iter([NOON] * 4 + [NOON + DAY] * 4)
    written(folder, 8, lambda: next(times, NOON + DAY))
    journal = Journal(folder, lambda: KEY, clock=lambda: NOON + 3 * DAY, keep_days=2)
    journal.append(document())
    assert [path.name for path in day_files(folder)] == ["2026-02-01.ndjson", "2026-02-03.ndjson"]
    journal.close()
    report = checked(folder)
    assert (report.first, report.fault, report.signed) == (5, None, report.last)
    cut = (read_line(next(lines_in(day_files(folder)[1]))) or pytest.fail("no record")).document()
    assert cut is not None
    (held,) = cut["details"]["data"]["files"]
    assert (held["name"], held["first"], held["last"]) == ("2026-01-31.ndjson", 1, 4)
    assert cut["details"]["data"]["firstKept"] == 5


def test_a_cut_that_is_not_signed_by_this_installation_is_a_fault(folder: Path) -> None:
    times = iter([NOON] * 4 + [NOON + DAY] * 4)
    written(folder, 8, lambda: next(times, NOON + DAY))
    forger = Journal(folder, lambda: STRANGER, clock=lambda: NOON + 3 * DAY, keep_days=2)
    forger.append(document())
    forger.close()
    assert found(checked(folder)) == (1, "is missing to 4: no signed record reports that it was cut")


def test_what_was_written_is_signed_after_a_while(folder: Path) -> None:
    journal = Journal(folder, lambda: KEY, sign_after=0.01)
    journal.append(document())
    signed = threading.Event()
    while not signed.wait(0.01):
        head = snapshot(folder)
        if head is not None and head.signed:
            signed.set()
    assert checked(folder).signed == 2
    journal.close()
    assert checked(folder).records == 2


def test_a_forked_process_continues_the_chain(folder: Path) -> None:
    journal = Journal(folder, clock=lambda: NOON)
    journal.append(document())
    child = os.fork()
    if child == 0:
        try:
            journal.append(document())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    journal.append(document())
    assert (checked(folder).records, checked(folder).fault) == (3, None)


@pytest.mark.parametrize("size", [1, 10, 65_535, 65_536, 65_537, 200_000])
def test_lines_are_read_backwards_across_pieces(tmp_path: Path, size: int) -> None:
    path = tmp_path / "lines"
    content = [b"x" * size + b"%d\n" % number for number in range(5)] + [b"\n", b"a\n", b"torn"]
    path.write_bytes(b"".join(content))
    assert list(lines_backwards(path)) == list(reversed(content[:-1]))
    path.write_bytes(b"torn")
    assert list(lines_backwards(path)) == []


def test_an_event_of_the_audit_round_trips() -> None:
    entry = of_event("trust_level.changed", "a1", data={"from": "observe"}, actor="ada")
    assert entry_of(document_of(entry, "mayros")) == entry
    assert entry_of({"timestamp": 1, "details": {}}) is None


def test_a_journal_belongs_to_the_host_that_began_it_and_to_none_whose_id_does_not_last(tmp_path: Path) -> None:
    first, second, passing = (HostIdentity(letter * 32, letter) for letter in "abc")
    host_identity._OF_PROCESS.add(passing.id)
    folder = tmp_path / "audit"

    def journal(host: HostIdentity) -> Journal:
        return Journal(folder, host=lambda: host, of_one_host=True)

    for host in (passing, passing, first, first):
        opened = journal(host)
        opened.check_host()
        opened.append({"timestamp": "t"})
        opened.close()
    for host in (second, passing):
        refused = journal(host)
        with pytest.raises(CortexError, match=r"is that of a \(a{32}\)"):
            refused.check_host()
        with pytest.raises(PermissionError, match="it is the journal of a"):
            refused.append({"timestamp": "t"})
        refused.close()
    (folder / "host").write_text("\x00 nothing")
    with pytest.raises(CortexError, match="an unknown host"):
        journal(first).check_host()
