"""The trust store: a changed, missing or old file is an error, not an empty store."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest

from cortex_skills.errors import CortexError
from cortex_skills.safe_io import private_files
from cortex_skills.signatures import Publisher, RevokedKey, Trust, TrustFile, trust_file
from tests.signatures.conftest import ACME, OTHER

REVOKED = RevokedKey(OTHER.did, "lost", "2026-01-02T00:00:00Z")


def publisher(name: str) -> Publisher:
    return Publisher(name, ACME.did, "listed", "2026-01-01T00:00:00Z")


def refusal(trust: TrustFile) -> str:
    with pytest.raises(CortexError) as caught:
        trust.trust()
    assert caught.value.code == "config_invalid"
    return caught.value.message


def test_without_a_store_no_publisher_is_trusted_and_nothing_is_written(trust: TrustFile) -> None:
    assert trust.trust() == Trust()
    assert not trust.path.exists()
    assert not trust.key_path.exists()


def test_an_added_publisher_is_known_to_the_next_process(trusted: TrustFile) -> None:
    again = TrustFile(trusted.path, trusted.key_path)
    assert again.trust().publishers == {"acme": publisher("acme")}
    assert [path.stat().st_mode & 0o777 for path in (trusted.path, trusted.key_path)] == [0o600, 0o600]


def test_a_store_is_read_again_when_its_files_change_and_not_before(
    trusted: TrustFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    again, reads = TrustFile(trusted.path, trusted.key_path), []
    read = trust_file.read_private
    monkeypatch.setattr(trust_file, "read_private", lambda path, most: reads.append(path) or read(path, most))
    for _ in range(3):
        assert again.trust().publishers.keys() == {"acme"}
    assert len(reads) == 2  # the key and the store
    trusted.change(lambda trust: trust.with_publisher(publisher("other")))
    assert again.trust().publishers.keys() == {"acme", "other"}
    again.change(lambda trust: trust.without_publisher("other"))
    assert trusted.trust().publishers.keys() == again.trust().publishers.keys() == {"acme"}


@pytest.mark.parametrize("name", ["another key for a publisher", "gone", "key gone", "key damaged", "empty"])
def test_a_change_by_others_is_found_by_who_has_read_the_store_before(trusted: TrustFile, name: str) -> None:
    trusted.trust()
    CHANGES[name](trusted)
    refusal(trusted)


CHANGES: dict[str, Callable[[TrustFile], object]] = {
    "another key for a publisher": lambda t: t.path.write_text(t.path.read_text().replace(ACME.did, OTHER.did)),
    "a publisher taken out": lambda t: t.path.write_text(
        json.dumps(json.loads(t.path.read_text()) | {"publishers": []})
    ),
    "a store of one's own": lambda t: t.path.write_text('{"version": 1, "count": 1, "publishers": [], "seen": []}'),
    "no JSON": lambda t: t.path.write_text("{"),
    "half of it": lambda t: t.path.write_bytes(t.path.read_bytes()[: t.path.stat().st_size // 2]),
    "empty": lambda t: t.path.write_bytes(b""),
    "deep": lambda t: t.path.write_bytes(b"[" * 200_000),
    "gone": lambda t: t.path.unlink(),
    "key gone": lambda t: t.key_path.unlink(),
    "key of another": lambda t: t.key_path.write_text(
        json.dumps(json.loads(t.key_path.read_text()) | {"key": "00" * 32})
    ),
    "key damaged": lambda t: t.key_path.write_text("{}"),
    "readable by others": lambda t: t.path.chmod(0o644),
    "a pipe": lambda t: (t.path.unlink(), os.mkfifo(t.path, 0o600)),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_store_is_an_error(trusted: TrustFile, name: str) -> None:
    CHANGES[name](trusted)
    assert str(trusted.path) in refusal(trusted)


def test_an_older_copy_of_the_store_is_an_error(trusted: TrustFile) -> None:
    old = trusted.path.read_bytes()
    trusted.change(lambda trust: trust.without_publisher("acme"))
    trusted.path.write_bytes(old)
    assert "is an older copy of itself" in refusal(trusted)


def test_a_moved_store_is_an_error_until_it_is_adopted_with_all_that_is_in_it(
    trusted: TrustFile, tmp_path: Path
) -> None:
    trusted.change(lambda trust: trust.with_publisher(publisher("other")).with_revoked(REVOKED))
    assert trusted.moved() is None
    before = trusted.trust()
    (tmp_path / "moved").mkdir(mode=0o700)
    path = tmp_path / "moved" / trusted.path.name
    trusted.path.rename(path)
    moved = TrustFile(path, trusted.key_path)
    assert "was moved or copied here" in refusal(moved)
    found = moved.moved()
    assert found is not None
    assert (
        found.words()
        == f"it was moved or copied from {trusted.path}; it has 2 publishers (acme, other), 1 revoked keys"
    )
    moved.adopt()
    assert (moved.moved(), moved.trust(), TrustFile(path, trusted.key_path).trust()) == (None, before, before)
    moved.change(lambda trust: trust.without_publisher("other"))
    assert TrustFile(path, trusted.key_path).trust().publishers.keys() == {"acme"}


def test_an_older_copy_can_be_adopted_and_shows_how_much_is_missing(trusted: TrustFile) -> None:
    old = trusted.path.read_bytes()
    for name in ("other", "third"):
        trusted.change(lambda trust, name=name: trust.with_publisher(publisher(name)))
    newest = trusted.path.read_bytes()
    trusted.path.write_bytes(old)
    found = trusted.moved()
    assert found is not None
    assert found.words().startswith("it is an older copy: 2 changes that were made here since are not in it; it has 1 ")
    trusted.adopt()
    assert trusted.trust().publishers.keys() == {"acme"}
    trusted.path.write_bytes(newest)
    assert "is an older copy of itself" in refusal(trusted)


@pytest.mark.parametrize("name", CHANGES)
def test_what_was_changed_by_others_is_not_adopted(trusted: TrustFile, name: str) -> None:
    CHANGES[name](trusted)
    before = trusted.key_path.read_bytes() if trusted.key_path.is_file() else None
    for step in (trusted.moved, trusted.adopt):
        with pytest.raises(CortexError) as caught:
            step()
        assert caught.value.code == "config_invalid"
    assert (trusted.key_path.read_bytes() if trusted.key_path.is_file() else None) == before


def test_a_change_that_is_refused_leaves_the_store_as_it_was(trusted: TrustFile) -> None:
    before = trusted.path.read_bytes()
    with pytest.raises(ZeroDivisionError):
        trusted.change(lambda _: 1 / 0)  # type: ignore[arg-type,return-value]
    assert trusted.path.read_bytes() == before


@pytest.mark.parametrize("survives", [0, 1, 2])
def test_a_disk_that_fills_up_leaves_a_store_that_can_be_read(
    trusted: TrustFile, monkeypatch: pytest.MonkeyPatch, survives: int
) -> None:
    """Each change writes two files; the disk is full from one of them on."""
    written = []

    def write(path: Path, data: bytes) -> None:
        if len(written) >= survives:
            raise OSError(errno.ENOSPC, "No space left on device")
        written.append(path)
        private_files.write_private(path, data)

    monkeypatch.setattr("cortex_skills.signatures.trust_file.write_private", write)
    with nullcontext() if survives == 2 else pytest.raises(CortexError, match="No space left"):
        trusted.change(lambda trust: trust.with_publisher(publisher("other")))
    monkeypatch.undo()
    again = TrustFile(trusted.path, trusted.key_path)
    assert set(again.trust().publishers) == ({"acme"} if survives == 0 else {"acme", "other"})
    again.change(lambda trust: trust.with_publisher(publisher("third")))
    assert "third" in again.trust().publishers


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES])
def test_a_store_on_a_read_only_disk_is_read_and_not_changed(
    trusted: TrustFile, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def locked(_: Path) -> None:
        raise OSError(number, "not for writing")

    monkeypatch.setattr("cortex_skills.signatures.trust_file.locked", locked)
    assert set(trusted.trust().publishers) == {"acme"}
    with pytest.raises(CortexError, match="cannot be used: not for writing"):
        trusted.change(lambda trust: trust.with_publisher(publisher("other")))
    trusted.path.unlink()
    assert "is missing, and existed before" in refusal(trusted)


def test_an_unreadable_folder_is_a_cortex_error(tmp_path: Path) -> None:
    nowhere = TrustFile(tmp_path / ("x" * 300) / "trust.json", tmp_path / "trust.key")
    assert "File name too long" in refusal(nowhere)


def test_several_processes_at_once_lose_nothing(trust: TrustFile) -> None:
    code = (
        "import sys; from pathlib import Path; from cortex_skills.signatures import Publisher, TrustFile\n"
        "file = TrustFile(Path(sys.argv[1]), Path(sys.argv[2]))\n"
        "for n in range(5):\n"
        "    p = Publisher(f'{sys.argv[3]}-{n}', 'did', 'listed', 'now'); file.change(lambda t: t.with_publisher(p))\n"
    )
    words = [sys.executable, "-c", code, str(trust.path), str(trust.key_path)]
    running = [subprocess.Popen([*words, f"p{number}"]) for number in range(4)]
    assert [process.wait(timeout=120) for process in running] == [0, 0, 0, 0]
    assert len(trust.trust().publishers) == 20
