"""Skills go to folders and come back with the same digests; hostile folders are refused or reported."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from skills_ref import validate

from cortex_graph import open_store
from cortex_graph.names import Names
from cortex_skills.errors import CortexError
from cortex_skills.keys import Key
from cortex_skills.registry.document import MAX_RESOURCE, SkillDocument, SkillResource
from cortex_skills.registry.folders import SIDECAR, read_skill_folder, write_skill_folder
from cortex_skills.registry.registry import SkillRegistry
from tests.registry.drawn import documents


def machine(seed: int) -> SkillRegistry:
    return SkillRegistry(open_store("memory:"), Names("mayros"), lambda: Key("local", bytes([seed]) * 32))


@settings(max_examples=30, deadline=None)
@given(documents())
def test_an_export_is_registered_elsewhere_with_both_digests_and_the_signature(tmp_path_factory, document):
    document = document.changed(depends_on=())
    here, there = machine(1), machine(2)
    version = here.register(document, actor="ada", origin="human").version
    folder = write_skill_folder(document, version, tmp_path_factory.mktemp("out"))
    assert validate(folder) == []
    found = read_skill_folder(folder, "elsewhere")
    assert (found.document, found.warnings) == (document, ())
    again = there.register(found.document, actor="bob", origin="human", signature=found.signature).version
    assert (again.digest, again.compat_digest) == (version.digest, version.compat_digest)
    assert (again.public_key, again.signature) == (version.public_key, version.signature)
    assert there.document(again) == document


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "demo"
    place.mkdir()
    (place / "SKILL.md").write_text("---\nname: demo\ndescription: Shows something.\n---\nBody.\n")
    return place


def test_what_is_left_out_is_named(folder: Path):
    (folder / "scripts").mkdir()
    (folder / "scripts" / "run.sh").write_bytes(b"echo\n")
    (folder / "scripts" / "link").symlink_to("/etc/hostname")
    (folder / ".env").write_text("SECRET=1")
    (folder / ".git").mkdir()
    os.mkfifo(folder / "pipe")
    found = read_skill_folder(folder, "mayros")
    assert [resource.path for resource in found.document.resources] == ["scripts/run.sh"]
    named = "\n".join(sorted(found.warnings))
    assert [warning.split("'")[1] for warning in sorted(found.warnings)] == [".env", ".git", "pipe", "scripts/link"]
    assert "symbolic link" in named


def test_a_folder_of_another_name_is_a_warning(folder: Path):
    renamed = folder.rename(folder.parent / "other")
    assert "demo" in read_skill_folder(renamed, "mayros").warnings[0]


@pytest.mark.parametrize("make", ["missing", "link", "binary", "empty"])
def test_a_manifest_that_is_no_text_is_refused(folder: Path, make: str):
    manifest = folder / "SKILL.md"
    text = manifest.read_text()
    manifest.unlink()
    if make == "link":
        (folder / "real").write_text(text)
        manifest.symlink_to(folder / "real")
    elif make != "missing":
        manifest.write_bytes(b"\xff\xfe" if make == "binary" else b"")
    with pytest.raises(CortexError) as caught:
        read_skill_folder(folder, "mayros")
    assert caught.value.code == "manifest_invalid"


def test_too_many_and_too_large_files_are_refused(folder: Path):
    for number in range(4097):
        (folder / f"f{number}").touch()
    with pytest.raises(CortexError, match="4,096 files"):
        read_skill_folder(folder, "mayros")
    for number in range(4097):
        (folder / f"f{number}").unlink()
    with (folder / "big").open("wb") as file:
        file.truncate(MAX_RESOURCE + 1)
    with pytest.raises(CortexError, match="4 MiB"):
        read_skill_folder(folder, "mayros")


def test_a_sidecar_of_another_document_or_nonsense_is_ignored(folder: Path):
    for text in ("nonsense", "[1]", '{"digest": "0", "publicKey": "k", "signature": "s"}'):
        (folder / SIDECAR).write_text(text)
        assert read_skill_folder(folder, "mayros").signature is None


def test_an_export_replaces_nothing_and_leaves_nothing_half_written(tmp_path: Path):
    registry = machine(1)
    document = SkillDocument.checked(
        namespace="mayros", name="demo", description="d", resources=(SkillResource("a/b", b"x"),)
    )
    version = registry.register(document, actor="ada", origin="human").version
    write_skill_folder(document, version, tmp_path)
    with pytest.raises(CortexError) as caught:
        write_skill_folder(document, version, tmp_path)
    assert caught.value.code == "skill_exists"
    assert [path.name for path in tmp_path.iterdir()] == ["demo"]
