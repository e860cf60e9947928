"""`fs_read` and `fs_write` in a real workspace: every trick by name, and links that are swapped meanwhile."""

from __future__ import annotations

import errno
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex_skills import CortexError, Plugin
from cortex_skills.features.actions.action_settings import ActionSettings
from cortex_skills.features.actions.agent_actions import AgentActions
from cortex_skills.features.actions.paths import Workspace
from tests.actions.asking import approved, kept_request

SECRET = "the secret of the owner"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A workspace, beside a folder with a secret."""
    root = tmp_path / "work"
    for name in ("out", "outbox", "out-evil", "docs", "logs/audit", "brain", "docs/.git", "docs/deep/er", "src"):
        (root / name).mkdir(parents=True)
    for name in (
        "docs/a.md",
        "docs/deep/er/b.md",
        "outbox/c.md",
        "out-evil/c.md",
        "logs/audit/x",
        "brain/x",
        "src/x",
        "docs/.git/config",
        "docs/.env",
        "docs/.env.local",
        "logs/today",
    ):
        (root / name).write_text(f"text of {name}\n")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_text(SECRET)
    return root


@pytest.fixture
def plugin(acting, folder: Path) -> Plugin:
    return acting(trustLevel="supervised_auto", workspace=str(folder))


def read(plugin: Plugin, path: object) -> Any:
    return plugin.call("fs_read", {"path": path})


def write(plugin: Plugin, path: str, content: str = "new\n", *, overwrite: bool = False) -> Any:
    """Ask for a write, and approve it; the result of the first step that refuses."""
    return approved(plugin, "fs_write", {"path": path, "content": content, "overwrite": overwrite})


def test_a_file_is_read(plugin: Plugin, folder: Path) -> None:
    for path in ("docs/a.md", f"{folder}/docs/a.md"):
        outputs = read(plugin, path).details["outputs"]
        assert (outputs["content"], outputs["size"]) == ("text of docs/a.md\n", 18)
        assert outputs["modified"].endswith("Z")
    assert read(plugin, "docs/deep/er/b.md").details["outputs"]["content"] == "text of docs/deep/er/b.md\n"


TRICKS = [
    "docs/../src/x",
    "../outside/secret",
    "docs/../../outside/secret",
    "docs//a.md",
    "docs/./a.md",
    "./docs/a.md",
    "/etc/passwd",
    "//docs/a.md",
    "docs\\..\\src\\x",
    "docs/a.md\0",
    "docs/a.md\n",
    "docs/\u202ea.md",
    "docs/..",
    "..",
    ".",
    "/",
    "docs/" + "a" * 256,
    "docs/\ud800",
    "outbox/c.md",
    "out-evil/c.md",
    "src/x",
    "Docs/a.md",
    "DOCS/a.md",
    "brain/x",
    "docs/.git/config",
    "docs/.GIT/config",
    "docs/.git./config",
    "docs/.git /config",
    "docs/\uff0egit/config",
    "docs/.env",
    "docs/.env.local",
    "docs/.ENV",
    "logs/audit/x",
    "logs/Audit/x",
    "logs/audit",
    "~/x",
    "file:///etc/passwd",
]


@pytest.mark.parametrize("path", TRICKS)
def test_a_trick_with_a_path_is_refused(plugin: Plugin, path: str) -> None:
    refused = {"path_refused", "invalid_arguments"} if "\ud800" in path else {"path_refused"}
    assert read(plugin, path).code in refused
    assert write(plugin, path).code in refused


@pytest.mark.parametrize("path", ["", None, 3, ["docs/a.md"], {"path": "x"}, "a" * 2000])
def test_what_is_no_path_is_refused(plugin: Plugin, path: object) -> None:
    assert read(plugin, path).code == "invalid_arguments"


def test_an_absolute_path_beside_the_workspace_is_outside(plugin: Plugin, folder: Path) -> None:
    beside = folder.with_name("work-evil") / "docs"
    beside.mkdir(parents=True)
    (beside / "a.md").write_text(SECRET)
    assert read(plugin, f"{beside}/a.md").code == "path_refused"


def test_no_symbolic_link_is_followed(plugin: Plugin, folder: Path) -> None:
    outside = folder.parent / "outside"
    (folder / "docs" / "link").symlink_to(outside / "secret")
    (folder / "docs" / "inside").symlink_to("a.md")
    (folder / "docs" / "folder").symlink_to(outside)
    (folder / "out" / "folder").symlink_to(outside)
    (folder / "out" / "link").symlink_to(outside / "new")
    for path in ("docs/link", "docs/inside", "docs/folder/secret"):
        assert read(plugin, path).code == "path_refused"
    for path in ("out/folder/secret", "out/folder/new", "out/link"):
        assert write(plugin, path, overwrite=True).code == "path_refused"
    assert sorted(entry.name for entry in outside.iterdir()) == ["secret"]
    assert (outside / "secret").read_text() == SECRET


def test_a_root_that_is_a_link_is_not_followed(plugin: Plugin, folder: Path) -> None:
    (folder / "memory").symlink_to(folder.parent / "outside")
    assert read(plugin, "memory/secret").code == "path_refused"
    assert write(plugin, "memory/secret", overwrite=True).code == "path_refused"


def test_a_file_with_two_names_is_neither_read_nor_written(plugin: Plugin, folder: Path) -> None:
    os.link(folder.parent / "outside" / "secret", folder / "out" / "hard")
    assert read(plugin, "out/hard").code == "path_refused"
    assert write(plugin, "out/hard", overwrite=True).code == "path_refused"
    assert (folder.parent / "outside" / "secret").read_text() == SECRET


def test_only_regular_files_are_opened(plugin: Plugin, folder: Path) -> None:
    os.mkfifo(folder / "docs" / "pipe")
    server = socket.socket(socket.AF_UNIX)
    descriptor = os.open(folder / "docs", os.O_RDONLY)
    server.bind(f"/proc/self/fd/{descriptor}/socket")
    os.close(descriptor)
    for path in ("docs/pipe", "docs/socket", "docs/deep", "docs"):
        assert read(plugin, path).code == "path_refused"
    server.close()


def test_what_is_no_text_or_too_long_is_an_error_that_says_so(plugin: Plugin, folder: Path) -> None:
    (folder / "docs" / "binary").write_bytes(b"ab\xff")
    (folder / "docs" / "long").write_bytes(b"a" * ((1 << 20) + 1))
    (folder / "docs" / "whole").write_bytes(b"a" * (1 << 20))
    for path, says in (("binary", "not UTF-8: byte 2"), ("long", "longer than 1,048,576"), ("none", "does not exist")):
        result = read(plugin, f"docs/{path}")
        assert (result.code, says in result.text) == ("action_failed", True)
    assert read(plugin, "docs/whole").details["outputs"]["size"] == 1 << 20


def test_the_folder_of_the_plugin_is_denied_under_any_name(folder: Path) -> None:
    workspace = Workspace(folder, (), own=(folder / "docs" / "deep",))
    with pytest.raises(CortexError, match="is a folder of the plugin"), workspace.file(("docs", "deep", "er", "b.md")):
        pass
    with workspace.file(("docs", "a.md")):
        pass


def test_a_write_waits_for_a_person_and_is_then_whole(plugin: Plugin, folder: Path) -> None:
    asked = plugin.call("fs_write", {"path": "out/new/deep/a.md", "content": "é\n"})
    assert (asked.details["status"], (folder / "out" / "new").exists()) == ("pending_approval", False)
    request = kept_request(plugin, asked)
    assert request.inputs == {"path": "out/new/deep/a.md", "content": "é\n", "overwrite": False}
    done = plugin.part(AgentActions).run_approved(request, "ada")
    assert done.details["outputs"] == {"path": "out/new/deep/a.md", "size": 3}
    assert (folder / "out" / "new" / "deep" / "a.md").read_text() == "é\n"
    assert [entry.name for entry in (folder / "out" / "new" / "deep").iterdir()] == ["a.md"]


def test_an_existing_file_is_replaced_only_as_it_was_shown(plugin: Plugin, folder: Path) -> None:
    target = folder / "out" / "a.md"
    target.write_text("one\ntwo\n")
    assert write(plugin, "out/a.md").text.startswith("path: ")
    asked = {"path": "out/a.md", "content": "one\nthree", "overwrite": True}
    request = kept_request(plugin, plugin.call("fs_write", asked))
    shown = request.preview
    assert shown == ("--- out/a.md\n+++ out/a.md\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n\\ No newline at end of file\n")
    target.write_text("one\nfour\n")
    assert plugin.part(AgentActions).run_approved(request, "ada").code == "approval_required"
    assert plugin.part(AgentActions).run_approved(replace(request, preview=""), "ada").code == "approval_required"
    assert target.read_text() == "one\nfour\n"
    target.write_text("one\ntwo\n")
    assert plugin.part(AgentActions).run_approved(request, "ada").code is None
    assert target.read_text() == "one\nthree"


def test_a_file_that_appears_meanwhile_is_not_replaced(plugin: Plugin, folder: Path) -> None:
    request = kept_request(plugin, plugin.call("fs_write", {"path": "out/a.md", "content": "mine"}))
    (folder / "out" / "a.md").write_text("theirs")
    assert plugin.part(AgentActions).run_approved(request, "ada").code == "action_failed"
    assert (folder / "out" / "a.md").read_text() == "theirs"


def test_a_difference_that_is_too_long_to_show_is_refused(plugin: Plugin, folder: Path) -> None:
    (folder / "out" / "a.md").write_text("a\n" * 40_000)
    assert write(plugin, "out/a.md", "b\n" * 40_000, overwrite=True).code == "path_refused"


@pytest.mark.parametrize("path", ["out", "out/", "logs/audit/new", "docs/new", "persona/x", "out/.env"])
def test_what_is_not_written(plugin: Plugin, path: str) -> None:
    assert write(plugin, path).code == "path_refused"


def test_below_supervised_auto_nothing_is_written(plugin: Plugin) -> None:
    plugin.trust.set("suggest", actor="ada")
    assert write(plugin, "out/a.md").code == "trust_level_too_low"


def test_reads_wait_at_the_lower_levels_unless_they_are_allowed(acting, folder: Path) -> None:
    for allow, status in ((False, "pending_approval"), (True, "done")):
        plugin = acting(workspace=str(folder), allowReadsWithoutApproval=allow)
        assert read(plugin, "docs/a.md").details["status"] == status


def test_a_workspace_that_is_no_folder_is_an_error(acting, folder: Path) -> None:
    for workspace in ("work", str(folder / "docs" / "a.md"), str(folder / "none")):
        plugin = acting(workspace=workspace)
        assert plugin.call("fs_read", {"path": "docs/a.md"}).code == "config_invalid"


@pytest.fixture(scope="module")
def swapping(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A workspace in which a second thread swaps a folder and a file for links to the outside, all the time."""
    root = tmp_path_factory.mktemp("swap") / "work"
    outside = root.parent / "outside"
    for name in ("real", "docs/x"):
        (root / name).mkdir(parents=True)
    outside.mkdir()
    (root / "real" / "f").write_text("inside")
    (outside / "f").write_text(SECRET)
    ended = threading.Event()

    def swap() -> None:
        places = (root / "docs" / "x", root / "docs" / "y")
        (places[1]).symlink_to(outside)
        (places[0] / "f").write_text("inside")
        spare = root / "docs" / "spare"
        while not ended.is_set():
            places[0].rename(spare)
            places[1].rename(places[0])
            spare.rename(places[1])

    thread = threading.Thread(target=swap)
    thread.start()
    yield root
    ended.set()
    thread.join()


NAMES = st.sampled_from(["docs", "x", "y", "f", "spare", "..", ".", "", "real", "outside", "work"])


@given(parts=st.lists(NAMES, min_size=1, max_size=4))
def test_no_path_leads_outside_while_links_are_swapped(swapping: Path, parts: list[str]) -> None:
    workspace = Workspace.of(ActionSettings(workspace=str(swapping)))
    refusals = set()
    for path in ("/".join(parts), "docs/x/f", "docs/y/f"):
        for _ in range(20):
            try:
                with workspace.file(workspace.parts_of(path, ("docs",))) as held:
                    assert os.read(held, 100) == b"inside"
            except CortexError as error:
                refusals.add(error.code)
            try:
                with workspace.folder(workspace.parts_of(path, ("docs",))) as folder, suppress(FileNotFoundError):
                    assert os.stat("f", dir_fd=folder).st_size == len("inside")
            except CortexError as error:
                refusals.add(error.code)
    assert refusals <= {"path_refused", "action_failed"}


def test_a_file_that_cannot_be_read_is_not_taken_for_missing(
    plugin: Plugin, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its name is part of the error. Without its text a person could not be shown what a write replaces."""
    (folder / "out" / "does not exist").write_text("old\n")
    assert plugin.actions.find("fs_write") is not None  # made before `os.open` is replaced
    opened = os.open

    def denied(path: Any, *given: Any, **more: Any) -> int:
        if path == "does not exist":
            raise PermissionError(errno.EACCES, "Permission denied")
        return opened(path, *given, **more)

    monkeypatch.setattr(os, "open", denied)
    result = write(plugin, "out/does not exist", overwrite=True)
    assert (result.code, "cannot be opened" in result.text) == ("action_failed", True)
    assert plugin.approvals.list().records == ()
