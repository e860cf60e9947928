"""Folders that go from ai-memory into the registry, and from the registry to ai-memory."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from cortex_graph import open_store
from cortex_graph.naming.names import Names
from cortex_skills.errors import CortexError
from cortex_skills.features.registry.documents.document import SkillDocument, SkillResource
from cortex_skills.features.registry.folders import SIDECAR, Form, read_skill_folder, write_skill_folder
from cortex_skills.features.registry.records.registry import SkillRegistry
from cortex_skills.features.registry.records.skill_record import SkillVersion
from cortex_skills.keys import Key
from cortex_skills.manifest import ManifestError
from tests.interchange.ai_memory import original
from tests.interchange.ai_memory.vectors import READ
from tests.registry.drawn import documents

FILES = {"scripts/run.sh": b"echo hi\n", "reference/notes.md": b"# Notes\n", "asset.png": b"\x89PNG\xff"}
TEXT = "---\nnamespace: foo/observations\nname: fetch-data\ndescription: Fetches data.\nowner: alice\n---\n\n# Fetch\n"


def registry(key: Key | None = None) -> SkillRegistry:
    return SkillRegistry(open_store("memory:"), Names("mayros"), lambda: key)


def registered(folder: Path, at: SkillRegistry | None = None, **more: Any) -> tuple[SkillVersion, SkillDocument]:
    at = at or registry()
    found = read_skill_folder(folder, "mayros", **more)
    version = at.register(found.document, actor="ada", origin="human", signature=found.signature).version
    return version, at.document(version)


def exported(document: SkillDocument, place: Path, form: Form = "ai-memory", key: Key | None = None) -> Path:
    version = registry(key).register(document, actor="ada", origin="human").version
    return write_skill_folder(document, version, place, form)


# --- in


def test_a_folder_that_the_original_exported_has_its_digest_and_its_files(tmp_path: Path) -> None:
    skill = original.read(TEXT, FILES)
    original.write_folder(skill, tmp_path / "fetch-data")
    version, document = registered(tmp_path / "fetch-data")
    assert (version.compat_digest, str(version.key)) == (skill.digest, "foo/observations/fetch-data")
    assert {each.path: each.data for each in document.resources} == {f"resources/{p}": d for p, d in FILES.items()}
    assert document.metadata["owner"] == "alice"
    for path, data in FILES.items():
        assert document.resource(path) == document.resource(f"resources/{path}")
        assert document.resource(path) == SkillResource(f"resources/{path}", data)


def test_a_folder_without_files_has_none(tmp_path: Path) -> None:
    skill = original.read(TEXT)
    original.write_folder(skill, tmp_path / "s")
    version, document = registered(tmp_path / "s")
    assert (version.compat_digest, document.resources) == (skill.digest, ())


def test_files_in_nested_folders_have_paths_with_slashes(tmp_path: Path) -> None:
    skill = original.read(TEXT, {"a/f1.txt": b"f1", "b/c/f2.txt": b"f2"})
    original.write_folder(skill, tmp_path / "s")
    assert [each.path for each in registered(tmp_path / "s")[1].resources] == [
        "resources/a/f1.txt",
        "resources/b/c/f2.txt",
    ]


def test_what_came_from_the_original_and_goes_back_has_the_same_digest(tmp_path: Path) -> None:
    left = ("escapes-of-json", "a-trigger-and-dependencies-are-further-keys")
    for vector in (each for each in READ if str(each) not in left):
        skill = original.read(vector.text, vector.resources)
        place = tmp_path / str(vector)
        place.mkdir()
        (place / "SKILL.md").write_bytes(vector.text.encode())
        for path, data in vector.resources.items():
            (place / "resources" / path).parent.mkdir(parents=True, exist_ok=True)
            (place / "resources" / path).write_bytes(data)
        _, document = registered(place)
        again = original.read_folder(exported(document, place / "out"))
        assert (again.digest, again.resources) == (skill.digest, skill.resources), vector.case
        assert again.metadata == skill.metadata, vector.case


def test_a_folder_without_a_skill_md_and_one_that_is_missing_are_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for name in ("empty", "no-such-folder"):
        with pytest.raises(ManifestError, match=r"SKILL\.md"):
            registered(tmp_path / name)


# --- out


def test_an_export_for_the_original_has_everything_where_it_reads_it(tmp_path: Path) -> None:
    document = SkillDocument.checked(
        namespace="foo/observations",
        name="fetch-data",
        description='Fetches "data": #1.',
        license="Apache-2.0",
        compatibility=">=0.7.0",
        allowed_tools=("memory_recall", "a tool"),
        metadata={"author": "alice", "version": "1.0", "retries": 7, "tags": ["a", "b"], "ratio": 0.5},
        body="\n# Fetch\n---\nbelow\n",
        reflections=[{"namespace": "foo/observations", "min_depth": 1}],
        resources=(SkillResource("scripts/run.sh", b"echo hi\n", True), SkillResource("resources/logo.png", b"\x89")),
    )
    folder = exported(document, tmp_path)
    found = original.read_folder(folder)
    for name in ("namespace", "name", "description", "license", "compatibility"):
        assert getattr(found, name) == getattr(document, name)
    assert (found.allowed_tools, found.body) == (["memory_recall", "a tool"], document.body.lstrip("\n"))
    assert found.composes_with_reflections == document.reflections
    assert found.resources == {"scripts/run.sh": b"echo hi\n", "logo.png": b"\x89"}
    kept = {key: found.metadata[key] for key in ("author", "version", "retries", "tags")}
    assert kept == {"author": "alice", "version": "1.0", "retries": 7, "tags": ["a", "b"]}
    assert (folder / "resources/scripts/run.sh").stat().st_mode & 0o100


@settings(max_examples=40, deadline=None)
@given(documents())
def test_every_export_for_the_original_has_its_digest_there_and_both_here(
    tmp_path_factory: pytest.TempPathFactory, document: SkillDocument
) -> None:
    at, key = tmp_path_factory.mktemp("out"), Key("local", b"\1" * 32)
    here = registry(key)
    document = document.changed(depends_on=())
    version = here.register(document, actor="ada", origin="human").version
    with contextlib.suppress(ManifestError):
        folder = write_skill_folder(document, version, at, "ai-memory")
    if not list(at.iterdir()):
        assert is_beyond(document)
        return
    assert original.read_folder(folder).digest == version.compat_digest
    again, read = registered(folder)
    assert (again.digest, again.compat_digest, read) == (version.digest, version.compat_digest, document)
    assert (again.public_key, again.signature) == (version.public_key, version.signature)


def is_beyond(document: SkillDocument) -> bool:
    """Whether the original could not read a document."""
    texts = len(document.description.encode()) > 1024 or len((document.compatibility or "").encode()) > 500
    paths = {each.path.removeprefix("resources/").casefold() for each in document.resources}
    other = texts or "_" in document.name or isinstance(document.reflections, dict)
    return other or len(paths) < len(document.resources)


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"name": "zahlen-prüfen"}, "a letter that ai-memory does not take"),
        ({"name": "my_skill"}, "a letter that ai-memory does not take"),
        ({"description": "é" * 600}, "1,200 bytes"),
        ({"compatibility": "é" * 300}, "600 bytes"),
        ({"reflections": {"namespace": "a"}}, "not the list"),
        ({"resources": (SkillResource("a", b"1"), SkillResource("resources/a", b"2"))}, "there twice"),
    ],
)
def test_what_the_original_could_not_read_is_not_exported(tmp_path: Path, fields: dict[str, Any], problem: str) -> None:
    plain = {"namespace": "mayros", "name": "fetch-data", "description": "Fetches."}
    with pytest.raises(ManifestError, match=problem):
        exported(SkillDocument.checked(**plain | fields), tmp_path)
    assert list(tmp_path.iterdir()) == []


# --- honest attestation


def test_a_folder_without_a_signature_is_unsigned_also_where_there_is_a_key(tmp_path: Path) -> None:
    original.write_folder(original.read(TEXT, FILES), tmp_path / "s")
    version, _ = registered(tmp_path / "s", registry(Key("local", b"\1" * 32)))
    assert (version.public_key, version.signature) == ("", "")


@pytest.mark.parametrize("form", ["agentskills", "ai-memory"])
@pytest.mark.parametrize("change", ["body", "file", "a moved file", "digest", "no text", "removed file"])
def test_a_folder_that_is_not_what_its_sidecar_states_is_refused(tmp_path: Path, form: Form, change: str) -> None:
    document = read_skill_folder_of(tmp_path / "in").changed(resources=(SkillResource("scripts/run.sh", b"echo hi\n"),))
    folder = exported(document, tmp_path / "out", form, Key("local", b"\1" * 32))
    script = folder / ("resources/scripts/run.sh" if form == "ai-memory" else "scripts/run.sh")
    sidecar, manifest = folder / SIDECAR, folder / "SKILL.md"
    match change:
        case "body":
            manifest.write_text(manifest.read_text() + "More.\n")
        case "file":
            script.write_bytes(b"rm -r x\n")
        case "a moved file":
            script.rename(folder / "run.sh")
        case "digest":
            sidecar.write_text(json.dumps(json.loads(sidecar.read_text()) | {"digest": "0" * 64}))
        case "no text":
            sidecar.write_bytes(b"\xff{")
        case "removed file":
            script.unlink()
    with pytest.raises(CortexError) as caught:
        registered(folder)
    assert caught.value.code == "export_changed"
    version, _ = registered(folder, registry(Key("other", b"\2" * 32)), accept_changed=True)
    assert version.signature == ""


def read_skill_folder_of(place: Path) -> SkillDocument:
    original.write_folder(original.read(TEXT), place)
    return read_skill_folder(place, "mayros").document


@pytest.mark.parametrize(
    "moved", [["../x"], ["SKILL.md"], ["scripts/run.sh"] * 5_000, "x", [1], ["logo.png"], ["resources/logo.png"]]
)
def test_a_sidecar_cannot_give_a_file_another_path(tmp_path: Path, moved: Any) -> None:
    document = read_skill_folder_of(tmp_path / "in").changed(resources=(SkillResource("resources/logo.png", b"1"),))
    folder = exported(document, tmp_path / "out")
    stated = json.loads((folder / SIDECAR).read_text())
    assert "moved" not in stated
    (folder / SIDECAR).write_text(json.dumps(stated | {"moved": moved}))
    if moved in (["../x"], ["SKILL.md"], ["resources/logo.png"]):  # no file here is at such a path
        assert registered(folder)[1] == document
        return
    with pytest.raises(CortexError) as caught:
        registered(folder)
    assert caught.value.code == "export_changed"


def test_an_export_of_an_earlier_version_with_its_digest_of_a_blank_line_is_registered(tmp_path: Path) -> None:
    from cortex_skills.features.registry.documents.document import compat_digest

    document = read_skill_folder_of(tmp_path / "in")
    folder = exported(document, tmp_path / "out", "agentskills")
    stated = json.loads((folder / SIDECAR).read_text())
    former = compat_digest(document, document.body)
    assert former != stated["compatDigest"]
    (folder / SIDECAR).write_text(json.dumps(stated | {"compatDigest": former}))
    assert registered(folder)[0].compat_digest == stated["compatDigest"]
