"""Reading manifests from files."""

import json
import os
from pathlib import Path

import pytest

from cortex_skills.manifest import ManifestError, load_manifest

PLAIN = "---\nname: a\ndescription: b\n---\n"
WITH_COMPANION = "---\nname: a\ndescription: b\nmetadata: {semantic: semantic.yaml}\n---\n"


def messages(folder):
    with pytest.raises(ManifestError) as caught:
        load_manifest(folder)
    return [(problem.file, problem.field, problem.message) for problem in caught.value.errors]


def test_a_folder_is_read(skill):
    assert load_manifest(skill({"SKILL.md": PLAIN})).name == "a"


def test_the_folder_may_be_the_current_one(skill, monkeypatch):
    monkeypatch.chdir(skill({"SKILL.md": PLAIN}))
    assert load_manifest(Path()).name == "a"
    assert messages(Path(".."))[0][1] == "document"


def test_the_name_is_compared_with_the_folder(skill):
    (warning,) = load_manifest(skill({"SKILL.md": PLAIN}, name="b")).warnings
    assert (warning.file, warning.line, warning.field) == ("SKILL.md", 2, "name")
    assert warning.message == "'a' is not the name of the folder, 'b'"


def test_an_error_names_the_folder(skill):
    folder = skill({"SKILL.md": "---\nname: A\n---\n"})
    with pytest.raises(ManifestError) as caught:
        load_manifest(folder)
    assert caught.value.message.startswith(f"the manifest in {folder} has 2 problems:\n  SKILL.md:2:")


def test_a_companion_is_read(skill):
    manifest = load_manifest(skill({"SKILL.md": WITH_COMPANION, "semantic.yaml": "version: 3\n"}))
    assert manifest.semantic.version == 3


def test_a_missing_file_is_a_manifest_error(skill, tmp_path):
    assert messages(skill({})) == [("SKILL.md", "document", "does not exist")]
    assert messages(tmp_path / "nowhere") == [("SKILL.md", "document", "does not exist")]
    assert messages(tmp_path / "nul\0") == [("SKILL.md", "document", "cannot be read: its path contains a NUL")]


def test_a_missing_companion_is_reported_with_the_other_problems(skill):
    found = messages(skill({"SKILL.md": WITH_COMPANION.replace("name: a", "name: A")}))
    assert ("semantic.yaml", "semantic", "does not exist") in found
    assert ("SKILL.md", "name") in {problem[:2] for problem in found}


def test_a_file_that_is_not_utf_8_is_rejected(skill):
    assert messages(skill({"SKILL.md": PLAIN.encode("utf-16")}))[0][2] == "is not UTF-8: byte 1"
    assert messages(skill({"SKILL.md": PLAIN.encode() + b"\xff"}, "b"))[0][2] == "is not UTF-8: byte 32"


def test_a_huge_file_is_rejected(skill):
    head = PLAIN[: PLAIN.index("---\n", 4) + 4]
    whole = skill({"SKILL.md": head + "x" * (1 << 20)}, "whole")
    assert len(load_manifest(whole).body) == 1 << 20
    assert messages(skill({"SKILL.md": head + "x" * ((1 << 20) + 1)}))[0][1:] == ("body", "has more than 1 MiB")
    assert messages(skill({"SKILL.md": head + "x" * (1200 << 10)}, "b"))[0][2] == "has more than 1089 KiB"
    big = {"SKILL.md": WITH_COMPANION.replace("name: a", "name: c"), "semantic.yaml": "#" * 65537}
    assert messages(skill(big, "c")) == [("semantic.yaml", "semantic", "has more than 64 KiB")]


def test_a_symbolic_link_is_not_followed(skill, tmp_path):
    (tmp_path / "outside.yaml").write_text("version: 1\n")
    folder = skill({"SKILL.md": WITH_COMPANION})
    (folder / "semantic.yaml").symlink_to(tmp_path / "outside.yaml")
    assert messages(folder) == [("semantic.yaml", "semantic", "is a symbolic link")]
    (folder / "SKILL.md").rename(tmp_path / "moved")
    (folder / "SKILL.md").symlink_to(tmp_path / "moved")
    assert messages(folder) == [("SKILL.md", "document", "is a symbolic link")]


def test_a_pipe_or_a_folder_is_rejected_without_waiting(skill):
    folder = skill({})
    os.mkfifo(folder / "SKILL.md")
    assert messages(folder) == [("SKILL.md", "document", "is not a regular file")]
    other = skill({}, "b")
    (other / "SKILL.md").mkdir()
    assert messages(other) == [("SKILL.md", "document", "is not a regular file")]


@pytest.mark.parametrize("name", ["../outside.yaml", "/etc/hostname", "sub/semantic.yaml", "x\\0.yaml"])
def test_a_companion_outside_the_folder_is_never_opened(skill, tmp_path, name):
    (tmp_path / "outside.yaml").write_text("version: 1\nsecret: 1\n")
    text = WITH_COMPANION.replace("semantic.yaml", f'"{name}"')
    found = messages(skill({"SKILL.md": text}))
    assert ("SKILL.md", "metadata.semantic") in {problem[:2] for problem in found}
    assert "secret" not in str(found)


def test_metadata_for_a_host_is_kept_as_json_with_a_warning(tmp_path):
    """The form of the plain skills of the original system."""
    nested = (
        'metadata:\n  {\n    "host":\n      { "emoji": "📧", "bins": ["mail"], "install": [{ "id": "brew", }], },\n  }'
    )
    (tmp_path / "a-skill").mkdir()
    text = f"---\nname: a-skill\ndescription: b\n{nested}\n---\n"
    (tmp_path / "a-skill" / "SKILL.md").write_text(text, encoding="utf-8")
    manifest = load_manifest(tmp_path / "a-skill")
    assert json.loads(manifest.metadata["host"]) == {"emoji": "📧", "bins": ["mail"], "install": [{"id": "brew"}]}
    (warning,) = manifest.warnings
    assert (warning.path, warning.message) == (("metadata", "host"), "is read as JSON, a text")
