"""The journals of several hosts: all verified, each chain for itself, and merged by time."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from cortex_skills.audit.call_records import AuditRecord
from cortex_skills.audit.journal import Journal
from cortex_skills.audit.journal_files import day_files
from cortex_skills.audit.lines import document_of, read_line
from cortex_skills.audit.merging import merged
from cortex_skills.config.host_identity import HostIdentity
from cortex_skills.doors.cli.app import program
from cortex_skills.keys.ed25519 import Key

HOSTS = {name: HostIdentity(name[0] * 32, name) for name in ("attic", "bureau", "cellar")}
KEYS = {name: Key(name, bytes([number]) * 32) for number, name in enumerate(HOSTS)}
NOON = 1_769_860_800.0  # 2026-01-31T12:00:00Z


def write(folder: Path, name: str, seconds: list[int]) -> None:
    """The journal of a host with a record at each of these seconds after noon."""
    clock = iter(seconds)
    journal = Journal(folder / name, lambda: KEYS[name], clock=lambda: NOON, host=lambda: HOSTS[name])
    for second in clock:
        time = f"2026-01-31T12:{second // 60:02}:{second % 60:02}.000+00:00"
        journal.append(document_of(AuditRecord(time, f"at-{second}", None, "a1", "ok", 1.0), "mayros", HOSTS[name]))
    journal.close()


def run(*words: object) -> Result:
    keys = [word for key in KEYS.values() for word in ("--key", key.did)]
    return CliRunner().invoke(program, ["audit", *map(str, words), *keys])


@pytest.fixture
def journals(tmp_path: Path) -> Path:
    write(tmp_path, "attic", [0, 30, 10, 40])
    write(tmp_path, "bureau", [5, 35])
    write(tmp_path, "cellar", [20])
    (tmp_path / "none").mkdir()
    (tmp_path / "file").write_text("")
    return tmp_path


def tools(lines: list[bytes]) -> list[str]:
    return [json.loads(line)["details"]["action"] for line in lines if b"audit.head" not in line]


def test_all_journals_below_a_folder_are_verified_each_with_its_host(journals: Path) -> None:
    result = run("verify", "--all", "--folder", journals, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["whole"]
    assert [(Path(each["folder"]).name, each["host"]["name"], each["last"]) for each in found["journals"]] == [
        ("attic", "attic", 5),
        ("bureau", "bureau", 3),
        ("cellar", "cellar", 2),
    ]
    assert (
        f"{journals / 'bureau'}, of bureau:\nthe chain of 3 records is whole"
        in run("verify", "--all", "--folder", journals).output
    )


@pytest.mark.parametrize("words", [["--since", "2"], ["--noted", "0" * 64]])
def test_what_is_about_one_journal_is_refused_for_all(journals: Path, words: list[str]) -> None:
    assert run("verify", "--all", "--folder", journals, *words).exit_code == 2


def change(line: bytes) -> bytes:
    return line.replace(b"at-5", b"at-6")


def remove(line: bytes) -> bytes:
    return b"" if b"at-5" in line else line


@pytest.mark.parametrize("edit", [change, remove])
def test_a_fault_of_one_is_found_and_nothing_is_merged(journals: Path, edit: Callable[[bytes], bytes]) -> None:
    (path,) = day_files(journals / "bureau")
    path.write_bytes(b"".join(map(edit, path.read_bytes().splitlines(keepends=True))))
    found = run("verify", "--all", "--folder", journals, "--json")
    assert found.exit_code == 1
    assert [each["whole"] for each in json.loads(found.stdout)["journals"]] == [True, False, True]
    output = journals / "all.ndjson"
    result = run("merge", journals / "attic", journals / "bureau", "--output", output)
    assert (result.exit_code, output.exists()) == (1, False)
    assert f"{journals / 'bureau'}: record 1 " in result.output
    assert "nothing was written" in result.output


def test_a_journal_that_a_strange_key_signed_is_not_merged(journals: Path) -> None:
    result = CliRunner().invoke(program, ["audit", "merge", str(journals / "attic"), "--key", KEYS["bureau"].did])
    assert (result.exit_code, result.stdout) == (1, "")
    assert "is signed with another key" in result.stderr


def test_journals_are_merged_by_time_and_their_chains_stay(journals: Path) -> None:
    output = journals / "all.ndjson"
    assert run("merge", *(journals / name for name in HOSTS), "--output", output).exit_code == 0
    lines = output.read_bytes().splitlines(keepends=True)
    assert tools(lines) == ["at-0", "at-5", "at-20", "at-30", "at-10", "at-35", "at-40"]
    for name, host in HOSTS.items():
        own = [line for line in lines if json.loads(line)["details"]["host"] == host.to_json()]
        assert b"".join(own) == day_files(journals / name)[0].read_bytes()
    twice = run("merge", *(journals / name for name in [*HOSTS, *HOSTS]))
    assert twice.stdout.encode() == output.read_bytes()


@given(st.lists(st.lists(st.integers(0, 3599), max_size=8), min_size=1, max_size=3))
def test_merging_loses_nothing_and_keeps_the_order_of_each_chain(
    tmp_path_factory: pytest.TempPathFactory, times: list[list[int]]
) -> None:
    folder = tmp_path_factory.mktemp("journals")
    names = list(HOSTS)[: len(times)]
    for name, seconds in zip(names, times, strict=True):
        write(folder, name, seconds)
    lines = list(merged(folder / name for name in names))
    for name, seconds in zip(names, times, strict=True):
        own = [found for line in lines if (found := read_line(line)) and HOSTS[name].id.encode() in line]
        assert [each.seq for each in own] == list(range(1, len(own) + 1))
        assert len(own) == (len(seconds) + 1 if seconds else 0)
    begun: dict[str, Any] = {}
    for line in lines:
        document = json.loads(line)
        host = document["details"]["host"]["name"]
        begun[host] = max(begun.get(host, ""), document["timestamp"])
    assert set(begun) == {name for name, seconds in zip(names, times, strict=True) if seconds}
