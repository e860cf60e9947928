"""The skills of a public collection are loaded, registered, exported and validated as they are."""

from __future__ import annotations

from pathlib import Path

import pytest
from skills_ref import validate

from cortex_graph import open_store
from cortex_graph.naming.names import Names
from cortex_skills import Config, Plugin
from cortex_skills.features.registry.folders import read_skill_folder, write_skill_folder
from cortex_skills.features.registry.records.registry import SkillRegistry
from cortex_skills.features.registry.records.skill_record import SkillKey
from cortex_skills.features.registry.sources import synchronise
from cortex_skills.keys import Key
from cortex_skills.manifest import ManifestError
from tests.registry.collection import COLLECTION, LONGEST, Shape, description, write_collection, write_skill


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("collection")
    write_collection(root)
    (root / "README.md").write_text("# Skills\n")
    return root


def machine(seed: int) -> SkillRegistry:
    return SkillRegistry(open_store("memory:"), Names("mayros"), lambda: Key("local", bytes([seed]) * 32))


def test_each_is_registered_exported_validated_and_registered_elsewhere(folder: Path, tmp_path: Path):
    here, there = machine(1), machine(2)
    report = synchronise(here, [folder], actor="ada")
    assert (len(report.found), dict(report.refused), report.warnings) == (17, {}, ())
    for name, shape in COLLECTION.items():
        version = here.current(SkillKey("mayros", name))
        document = here.document(version)
        assert document.description == description(shape.style, shape.length)
        assert (document.body, document.license) == (shape.body, shape.license)
        files = {*shape.files, *(["LICENSE.txt"] if shape.license else [])}
        assert {file.path for file in document.resources} == files
        exported = write_skill_folder(document, version, tmp_path)
        assert validate(exported) == []
        read = read_skill_folder(exported, "mayros")
        again = there.register(read.document, actor="bob", origin="human", signature=read.signature).version
        assert (again.digest, again.compat_digest) == (version.digest, version.compat_digest)
        assert again.signature == version.signature


def test_each_loads_without_a_signature_and_runs_nothing(folder: Path):
    with Plugin.open(Config(store="memory:")) as plugin:
        assert plugin.config.verification.require_signature
        assert sorted(plugin.load(folder)) == sorted(COLLECTION)
        assert {skill.runtime for skill in plugin.skills.values()} == {None}
        assert len(plugin.skills["xlsx"].resources()) == 9


def test_a_description_that_the_format_does_not_allow_is_refused_with_its_length_as_the_validator_does(tmp_path: Path):
    place = write_skill(tmp_path, "claude-api", Shape("block", LONGEST))
    assert validate(place) == [f"Description exceeds 1024 character limit ({LONGEST} chars)"]
    with pytest.raises(ManifestError, match="has 1,075 characters, and at most 1,024 are allowed"):
        read_skill_folder(place, "mayros")
