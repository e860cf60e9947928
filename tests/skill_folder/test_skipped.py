"""Skills near a folder that are not loaded with it are named, with the reason."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cortex_skills import CortexError
from cortex_skills.skill_folder.skipped import skipped_skills
from cortex_skills.skill_folder.snapshot import skill_folders


def write(root: Path, *files: str) -> None:
    for file in files:
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text("---\nname: a\ndescription: b\n---\n")


def skipped(root: Path) -> dict[str, str]:
    found = skipped_skills(root, skill_folders(root))
    return {str(each.file.relative_to(root)): each.reason for each in found}


def test_skills_that_are_deeper_or_have_another_file_name_are_named(tmp_path: Path):
    write(
        tmp_path, "a/SKILL.md", "a/assets/sample/SKILL.md", "b/skill.md", "c/Skill.md", "pack/d/SKILL.md", "a/skill.md"
    )
    (tmp_path / "e" / "SKILL.md").mkdir(parents=True)
    assert skipped(tmp_path) == {
        "a/assets/sample/SKILL.md": "is inside another skill",
        "b/skill.md": "is not called SKILL.md",
        "c/Skill.md": "is not called SKILL.md",
        "pack/d/SKILL.md": f"is more than one folder below {tmp_path}",
        "e/SKILL.md": "is not a file",
    }


def test_hidden_and_generated_folders_and_links_are_not_searched(tmp_path: Path):
    write(tmp_path, "a/SKILL.md", ".git/x/SKILL.md", "node_modules/x/y/SKILL.md", "elsewhere/b/c/SKILL.md")
    (tmp_path / "a" / "link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "a" / "loop").symlink_to(tmp_path)
    assert list(skipped(tmp_path)) == ["elsewhere/b/c/SKILL.md"]


def test_a_folder_of_many_is_named_once_more(tmp_path: Path):
    write(tmp_path, "a/SKILL.md", *(f"pack/{number}/SKILL.md" for number in range(30)))
    found = skipped_skills(tmp_path, [tmp_path / "a"])
    assert len(found) == 21
    assert str(found[-1]).startswith(f"{tmp_path} is skipped: it contains more skills that are skipped")


def test_a_deep_or_unreadable_folder_ends_the_search_there(tmp_path: Path):
    deep = tmp_path.joinpath(*"abcdefghijkl")
    write(tmp_path, "x/SKILL.md", f"{deep.relative_to(tmp_path)}/SKILL.md")
    assert skipped(tmp_path) == {}
    assert skipped_skills(tmp_path / "nowhere") == []
    assert skipped_skills(Path("nul\0")) == []


def test_when_none_is_found_the_error_names_them(tmp_path: Path):
    write(tmp_path, "b/skill.md", "pack/d/SKILL.md")
    os.mkfifo(tmp_path / "SKILL.txt")
    with pytest.raises(CortexError) as caught:
        skill_folders(tmp_path)
    assert caught.value.code == "manifest_invalid"
    assert "b/skill.md is skipped: it is not called SKILL.md (rename it)" in caught.value.message
    assert [Path(each["file"]).name for each in caught.value.details["skipped"]] == ["skill.md", "SKILL.md"]


def test_a_hostile_name_of_a_folder_is_shown_escaped(tmp_path: Path):
    write(tmp_path, "a\n\x1b[2J/b/SKILL.md")
    (found,) = skipped_skills(tmp_path)
    assert str(found).isprintable()
