"""The cache of files: it returns the content that was kept, or nothing."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from cortex_sandbox.engine.cache import keep, recall

POSIX = pytest.mark.skipif(os.name != "posix", reason="needs POSIX permissions")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("CORTEX_SANDBOX_CACHE", str(folder))
    return folder


def kept(folder: Path) -> Path:
    (path,) = folder.glob("*.kept")
    return path


@pytest.mark.parametrize("content", [b"", b"\0" * 9, b"some content", os.urandom(1 << 20)], ids=len)
def test_kept_content_is_recalled(folder: Path, content: bytes) -> None:
    assert recall("words", "key") is None
    keep("words", "key", content)
    assert recall("words", "key") == content
    assert kept(folder).name.startswith("words-")
    assert not list(folder.glob(".new-*"))


def test_another_key_or_label_has_other_content(folder: Path) -> None:
    keep("words", "key", b"1")
    assert recall("words", "other") is None
    assert recall("signs", "key") is None
    keep("words", "key", b"2")
    assert recall("words", "key") == b"2"


@pytest.mark.parametrize(
    "damage",
    [
        lambda kept: b"",
        lambda kept: kept[:3],
        lambda kept: b"\0" * 4,
        lambda kept: kept[:-1],
        lambda kept: kept[1:],
        lambda kept: kept + b"\0",
        lambda kept: b"\0" * len(kept),
        lambda kept: kept[:50] + bytes([kept[50] ^ 1]) + kept[51:],
    ],
)
def test_a_damaged_file_is_ignored(
    folder: Path, damage: Callable[[bytes], bytes], caplog: pytest.LogCaptureFixture
) -> None:
    keep("words", "key", b"some content" * 9)
    path = kept(folder)
    path.write_bytes(damage(path.read_bytes()))
    with caplog.at_level(logging.WARNING):
        assert recall("words", "key") is None
    assert "damaged" in caplog.text
    keep("words", "key", b"again")
    assert recall("words", "key") == b"again"


@POSIX
@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_may_write_to_is_not_read(folder: Path, mode: int) -> None:
    keep("words", "key", b"content")
    kept(folder).chmod(mode)
    assert recall("words", "key") is None


@POSIX
def test_a_file_that_is_a_link_is_not_read(folder: Path, tmp_path: Path) -> None:
    keep("words", "key", b"content")
    path = kept(folder)
    path.symlink_to(path.rename(tmp_path / "moved"))
    assert recall("words", "key") is None


def test_a_folder_in_place_of_a_file_is_ignored(folder: Path) -> None:
    keep("words", "key", b"content")
    path = kept(folder)
    path.unlink()
    path.mkdir(mode=0o700)
    assert recall("words", "key") is None
    keep("words", "key", b"content")
    assert recall("words", "key") is None


def test_without_a_usable_folder_nothing_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CORTEX_SANDBOX_CACHE", str(tmp_path / "file" / "below"))
    keep("words", "key", b"content")
    assert recall("words", "key") is None


def test_the_oldest_files_of_a_label_are_deleted(folder: Path) -> None:
    keep("signs", "key", b"of another label")
    for number in range(7):
        keep("words", f"{number}", b"content")
        os.utime(max(folder.glob("words-*"), key=lambda path: path.stat().st_mtime_ns), ns=(number, number))
    assert [number for number in range(7) if recall("words", f"{number}")] == [3, 4, 5, 6]
    assert recall("signs", "key") == b"of another label"


@pytest.mark.parametrize("given", ["~/cache", "$ROOT/home/cache", "${ROOT}/home/cache"])
def test_the_folder_of_the_variable_is_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("ROOT", str(tmp_path))
    monkeypatch.setenv("CORTEX_SANDBOX_CACHE", given)
    keep("words", "key", b"content")
    assert kept(tmp_path / "home" / "cache").exists()


@pytest.mark.parametrize("given", ["$NOWHERE/cache", "x/${NOWHERE}", "$EMPTY/cache", "~no-such-user/cache"])
def test_a_folder_that_the_variable_does_not_name_is_not_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EMPTY", "")
    monkeypatch.setenv("CORTEX_SANDBOX_CACHE", given)
    keep("words", "key", b"content")
    assert recall("words", "key") is None
    assert not list(tmp_path.iterdir())
