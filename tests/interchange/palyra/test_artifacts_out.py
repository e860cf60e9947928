"""What `package build` writes: read by Palyra's rules with `--form palyra`, and a valid in-toto statement without."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from google.protobuf import json_format
from in_toto_attestation.v1.statement import Statement
from in_toto_attestation.v1.statement_pb2 import Statement as StatementMessage
from wasmtime import wat2wasm

from cortex_sandbox.wasm import WasmSandbox
from cortex_skills.doors.cli.app import program
from cortex_skills.features.artifacts.dialects.palyra import without_defaults
from cortex_skills.features.artifacts.package import ArtifactError, read_archive
from cortex_skills.features.artifacts.package.build import build_artifact
from cortex_skills.features.artifacts.package.project import read_project
from cortex_skills.features.artifacts.scaffold import package_project, wasm_project
from cortex_skills.features.scaffold.writing import write_folder
from tests.interchange.palyra import original
from tests.interchange.palyra.original import Refused
from tests.interchange.palyra.samples import CURRENT, KEY, LEGACY, MODULE, verified
from tests.sdk.c_examples import SDK, compiled
from tests.wasm.modules import ECHO, component

PLUGIN = "[operator.plugin]\n"


def project(folder: Path, manifest: str = CURRENT, modules: Mapping[str, bytes] | None = None) -> Path:
    """A project in a folder."""
    for path, data in (modules or {"modules/module.wasm": MODULE, "assets/prompt.txt": b"hello"}).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    (folder / "skill.toml").write_text(manifest)
    return folder


def built(folder: Path, form: Any = "palyra") -> bytes:
    return build_artifact(read_project(folder), KEY, 1, form=form).data


@pytest.mark.parametrize("manifest", [CURRENT, LEGACY, CURRENT.replace(PLUGIN, PLUGIN + 'kind = "wasm"\n')])
def test_what_is_built_for_palyra_is_read_by_its_rules(tmp_path: Path, manifest: str) -> None:
    data = built(project(tmp_path, manifest))
    read, entries = original.inspect(data)
    assert (read.skill_id, read.publisher) == ("acme.echo_http", "acme")
    assert set(entries) == set(read_archive(data))
    assert verified(data).is_valid


@pytest.mark.parametrize("example", ["handles", "hello", "page-watch"])
def test_the_examples_in_c_are_read_by_palyras_rules(tmp_path: Path, example: str) -> None:
    manifest = (SDK / example / "skill.toml").read_text()
    folder = project(tmp_path, manifest, {"modules/tool.wasm": compiled(example)})
    if "[capabilities.graph]" in manifest or "graph =" in manifest:
        with pytest.raises(ArtifactError, match=r"capabilities\.graph is known here only"):
            built(folder)
        return
    read, entries = original.inspect(built(folder))
    assert read.operator.plugin.default_module_path == "modules/tool.wasm"
    assert entries["modules/tool.wasm"].startswith(b"\0asm\1\0\0\0") == (example == "handles")


def test_a_new_core_module_is_built_for_palyra_as_it_is_compiled(tmp_path: Path) -> None:
    folder = tmp_path / "counter"
    done = CliRunner().invoke(
        program, ["package", "init", str(folder), "--publisher", "example", "--wasm", "--abi", "core"]
    )
    assert done.exit_code == 0, done.output
    module = compiled(folder / "tool.c")
    (folder / "modules").mkdir()
    (folder / "modules" / "tool.wasm").write_bytes(module)
    read, entries = original.inspect(built(folder))
    assert (read.skill_id, entries["modules/tool.wasm"]) == ("example.counter", module)
    assert WasmSandbox(module).call() == 0


def test_the_command_builds_in_both_forms_and_warns_of_what_palyra_does_not_run(tmp_path: Path) -> None:
    folder = project(tmp_path / "it", CURRENT, {"modules/module.wasm": component(ECHO)})
    file = tmp_path / "it.palyra-skill"
    command = ["package", "build", str(folder), "-o", str(file), "--json"]
    done = CliRunner().invoke(program, [*command, "--form", "palyra"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["notRunByPalyra"] == [
        "Palyra runs core modules, and modules/module.wasm is a component"
    ]
    original.inspect(file.read_bytes())
    assert CliRunner().invoke(program, command).exit_code == 0
    with pytest.raises(Refused, match="InvalidProvenance"):
        original.inspect(file.read_bytes())


def statement_of(data: bytes) -> Statement:
    """The provenance of an artifact as the library of the in-toto project reads it."""
    text = read_archive(data)["provenance.json"].decode()
    return Statement.copy_from_pb(json_format.Parse(text, StatementMessage()))


def test_the_provenance_is_a_statement_for_the_library_of_in_toto(tmp_path: Path) -> None:
    folder = project(tmp_path)
    statement = statement_of(built(folder, "in-toto"))
    statement.validate()
    assert statement.pb.predicate_type == "https://slsa.dev/provenance/v1"
    assert [each.name for each in statement.pb.subject] == ["assets/prompt.txt", "modules/module.wasm"]
    with pytest.raises(json_format.ParseError, match="builder"):
        statement_of(built(folder))


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        (CURRENT.replace("[capabilities]\n", "[capabilities]\ngraph = { read = true }\n"), "capabilities.graph"),
        (CURRENT.replace('"1.0.0"', '"1.0.0-rc.1"'), "version is not three numbers"),
        (CURRENT.replace('min_palyra_version = "0.1.0"', 'min_palyra_version = "0.1.0-a"'), "min_palyra_version"),
    ],
    ids=["graph", "version", "runtime"],
)
def test_what_palyra_does_not_read_is_not_built_for_it(tmp_path: Path, changed: str, says: str) -> None:
    folder = project(tmp_path, changed)
    data = built(folder, "in-toto")
    with pytest.raises(Refused):
        original.parse_manifest(read_archive(data)["skill.toml"].decode())
    with pytest.raises(ArtifactError, match=says):
        built(folder)


def test_a_typescript_skill_is_not_built_for_palyra(tmp_path: Path) -> None:
    write_folder(tmp_path / "it", package_project("it", "acme"))
    with pytest.raises(ArtifactError, match=r"operator\.plugin\.kind is known here only.*tools is empty.*no module"):
        built(tmp_path / "it")


def test_with_the_abi_core_a_module_stays_one_or_is_an_error(tmp_path: Path) -> None:
    core_manifest = CURRENT.replace(PLUGIN, PLUGIN + 'abi = "core"\n')
    data = built(project(tmp_path / "core", core_manifest))
    assert read_archive(data)["modules/module.wasm"] == MODULE
    assert b"abi =" not in read_archive(data)["skill.toml"]
    takes_four = "(param i32 i32 i32 i32) (result i32) unreachable"
    exports = f'(func (export "run") {takes_four}) (func (export "cabi_realloc") {takes_four})'
    for_components = bytes(wat2wasm(f'(module (memory (export "memory") 1) {exports})'))
    made = read_archive(built(project(tmp_path / "made", CURRENT, {"modules/module.wasm": for_components})))
    assert made["modules/module.wasm"].startswith(b"\0asm\x0d\0\1\0")
    with pytest.raises(ArtifactError, match=r"is a component, and operator\.plugin\.abi is core"):
        built(project(tmp_path / "wrong", core_manifest, {"modules/module.wasm": for_components}))
    with pytest.raises(ArtifactError, match=r"is a component, and operator\.plugin\.abi is core"):
        read_project(project(tmp_path / "component", core_manifest, {"modules/module.wasm": component(ECHO)}))
    components = core_manifest.replace('abi = "core"', 'abi = "component"')
    with pytest.raises(ArtifactError, match=r"is a core module, and operator\.plugin\.abi is component"):
        read_project(project(tmp_path / "no component", components))


def test_defaults_of_what_palyra_does_not_know_are_not_written() -> None:
    plugin = {"operator": {"plugin": {"kind": "wasm", "abi": "core"}}, "name": "x"}
    assert without_defaults(plugin) == {"operator": {}, "name": "x"}
    assert without_defaults({"operator": {"plugin": {"kind": "semantic"}}}) == {
        "operator": {"plugin": {"kind": "semantic"}}
    }
    assert wasm_project("a", "b")["skill.toml"].count("kind") == 0


def test_an_artifact_built_here_is_the_same_after_its_zip_is_written_again(tmp_path: Path) -> None:
    """The payload is the entries, not the archive."""
    data = built(project(tmp_path))
    again = original.encode_zip(original.decode_zip(data))
    assert verified(again).payload_sha256 == verified(data).payload_sha256
