"""The id of a workspace: made once, kept by a folder that moves with its inode or keeps its path, refused in a copy."""

from __future__ import annotations

import logging
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex_skills import CortexError
from cortex_skills.features.actions.workspace_id import NAME, workspace_id

HOST, OTHER = "0" * 32, "1" * 32


def refused(folder: Path, host: str = HOST) -> str:
    for creates in (True, False):
        with pytest.raises(CortexError) as caught:
            workspace_id(folder, host, creates=creates)
        assert caught.value.code == "workspace_invalid"
        assert str(folder / NAME) in caught.value.message
        assert caught.value.hint
    return caught.value.message.rpartition(", ")[2]


def test_an_id_is_made_once_and_kept(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        (found,) = set(pool.map(lambda _: workspace_id(tmp_path, HOST), range(32)))
    assert workspace_id(tmp_path, HOST, creates=False) == found
    assert [path.name for path in tmp_path.iterdir()] == [NAME]
    assert workspace_id(tmp_path, OTHER) == found  # mounted on two hosts


def test_nothing_is_written_to_look(tmp_path: Path) -> None:
    before = workspace_id(tmp_path, HOST, creates=False)
    assert not list(tmp_path.iterdir())
    assert before != workspace_id(tmp_path, HOST)


def test_a_copy_is_refused_and_a_folder_that_was_moved_or_restored_is_not(tmp_path: Path) -> None:
    first, copy, moved = tmp_path / "first", tmp_path / "copy", tmp_path / "moved"
    first.mkdir()
    found = workspace_id(first, HOST)
    shutil.copytree(first, copy)
    for host in (HOST, OTHER):
        assert refused(copy, host) == "was copied from another workspace with its id"
    (copy / NAME).unlink()
    assert workspace_id(copy, HOST) != found
    first.rename(moved)
    assert workspace_id(moved, HOST) == found
    shutil.copytree(moved, first)
    assert workspace_id(first, HOST) == found


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"cortex-workspace/1 " + b"0" * 32 + b" 1 " + b"0" * 32,
        b"cortex-workspace/1 " + b"0" * 32 + b" 1 " + b"0" * 32 + b"\n\n",
        b"cortex-workspace/1 " + b"A" * 32 + b" 1 " + b"0" * 32 + b"\n",
        b"cortex-workspace/2 " + b"0" * 32 + b" 1 " + b"0" * 32 + b"\n",
        b"cortex-workspace/1 " + b"0" * 32 + b" -1 " + b"0" * 32 + b"\n",
        b"\x00" * (1 << 20),
    ],
)
def test_other_content_is_an_error_and_is_not_replaced(tmp_path: Path, content: bytes) -> None:
    (tmp_path / NAME).write_bytes(content)
    assert refused(tmp_path) == "is not one that this program wrote"
    assert (tmp_path / NAME).read_bytes() == content


@given(st.binary(max_size=200))
def test_no_bytes_are_taken_for_an_id(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    folder = tmp_path_factory.getbasetemp() / "any"
    folder.mkdir(exist_ok=True)
    (folder / NAME).write_bytes(content)
    with pytest.raises(CortexError, match="is not one that this program wrote"):
        workspace_id(folder, HOST)


def test_what_is_no_file_is_an_error_without_waiting(tmp_path: Path) -> None:
    kept, linked, piped, folder = (tmp_path / name for name in ("kept", "linked", "piped", "folder"))
    for each in (kept, linked, piped, folder):
        each.mkdir()
    workspace_id(kept, HOST)
    (linked / NAME).symlink_to(kept / NAME)
    os.mkfifo(piped / NAME)
    (folder / NAME).mkdir()
    for each in (linked, piped, folder):
        assert refused(each) == "is not one that this program wrote"
    (linked / NAME).unlink()
    (linked / NAME).symlink_to(tmp_path / "nothing")
    assert refused(linked) == "is not one that this program wrote"


@pytest.mark.skipif(not Path("/sys/kernel").is_dir(), reason="needs a folder in which nobody can write")
def test_the_id_of_a_folder_that_cannot_be_written_follows_from_its_place(
    caplog: pytest.LogCaptureFixture,
) -> None:
    folder = Path("/sys/kernel")
    with caplog.at_level(logging.WARNING):
        ids = {workspace_id(folder, HOST), workspace_id(folder, HOST), workspace_id(folder, HOST, creates=False)}
    assert len(ids) == 1
    assert ids.isdisjoint({workspace_id(folder, OTHER), workspace_id(folder.parent, HOST)})
    (warning, *_) = caplog.messages
    assert "/.cortex-workspace cannot be written (" in warning
    assert warning.endswith("): the id of the workspace follows from its path")


def test_a_folder_that_is_not_there_has_an_id_and_is_not_made(tmp_path: Path) -> None:
    assert len(workspace_id(tmp_path / "none", HOST)) == 32
    assert not list(tmp_path.iterdir())
