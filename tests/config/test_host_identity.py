"""The identity of a host: made once, kept, noticed where it was copied, and never taken from a damaged file."""

from __future__ import annotations

import json
import logging
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cortex_skills.config import host_identity
from cortex_skills.config.host_identity import HostIdentity, adopt, copied, machine_name
from cortex_skills.config.settings import Config
from cortex_skills.errors import CortexError


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    return tmp_path / "home" / "cortex-skills"


def test_an_id_is_made_once_and_kept(home: Path) -> None:
    assert copied() == ""
    assert not home.exists()
    first = HostIdentity.of(Config())
    assert first == HostIdentity.of(Config())
    assert host_identity.ID.fullmatch(first.id)
    assert (home / "host.json").stat().st_mode & 0o777 == 0o600
    assert copied() == ""


def test_of_many_first_uses_at_once_all_have_one_id(home: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        assert len({each.id for each in pool.map(lambda _: HostIdentity.of(Config()), range(16))}) == 1
    assert [each.name for each in home.glob("host.json")] == ["host.json"]


def test_the_name_is_that_of_the_machine_until_one_is_set(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: "-büro\x1b[31m desk.")
    assert machine_name() == "b-ro-31m-desk"
    assert HostIdentity.of(Config()).name == "b-ro-31m-desk"
    assert HostIdentity.of(Config(host={"name": "desk.example.org"})).name == "desk.example.org"
    for name in ("", "\u202e", "..", "-" * 300):
        monkeypatch.setattr("socket.gethostname", lambda name=name: name)
        assert machine_name() == "host"


@pytest.mark.parametrize("name", ["a b", "-a", "a.", "\x1b[31m", "x" * 65, "ä"])
def test_a_name_that_would_not_be_shown_as_it_is_is_refused(name: str) -> None:
    with pytest.raises(CortexError) as refused:
        Config(host={"name": name})
    assert refused.value.code == "config_invalid"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"null",
        b"{}",
        b"\xff",
        b'{"id":"x","folder":"","machine":""}',
        b'{"id":"' + b"0" * 32 + b'\\n","folder":"","machine":""}',
        b'{"id":"' + b"A" * 32 + b'","folder":"","machine":""}',
        b'{"id":1,"folder":"","machine":""}',
        b"[" * 100_000,
    ],
)
def test_a_damaged_id_is_an_error_and_is_not_replaced(home: Path, content: bytes) -> None:
    home.mkdir(parents=True)
    path = home / "host.json"
    path.write_bytes(content)
    path.chmod(0o600)
    for read in (copied, lambda: HostIdentity.of(Config())):
        with pytest.raises(CortexError) as refused:
            read()
        assert refused.value.code == "config_invalid"
        assert str(path) in refused.value.message
    assert path.read_bytes() == content


def test_an_id_that_others_may_write_is_an_error(home: Path) -> None:
    HostIdentity.of(Config())
    (home / "host.json").chmod(0o666)
    with pytest.raises(CortexError, match="can be read or written by others"):
        HostIdentity.of(Config())


def test_a_copied_data_folder_is_noticed_and_gets_another_id(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = HostIdentity.of(Config())
    shutil.copytree(tmp_path / "home", tmp_path / "copy")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "copy"))
    assert copied() == f"it was made in {home}"
    assert adopt() == HostIdentity.of(Config()).id != first.id
    assert copied() == ""


def test_a_moved_data_folder_keeps_its_id(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = HostIdentity.of(Config())
    (tmp_path / "home").rename(tmp_path / "moved")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "moved"))
    assert copied() == f"it was made in {home}"
    assert adopt() == first.id
    assert copied() == ""


def test_an_id_of_another_machine_is_noticed(home: Path) -> None:
    HostIdentity.of(Config())
    path = home / "host.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"machine": "0" * 32}))
    found = copied()
    assert found == ("it was made on another machine" if host_identity._machine() else "")


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a folder in which nobody can write")
def test_where_nothing_can_be_written_the_id_lasts_as_long_as_the_process(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "/proc/cortex-tests")
    with caplog.at_level(logging.WARNING):
        assert HostIdentity.of(Config()).id == HostIdentity.of(Config()).id
    (warning,) = caplog.messages
    assert warning.startswith("/proc/cortex-tests/cortex-skills/host.json cannot be written (")
    assert warning.endswith("): this host has another id after the next start")
