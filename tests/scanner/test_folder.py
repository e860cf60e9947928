"""The files of a folder that are scanned, and the findings about its other entries."""

import os
from pathlib import Path

import pytest

from cortex_skills.scanner import scan_folder
from cortex_skills.scanner.folder import FILES_LIMIT, FOLDER_SIZE_LIMIT
from cortex_skills.scanner.source import SOURCE_LIMIT


def found(folder: Path) -> list[tuple[str, str]]:
    return [(finding.file, finding.rule) for finding in scan_folder(folder)]


def test_every_kind_of_source_file_is_scanned_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    for suffix in ["ts", "tsx", "js", "jsx", "mjs", "cjs", "mts", "cts", "TS", "md", "json", "txt"]:
        (tmp_path / "lib" / f"a.{suffix}").write_text("eval(1)")
    scanned = [f"lib/a.{suffix}" for suffix in ["TS", "cjs", "cts", "js", "jsx", "mjs", "mts", "ts", "tsx"]]
    assert found(tmp_path) == [(name, "dynamic-code") for name in scanned]


def test_hidden_folders_hidden_files_and_node_modules_are_skipped(tmp_path: Path) -> None:
    for folder in [".git", "node_modules", "lib/node_modules"]:
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "a.js").write_text("eval(1)")
    (tmp_path / ".hidden.ts").write_text("eval(1)")
    assert found(tmp_path) == []


def test_a_symbolic_link_is_a_finding_and_is_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.ts").write_text("eval(1)")
    skill = tmp_path / "skill"
    skill.mkdir()
    (skill / "folder").symlink_to(outside)
    (skill / "file.ts").symlink_to(outside / "a.ts")
    (skill / "broken").symlink_to(tmp_path / "nowhere")
    (skill / "self").symlink_to(skill)
    assert sorted(found(skill)) == [(name, "symlink") for name in ["broken", "file.ts", "folder", "self"]]


def test_a_folder_that_is_a_link_is_a_finding(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    assert found(tmp_path / "link") == [(".", "symlink")]


def test_a_missing_folder_is_a_finding(tmp_path: Path) -> None:
    assert found(tmp_path / "nowhere") == [(".", "unreadable-file")]


@pytest.mark.parametrize("data", [b"const a = '\xff'", "eval(1)".encode("utf-16"), b"\xed\xa0\x80"])
def test_a_source_that_is_not_utf8_is_a_finding(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.ts").write_bytes(data)
    assert found(tmp_path) == [("a.ts", "not-utf8")]


def test_a_byte_order_mark_does_not_move_the_columns(tmp_path: Path) -> None:
    (tmp_path / "a.ts").write_bytes(b"\xef\xbb\xbfeval(1)")
    (finding,) = scan_folder(tmp_path)
    assert (finding.line, finding.column) == (1, 1)


def test_a_source_beyond_the_size_limit_is_a_finding(tmp_path: Path) -> None:
    (tmp_path / "a.ts").write_bytes(b" " * (SOURCE_LIMIT + 1))
    assert found(tmp_path) == [("a.ts", "file-too-large")]


def test_a_folder_beyond_the_size_limit_is_a_finding(tmp_path: Path) -> None:
    for number in range(FOLDER_SIZE_LIMIT // SOURCE_LIMIT + 1):
        (tmp_path / f"{number:02}.ts").write_bytes(b" " * SOURCE_LIMIT)
    assert found(tmp_path) == [("08.ts", "folder-too-large")]


def test_too_many_sources_are_a_finding(tmp_path: Path) -> None:
    for number in range(FILES_LIMIT + 1):
        (tmp_path / f"{number}.ts").write_text("")
    assert found(tmp_path) == [(".", "too-many-files")]


def test_folders_that_are_nested_too_deeply_are_a_finding(tmp_path: Path) -> None:
    (tmp_path / "/".join("a" * 40)).mkdir(parents=True)
    ((_, rule),) = found(tmp_path)
    assert rule == "too-many-files"


def test_a_pipe_named_like_a_source_is_a_finding_and_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.ts")
    assert found(tmp_path) == [("a.ts", "unreadable-file")]


def test_a_folder_named_like_a_source_is_searched(tmp_path: Path) -> None:
    (tmp_path / "a.ts").mkdir()
    (tmp_path / "a.ts" / "b.ts").write_text("eval(1)")
    assert found(tmp_path) == [("a.ts/b.ts", "dynamic-code")]


def test_names_are_shown_without_control_characters(tmp_path: Path) -> None:
    (tmp_path / "a\nb\u202e.ts").write_text("eval(1)")
    assert found(tmp_path) == [("a\\u000ab\\u202e.ts", "dynamic-code")]


def test_a_name_that_is_not_utf8_does_not_raise(tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.ts")).write_text("eval(1)")
    assert found(tmp_path) == [("\ufffd.ts", "dynamic-code")]
