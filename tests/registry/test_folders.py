"""Skills go to folders and come back with the same digests; hostile folders are refused or reported."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from skills_ref import validate

from cortex_graph import open_store
from cortex_graph.naming.names import Names
from cortex_skills.errors import CortexError
from cortex_skills.features.registry.documents.document import (
    MAX_RESOURCE,
    SkillDocument,
    SkillResource,
    compat_digest,
    digest,
    front_of,
)
from cortex_skills.features.registry.documents.skill_md import former_steps_of, steps_of
from cortex_skills.features.registry.folders import SIDECAR, read_skill_folder, write_skill_folder
from cortex_skills.features.registry.records.registry import SkillRegistry
from cortex_skills.features.registry.records.skill_record import SkillKey, SkillVersion
from cortex_skills.features.registry.sources import synchronise
from cortex_skills.features.registry.views import document_view, record_view
from cortex_skills.keys import Key
from cortex_skills.manifest import load_manifest
from cortex_skills.signatures.signing import sign_for_others
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


def edited(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def stated(folder: Path, **members: object) -> None:
    sidecar = folder / SIDECAR
    sidecar.write_text(json.dumps(json.loads(sidecar.read_text()) | members))


def linked(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


def to_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


CHANGES: dict[str, Callable[[Path], object]] = {
    "the manifest": lambda folder: edited(folder / "SKILL.md", "Body", "Bodies"),
    "a file": lambda folder: (folder / "scripts/run.sh").write_bytes(b"#!/bin/sh\necho evil\n"),
    "a byte at the end": lambda folder: (folder / "scripts/run.sh").write_bytes(SCRIPT + b"\n"),
    "a further file": lambda folder: (folder / "scripts/more.sh").write_bytes(b""),
    "a file gone": lambda folder: (folder / "a.txt").unlink(),
    "a file renamed": lambda folder: (folder / "a.txt").rename(folder / "b.txt"),
    "nonsense": lambda folder: (folder / SIDECAR).write_text("nonsense"),
    "an empty sidecar": lambda folder: (folder / SIDECAR).write_text(""),
    "a list": lambda folder: (folder / SIDECAR).write_text("[1]"),
    "a key given twice": lambda folder: edited(folder / SIDECAR, '"format"', '"format": 1, "format"'),
    "bytes": lambda folder: (folder / SIDECAR).write_bytes(b"\xff{}"),
    "a sidecar that is a folder": lambda folder: to_folder(folder / SIDECAR),
    "a sidecar that is a link": lambda folder: linked(folder / SIDECAR),
    "another form": lambda folder: stated(folder, format="cortex-registry/2"),
    "another digest": lambda folder: stated(folder, digest="0" * 64),
    "no digest": lambda folder: stated(folder, digest=None),
    "another name": lambda folder: stated(folder, name="other"),
    "another namespace": lambda folder: stated(folder, namespace="other"),
    "no executable file": lambda folder: stated(folder, executable=[]),
    "a further executable file": lambda folder: stated(folder, executable=["scripts/run.sh", "a.txt"]),
    "an executable file that is not there": lambda folder: stated(folder, executable=["scripts/run.sh", "x"]),
    "executable files that are no list": lambda folder: stated(folder, executable="scripts/run.sh"),
    "another digest of other registries": lambda folder: stated(folder, compatDigest="0" * 64),
    "executable files that are no texts": lambda folder: stated(folder, executable=[["scripts/run.sh"]]),
    "a key without a signature": lambda folder: stated(folder, signature=None),
    "a signature that is a number": lambda folder: stated(folder, signature=7),
}
SCRIPT = b"#!/bin/sh\necho done\n"


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    """A signed export with a script that can be started."""
    document = SkillDocument.checked(
        namespace="mayros",
        name="demo",
        description="Shows something.",
        body="Body.\n",
        resources=(SkillResource("a.txt", b"a"), SkillResource("scripts/run.sh", SCRIPT, executable=True)),
    )
    version = machine(1).register(document, actor="ada", origin="human").version
    return write_skill_folder(document, version, tmp_path / "out")


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_export_is_refused_and_accepted_only_as_another_unsigned_document(exported: Path, change: str):
    CHANGES[change](exported)
    with pytest.raises(CortexError) as caught:
        read_skill_folder(exported, "mayros")
    assert (caught.value.code, "demo" in caught.value.message) == ("export_changed", True)
    report = synchronise(machine(2), [exported], actor="bob")
    assert [error.code for error in report.refused.values()] == ["export_changed"]
    registry = machine(2)
    accepted = synchronise(registry, [exported], actor="bob", accept_changed=True)
    assert any("changed after its export" in warning for _, warning in accepted.warnings)
    (done,) = accepted.found.values()
    assert (done.version.public_key, done.version.signature) == ("", "")
    assert registry.document(done.version) is not None


def test_a_list_of_more_executable_files_than_a_skill_has_is_not_searched(exported: Path):
    stated(exported, executable=["a"] * 100_000)
    with pytest.raises(CortexError, match="more than 4,096 executable files"):
        read_skill_folder(exported, "mayros")


@pytest.mark.parametrize("umask", [0o022, 0o077, 0o000])
def test_an_export_has_the_modes_of_the_umask_and_its_scripts_start(exported: Path, tmp_path: Path, umask: int):
    document = read_skill_folder(exported, "mayros").document
    version = machine(1).register(document, actor="ada", origin="human").version
    before = os.umask(umask)
    try:
        place = write_skill_folder(document, version, tmp_path / "again")
    finally:
        os.umask(before)
    modes = {str(path.relative_to(place)): path.stat().st_mode & 0o7777 for path in [place, *place.rglob("*")]}
    assert modes == {
        ".": 0o777 & ~umask,
        "scripts": 0o777 & ~umask,
        "scripts/run.sh": 0o777 & ~umask & (0o755 | (0o666 & ~umask)),
        **dict.fromkeys(("SKILL.md", "a.txt", SIDECAR), 0o666 & ~umask),
    }
    assert [each.name for each in (tmp_path / "again").iterdir()] == ["demo"]


def test_a_forged_signature_is_refused_and_a_removed_sidecar_leaves_it_unsigned(exported: Path):
    registry = machine(2)
    stated(exported, signature="0" * 128)
    assert [e.code for e in synchronise(registry, [exported], actor="b").refused.values()] == ["signature_invalid"]
    (exported / SIDECAR).rename(exported / "registry.json")
    (done,) = synchronise(registry, [exported], actor="bob").found.values()
    assert (done.version.signature, len(registry.document(done.version).resources)) == ("", 3)
    (again,) = synchronise(registry, [exported], actor="bob", sign=True).found.values()
    assert (again.created, again.version.public_key) == (True, Key("local", b"\2" * 32).did)


@pytest.mark.parametrize(
    "change", ["nothing", "a file", "the manifest", "the signature", "nonsense", "another program"]
)
def test_a_signature_of_other_files_beside_a_skill_is_refused(folder: Path, change: str):
    (folder / "a.txt").write_text("a")
    manifest = load_manifest(folder)
    sign_for_others(folder, manifest, Key("acme", b"\3" * 32), "acme", datetime.now(UTC))
    sig = folder / "SKILL.sig"
    if change == "a file":
        (folder / "a.txt").write_text("b")
    elif change == "the manifest":
        edited(folder / "SKILL.md", "Body", "Bodies")
    elif change == "the signature":
        text = json.loads(sig.read_text())
        sig.write_text(json.dumps(text | {"signature": "0" * 128}))
    elif change == "nonsense":
        sig.write_bytes(b"\xff")
    elif change == "another program":
        sig.write_text('{"hash": "0", "signature": "1"}')
    if change in ("nothing", "another program"):
        warnings = read_skill_folder(folder, "mayros").warnings
        assert ["is not checked" in each for each in warnings] == ([True] if change == "another program" else [])
        return
    with pytest.raises(CortexError) as caught:
        read_skill_folder(folder, "mayros")
    assert caught.value.code == "signature_invalid"
    found = read_skill_folder(folder, "mayros", accept_changed=True)
    assert "without the signature in SKILL.sig" in found.warnings[0]


def test_a_rollback_to_an_unsigned_version_is_unsigned(folder: Path):
    registry = machine(1)
    synchronise(registry, [folder], actor="ada")
    registry.register(read_skill_folder(folder, "mayros").document.changed(body="b"), actor="ada", origin="human")
    assert registry.current(SkillKey("mayros", "demo")).signature != ""
    assert registry.rollback(SkillKey("mayros", "demo"), 1, actor="ada").version.signature == ""


def test_a_script_of_an_export_starts_also_where_the_modes_were_lost(exported: Path, tmp_path: Path):
    for mode in (0o755, 0o644, 0o6777):
        (exported / "scripts/run.sh").chmod(mode)
        registry = machine(2)
        (done,) = synchronise(registry, [exported], actor="bob").found.values()
        again = write_skill_folder(registry.document(done.version), done.version, tmp_path / f"{mode:o}")
        assert subprocess.run([again / "scripts/run.sh"], capture_output=True, check=True).stdout == b"done\n"
        umask = os.umask(0)
        os.umask(umask)
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in again.rglob("*") if path.is_file()}
        assert (modes["run.sh"], modes["a.txt"]) == (0o777 & ~umask, 0o666 & ~umask)
        assert done.version.signature != ""


def test_a_file_is_executable_when_its_owner_may_start_it(folder: Path):
    (folder / "run").write_bytes(SCRIPT)
    digests = []
    for mode in (0o644, 0o655, 0o744, 0o4777):
        (folder / "run").chmod(mode)
        document = read_skill_folder(folder, "mayros").document
        digests.append((document.resources[0].executable, digest(document), compat_digest(document)))
    assert [executable for executable, _, _ in digests] == [False, False, True, True]
    assert digests[0][1] == digests[1][1] != digests[2][1] == digests[3][1]
    assert len({compat for _, _, compat in digests}) == 1


def test_an_export_of_an_earlier_version_has_its_digest(exported: Path):
    """It states no executable files: none had the mode."""
    document = read_skill_folder(exported, "mayros").document
    plain = replace(document, resources=tuple(replace(each, executable=False) for each in document.resources))
    sidecar = json.loads((exported / SIDECAR).read_text()) | {"digest": digest(plain), "signature": None}
    del sidecar["executable"]
    (exported / SIDECAR).write_text(json.dumps(sidecar | {"publicKey": None}))
    assert read_skill_folder(exported, "mayros").document == plain


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


def test_a_folded_description_is_kept_as_it_was_signed_and_shown_without_its_line_end(tmp_path: Path):
    text = "---\nname: demo\ndescription: >\n  First line\n  and second.\n\n---\nBody.\n"
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "SKILL.md").write_text(text)
    read = read_skill_folder(tmp_path / "demo", "mayros").document
    assert (read.description, read.summary) == ("First line and second.\n", "First line and second.")
    registry = machine(1)
    version = registry.register(read, actor="ada", origin="human").version
    shown = registry.version(version.id)
    assert version.description == shown.description == "First line and second."
    assert registry.document(shown).description == read.description
    record = registry.record(SkillKey("mayros", "demo"))
    view = record_view(registry, record, datetime.now(UTC))
    assert view["description"] == document_view(registry.document(shown))["description"] == "First line and second."
    again = read_skill_folder(write_skill_folder(read, version, tmp_path / "out"), "mayros").document
    assert again == read


def test_the_companion_file_may_have_any_name_and_only_the_one_that_is_named_is_read(folder: Path):
    (folder / "SKILL.md").write_text("---\nname: demo\ndescription: d\nmetadata:\n  semantic: rules.yml\n---\nBody.\n")
    (folder / "rules.yml").write_text("version: 2\n")
    found = read_skill_folder(folder, "mayros")
    assert (found.document.semantic, found.document.resources) == ({"version": 2}, ())
    (folder / "SKILL.md").write_text("---\nname: demo\ndescription: d\n---\nBody.\n")
    (folder / "semantic.yaml").write_text("version: 2\n")
    found = read_skill_folder(folder, "mayros")
    assert [resource.path for resource in found.document.resources] == ["rules.yml"]
    assert found.document.semantic is None
    assert found.warnings == ("'semantic.yaml' is left out: it is the name of a file of the manifest",)


def test_an_error_of_a_manifest_has_no_path_of_this_machine(folder: Path):
    (folder / "SKILL.md").write_text("---\nname: Demo\n---\n")
    with pytest.raises(CortexError) as caught:
        read_skill_folder(folder, "mayros")
    assert caught.value.message.startswith("the manifest of 'demo' has 2 problems:")
    assert str(folder.parent) not in caught.value.message


def test_an_export_of_an_earlier_version_keeps_its_digest_though_its_steps_are_read_otherwise_now(tmp_path: Path):
    body = "1. **Read it** — using `fs_read`\n"
    document = SkillDocument.checked(
        namespace="mayros", name="demo", description="d", body=body, steps=former_steps_of(body)
    )
    assert document.steps != steps_of(body)
    key = SkillKey("mayros", "demo")
    version = SkillVersion(
        "1", key, 1, datetime.now(UTC), digest(document), compat_digest(document), "procedure", "d", front_of(document)
    )
    folder = write_skill_folder(document, version, tmp_path)
    manifest = folder / "SKILL.md"
    earlier = re.sub(r', \\"steps\\": .*?\}\]', "", manifest.read_text())
    assert earlier != manifest.read_text()
    manifest.write_text(earlier)
    assert digest(read_skill_folder(folder, "mayros").document) == digest(document)
