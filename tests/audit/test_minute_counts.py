"""The counts of a minute are those of the records, of every writer, however the journal was read before."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cortex_skills.audit import journal_reader
from cortex_skills.audit.call_records import AuditRecord
from cortex_skills.audit.journal import Journal
from cortex_skills.audit.journal_reader import JournalReader
from cortex_skills.audit.lines import document_of
from cortex_skills.audit.recent_calls import CallFilter, RecentCalls

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


def entry(minute: int, outcome: str = "ok", stripped: int = 0, seconds: float = 0.0, **given: object) -> AuditRecord:
    time = (NOON + timedelta(minutes=minute)).isoformat(timespec="milliseconds")
    return AuditRecord(time, "t", "probe", "a1", outcome, seconds * 1000, stripped, **given)  # type: ignore[arg-type]


def counted(reader: object, minutes: int = 10) -> list[tuple[int, int, int]]:
    found = reader.by_minute(NOON, minutes)  # type: ignore[attr-defined]
    return [(each.total, each.refused, each.cleaned) for each in found]


HOSTILE = {"code": None, "durationMs": 1, "approvalRequired": True, "approvedBy": None, "stripped": 7}
RECORDS = st.lists(
    st.builds(
        entry,
        st.integers(-30, 12),
        st.sampled_from(["ok", "ok", "permission_denied"]),
        st.integers(0, 3),
        inputs=st.sampled_from([None, HOSTILE, {"text": '"code":null,"durationMs":1'}]),
        data=st.sampled_from([None, {"stripped": 9}]),
    ),
    max_size=30,
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(records=RECORDS, asked=st.integers(0, 30))
def test_the_counts_are_those_of_the_records(
    tmp_path_factory: pytest.TempPathFactory, records: list[AuditRecord], asked: int
) -> None:
    folder, recent = tmp_path_factory.mktemp("minutes"), RecentCalls()
    journal, reader = Journal(folder), JournalReader(folder, "mayros")
    for place, each in enumerate(sorted(records, key=lambda record: record.time)):
        if place == asked:
            assert counted(reader) == counted(recent)
        journal.append(document_of(each, "mayros"))
        journal.append(document_of(each, "elsewhere"))
        recent.record(each)
    assert counted(reader) == counted(JournalReader(folder, "mayros")) == counted(recent)
    journal.close()


def test_only_new_records_are_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal, reader = Journal(tmp_path / "j"), JournalReader(tmp_path / "j", "mayros")
    for minute in range(5):
        journal.append(document_of(entry(minute), "mayros"))
    assert counted(reader, 6) == [(1, 0, 0)] * 5 + [(0, 0, 0)]
    read: list[bytes] = []
    whole = journal_reader.read_line
    monkeypatch.setattr(journal_reader, "read_line", lambda line: (read.append(line), whole(line))[1])
    journal.append(document_of(entry(5, "rate_limited", 2), "mayros"))
    assert counted(reader, 6) == [(1, 0, 0)] * 5 + [(1, 1, 2)]
    assert len(read) == 2
    journal.close()


def test_another_journal_in_its_place_is_counted_anew(tmp_path: Path) -> None:
    folder = tmp_path / "j"
    reader = JournalReader(folder, "mayros")
    assert counted(reader, 1) == [(0, 0, 0)]
    for count in (3, 5):
        journal = Journal(folder)
        for _ in range(count):
            journal.append(document_of(entry(0), "mayros"))
        journal.close()
        assert counted(reader, 1) == [(count, 0, 0)]
        for path in folder.iterdir():
            path.unlink()


def test_a_page_ends_where_all_records_ended_before_its_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal, reader = Journal(tmp_path / "j"), JournalReader(tmp_path / "j", "mayros")
    for minute in range(-50, 5):
        journal.append(document_of(entry(minute), "mayros"))
    journal.append(document_of(entry(-40, seconds=45 * 60), "mayros"))
    journal.append(document_of(entry(5), "mayros"))
    read: list[bytes] = []
    whole = journal_reader.read_line
    monkeypatch.setattr(journal_reader, "read_line", lambda line: (read.append(line), whole(line))[1])
    page = reader.page(CallFilter(since=NOON))
    assert ([each.record.time[14:16] for each in page.calls], page.next_cursor) == (
        ["05", "04", "03", "02", "01", "00"],
        None,
    )
    assert len(read) < 12
    journal.close()
