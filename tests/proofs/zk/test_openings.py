"""The sealed store of openings: nothing leaks, and nothing is lost."""

from __future__ import annotations

import json
import logging
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from cortex_skills.errors import CortexError
from cortex_skills.features.proofs.zk import NotCanonicalError, Opening
from cortex_skills.features.proofs.zk.opening_transfer import export_opening, import_opening, read_opening
from cortex_skills.features.proofs.zk.openings import MAX_LABEL, OpeningStore, default_folder, default_key_file

ROOT = Path(__file__).parents[3]
YEAR = Opening(19901990, 5151515151)

_ADD = """
import sys
from pathlib import Path
from cortex_skills.features.proofs.zk import Opening
from cortex_skills.features.proofs.zk.openings import OpeningStore
store = OpeningStore(Path(sys.argv[1]), Path(sys.argv[2]))
for place in range(5):
    store.add(Opening(place, int(sys.argv[3]) * 100 + place + 1))
"""


@pytest.fixture
def store(tmp_path: Path) -> OpeningStore:
    return OpeningStore(tmp_path / "openings", tmp_path / "settings/key")


def refused(store: OpeningStore) -> CortexError:
    """The error of a store that cannot be used; a change of it fails in the same way, and changes nothing."""
    before = store.path.read_bytes()
    with pytest.raises(CortexError) as reading:
        store.infos()
    with pytest.raises(CortexError) as changing:
        store.add(Opening(3))
    with pytest.raises(CortexError):
        store.get(YEAR.point)
    assert reading.value.code == changing.value.code == "config_invalid"
    assert reading.value.hint
    assert store.path.read_bytes() == before
    return reading.value


def test_an_opening_is_stored_and_found_by_its_commitment(store: OpeningStore) -> None:
    assert store.infos() == []
    assert store.get(YEAR.point) is None
    assert store.add(YEAR, label="birth year")
    assert not store.add(YEAR, label="again")
    assert store.add(Opening("DE", 7))
    found = OpeningStore(store.path.parent, store.key_file).get(YEAR.point)
    assert found is not None
    assert (found.value, found.blinding, found.point) == (YEAR.value, YEAR.blinding, YEAR.point)
    first, second = store.infos()
    assert (first.commitment, first.label, second.label) == (YEAR.commitment, "birth year", "")
    assert first.skills == ()
    assert store.remove(YEAR.commitment)
    assert not store.remove(YEAR.commitment)
    assert [info.commitment for info in store.infos()] == [second.commitment]


def test_its_files_are_private_and_in_different_folders(store: OpeningStore) -> None:
    store.add(YEAR)
    for path in (store.path, store.key_file):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert store.path.parent != store.key_file.parent
    assert default_folder().name == "openings"
    assert default_key_file().parent.name == "openings"


def test_nothing_of_an_opening_is_in_the_files_the_log_or_a_list(
    store: OpeningStore, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    store.add(YEAR, label="birth year")
    store.get(YEAR.point)
    shown = repr(store) + repr(store.infos()) + caplog.text
    for secret in (b"19901990", b"5151515151", b"birth year", YEAR.commitment.encode(), YEAR.point):
        for path in (*store.path.parent.iterdir(), *store.key_file.parent.iterdir()):
            assert secret not in path.read_bytes()
    assert "19901990" not in shown
    assert "5151515151" not in shown


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660])
@pytest.mark.parametrize("which", ["path", "key_file"])
def test_a_file_that_others_may_read_is_not_used(store: OpeningStore, which: str, mode: int) -> None:
    store.add(YEAR)
    getattr(store, which).chmod(mode)
    assert "by others" in refused(store).message


@pytest.mark.parametrize("which", ["path", "key_file"])
def test_a_folder_that_others_may_open_is_not_used(store: OpeningStore, which: str) -> None:
    store.add(YEAR)
    getattr(store, which).parent.chmod(0o755)
    assert "opened by others" in refused(store).message


def test_no_byte_of_the_store_can_be_flipped_or_cut_off(store: OpeningStore) -> None:
    store.add(YEAR)
    whole = store.path.read_bytes()
    for place in range(len(whole)):
        changed = bytearray(whole)
        changed[place] ^= 1
        store.path.write_bytes(bytes(changed))
        with pytest.raises(CortexError, match=r"damaged|not a store"):
            store.infos()
    for length in (0, 1, 24, 25, 26, 48, 49, 64, len(whole) - 1):
        store.path.write_bytes(whole[:length])
        refused(store)
    store.path.write_bytes(whole)
    assert len(store.infos()) == 1


def test_a_foreign_file_is_distinguished_from_a_damaged_one_and_not_changed(store: OpeningStore) -> None:
    store.add(YEAR)
    store.path.write_bytes(b'{"openings": []}')
    assert "is not a store of openings" in refused(store).message


def test_a_store_sealed_with_another_key_is_not_changed(store: OpeningStore, tmp_path: Path) -> None:
    store.add(YEAR)
    other = OpeningStore(tmp_path / "other", tmp_path / "other-settings/key")
    other.add(Opening(1))
    assert "encrypted with another key" in refused(OpeningStore(store.path.parent, other.key_file)).message
    assert len(store.infos()) == 1


@pytest.mark.parametrize("key", [b"", b"short", bytes(32), b"x" * 33])
def test_an_invalid_key_is_refused(store: OpeningStore, key: bytes) -> None:
    store.add(YEAR)
    store.key_file.write_bytes(key)
    refused(store)


def test_a_lost_key_is_reported_and_not_replaced(store: OpeningStore) -> None:
    store.add(YEAR)
    key = store.key_file.read_bytes()
    store.key_file.unlink()
    assert "restore a copy" in refused(store).hint
    assert not store.key_file.exists()
    store.key_file.write_bytes(key)
    store.key_file.chmod(0o600)
    assert len(store.infos()) == 1


def test_an_opening_that_does_not_open_its_commitment_is_not_used(store: OpeningStore) -> None:
    store.add(YEAR)
    records = store._read()
    records[0]["value"] = 5
    store._change(lambda _: records)
    with pytest.raises(CortexError, match="does not open its commitment"):
        store.get(YEAR.point)


@pytest.mark.parametrize("failing", ["replace", "fsync"])
def test_a_failed_write_changes_nothing(store: OpeningStore, failing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    store.add(YEAR)

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(*((Path, "replace") if failing == "replace" else (os, "fsync")), fail)
    with pytest.raises(CortexError, match="No space left"):
        store.add(Opening(2))
    monkeypatch.undo()
    assert [info.commitment for info in store.infos()] == [YEAR.commitment]
    assert sorted(path.name for path in store.path.parent.iterdir()) == ["openings.sealed", "openings.sealed.lock"]


def test_a_process_that_dies_while_it_writes_loses_nothing(store: OpeningStore) -> None:
    store.add(YEAR)
    dying = f"import os, pathlib\npathlib.Path.replace = lambda *_: os._exit(9)\n{_ADD}"
    command = [sys.executable, "-c", dying, str(store.path.parent), str(store.key_file), "1"]
    assert subprocess.run(command, cwd=ROOT, timeout=100).returncode == 9
    assert [info.commitment for info in store.infos()] == [YEAR.commitment]
    assert store.add(Opening(2))
    assert len(store.infos()) == 2


def test_processes_and_threads_at_once_all_count(store: OpeningStore) -> None:
    """From nothing: they make the folder, the key and the file at the same time."""
    command = [sys.executable, "-c", _ADD, str(store.path.parent), str(store.key_file)]
    running = [subprocess.Popen([*command, str(number)], cwd=ROOT) for number in range(3)]
    threads = [threading.Thread(target=store.add, args=(Opening(0, 900 + number),)) for number in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [process.wait(timeout=100) for process in running] == [0, 0, 0]
    assert len(store.infos()) == 20


def test_stores_that_share_a_key_create_it_once(tmp_path: Path) -> None:
    stores = [OpeningStore(tmp_path / f"folder{number}", tmp_path / "settings/key") for number in range(8)]
    threads = [threading.Thread(target=store.add, args=(YEAR,)) for store in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [len(store.infos()) for store in stores] == [1] * 8


@pytest.mark.parametrize("label", ["x" * (MAX_LABEL + 1), "two\nlines", "\u202e"])
def test_a_label_is_a_short_line(store: OpeningStore, label: str) -> None:
    with pytest.raises(CortexError, match="label"):
        store.add(YEAR, label=label)


def test_an_opening_is_exported_and_imported(tmp_path: Path) -> None:
    file = tmp_path / "for-alice/opening.json"
    export_opening(YEAR, file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    taken = import_opening(file)
    assert (taken.value, taken.blinding, taken.point) == (YEAR.value, YEAR.blinding, YEAR.point)
    with pytest.raises(CortexError, match="exists"):
        export_opening(Opening(1), file)
    assert import_opening(file).point == YEAR.point


def test_an_invalid_opening_is_refused_and_not_repeated(tmp_path: Path) -> None:
    file = tmp_path / "opening.json"
    export_opening(YEAR, file)
    document = json.loads(file.read_text())
    for change in (
        {"value": 19911991},
        {"value": "19901990"},
        {"value": True},
        {"blinding": "AAAA"},
        {"suite": "other"},
        {"version": 2},
        {"extra": 1},
    ):
        with pytest.raises(NotCanonicalError) as caught:
            read_opening(document | change)
        assert "1990" not in str(caught.value)
    for text in (b"", b"[" * 100_000, b"\xff", b"5151515151", b"null"):
        file.write_bytes(text)
        with pytest.raises(CortexError) as reported:
            import_opening(file)
        assert reported.value.code == "invalid_arguments"
        assert "5151515151" not in reported.value.message
    with pytest.raises(CortexError, match="cannot be read"):
        import_opening(tmp_path / "nothing")


def test_an_opening_is_available_to_the_skills_that_its_holder_chose(store: OpeningStore) -> None:
    store.add(YEAR, skills=["verify-kyc", "vote"])
    store.add(Opening("DE", 7))
    assert store.get(YEAR.point) is not None
    assert store.get(YEAR.point, "vote") is not None
    assert store.get(YEAR.point, "other") is None
    assert store.get(Opening("DE", 7).point, "other") is not None
    assert store.infos()[0].skills == ("verify-kyc", "vote")
