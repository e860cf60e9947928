"""`package init`, `build`, `inspect` and `verify`: artifacts, from a project to a signed file.

Rules kept here:
- nothing is decided here: a build is an operation, and a verification runs the steps that an installation
  runs;
- no code of an artifact runs, and a verification changes nothing: a publisher is pinned only when it is installed;
- an existing file is replaced only as a whole;
- `SOURCE_DATE_EPOCH`, seconds since 1970, replaces the time of the signature, so that a build can be repeated exactly.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cortex_skills.doors.cli.commands import Command, Group
from cortex_skills.doors.cli.options import Common
from cortex_skills.doors.cli.path_types import GivenPath
from cortex_skills.errors import CortexError
from cortex_skills.features.artifacts.artifact_settings import ArtifactSettings
from cortex_skills.features.artifacts.cli.install import options_of, trust_options
from cortex_skills.features.scaffold.init_command import check_name

if TYPE_CHECKING:
    from cortex_skills.features.artifacts.contracts import Negotiation
    from cortex_skills.features.artifacts.package import ArtifactManifest, VerificationReport
    from cortex_skills.features.artifacts.package.build import Form
    from cortex_skills.features.artifacts.scaffold import BuiltFrom

_PATH = GivenPath(path_type=Path)
_STYLES: dict[str, Any] = {"passed": "green", "warned": "yellow", "failed": "red", "skipped": "bright_black"}
_SUFFIX = ".palyra-skill"
_MAX_REFERENCE = 500


@click.command(cls=Command)
@click.argument("folder", metavar="NAME", type=_PATH)
@click.option("--publisher", metavar="NAME", help="Who publishes it [the beginning of NAME, or example].")
@click.option("--wasm", is_flag=True, help="A tool in C, compiled to WebAssembly, instead of a TypeScript skill.")
@click.option("--abi", type=click.Choice(["component", "core"]), help="With --wasm: what the module is [component].")
@click.pass_obj
def init(common: Common, folder: Path, publisher: str | None, wasm: bool, abi: str | None) -> None:
    """Create a project that `package build` makes an artifact of.

    NAME is the folder to create; its name is that of the skill (a-z, 0-9 and -), after that of its publisher and a dot
    if there is one: acme.echo. It contains skill.toml, the source, and a README with the next commands.
    A core module takes no input and answers with a number; Palyra runs it, too.
    """
    if abi and not wasm:
        raise click.UsageError("--abi needs --wasm")
    from cortex_skills.features.artifacts.package import read_skill_toml
    from cortex_skills.features.artifacts.scaffold import package_project, wasm_project
    from cortex_skills.features.scaffold.writing import check_free, write_folder

    folder = folder.absolute()
    check_free(folder)
    name = _name_and_publisher(folder, publisher)
    files = wasm_project(*name, is_core=abi == "core") if wasm else package_project(*name)
    read_skill_toml(files["skill.toml"].encode())
    write_folder(folder, files)
    document = {"folder": str(folder), "files": sorted(files)}

    def show() -> None:
        for name in sorted(files):
            common.out.line(("wrote", "green"), f" {folder / name}")
        common.out.line(f"Next: see {folder / 'README.md'}")

    common.out.answer(document, show)


@click.command(cls=Command)
@click.argument("folder", metavar="NAME", type=_PATH)
@click.option("--from-skill", metavar="SKILL", help="A registered skill whose instructions it starts from.")
@click.option("--prompt", metavar="TEXT", help="What the skill is to do.")
@click.option("--publisher", metavar="NAME", help="Who publishes it [the beginning of NAME, or example].")
@click.pass_obj
def scaffold(common: Common, folder: Path, from_skill: str | None, prompt: str | None, publisher: str | None) -> None:
    """Create an experimental project from a learned skill or a prompt, where `artifacts.builder` is on.

    It has a skill.toml with [builder], tests, and a declaration of capabilities that a person reviews. Installed, it is
    quarantined until a person has looked at it.
    """
    from cortex_skills.features.artifacts.package import read_skill_toml
    from cortex_skills.features.artifacts.scaffold import BuiltFrom, built_project
    from cortex_skills.features.scaffold.writing import check_free, write_folder

    if (from_skill is None) == (prompt is None):
        raise click.UsageError("name one source: --from-skill SKILL or --prompt TEXT")
    if not common.settings().section(ArtifactSettings).builder:
        raise CortexError("permission_denied", "the builder is off", hint="set artifacts.builder: true")
    folder = folder.absolute()
    check_free(folder)
    if from_skill is not None:
        source = _learned(common, from_skill)
    else:
        text = " ".join(str(prompt).split())
        if not text:
            raise click.UsageError("the prompt is empty")
        source = BuiltFrom("prompt", text[:_MAX_REFERENCE], text[:_MAX_REFERENCE], str(prompt))
    files = built_project(*_name_and_publisher(folder, publisher), source)
    read_skill_toml(files["skill.toml"].encode())
    write_folder(folder, files)
    document = {"folder": str(folder), "files": sorted(files), "source": {"kind": source.kind, "ref": source.reference}}

    def show() -> None:
        for name in sorted(files):
            common.out.line(("wrote", "green"), f" {folder / name}")
        common.out.line(f"Next: see {folder / 'README.md'}")

    common.out.answer(document, show)


def _name_and_publisher(folder: Path, publisher: str | None) -> tuple[str, str]:
    """The name of the skill and its publisher, from the name of the folder: NAME, or PUBLISHER.NAME.

    Raises:
        CortexError: `invalid_arguments`: they cannot be in the id of an artifact.
    """
    from jsonschema_rs import Draft202012Validator

    from cortex_skills.features.artifacts.package.skill_toml_form import SkillToml
    from cortex_skills.safe_io.schemas import first_error, schema, shown

    first, _, name = folder.name.rpartition(".")
    if publisher is not None and first != publisher:
        name = folder.name
    publisher = publisher or first or "example"
    check_name(Path(name))
    id_ = f"{publisher}.{name}"
    if first_error(Draft202012Validator(schema(SkillToml)["properties"]["skill_id"]), id_) is not None:
        hint = "a publisher and a name of a-z, 0-9, _ and -, with dots between: acme.echo"
        raise CortexError("invalid_arguments", f"{shown(id_)} cannot be the id of an artifact", hint=hint)
    return name, publisher


def _learned(common: Common, name: str) -> BuiltFrom:
    """A registered skill as the source of a scaffold."""
    from cortex_skills.features.artifacts.scaffold import BuiltFrom
    from cortex_skills.features.registry.parts import registry_in
    from cortex_skills.features.registry.views import key_of

    with common.plugin(reads=True) as plugin:
        registry = plugin.part(registry_in)
        record = registry.record(key_of(name, registry.terms.names.namespace))
        document = registry.document(registry.version(record.version_id))
    steps = "\n".join(
        f"{number}. {step.action}" + (f" (`{step.tool}`)" if step.tool else "")
        for number, step in enumerate(document.steps, 1)
    )
    reference = f"{record.key.namespace}/{record.key.name}@{record.version_id}"
    text = "\n\n".join(part for part in (document.body.strip(), steps) if part)
    return BuiltFrom("learned_skill", reference, document.summary, text)


@click.command(cls=Command)
@click.argument("folder", metavar="FOLDER", type=_PATH)
@click.option("-o", "--output", metavar="FILE", type=_PATH, help="The artifact [SKILL-VERSION.palyra-skill].")
@click.option("--key", metavar="NAME", help="The key to sign with (`key list`) [that of this installation].")
@click.option("--publisher", default="", metavar="NAME", help="Who publishes it, if skill.toml does not say so.")
@click.option("--version", "version", default="", metavar="VERSION", help="Its version, if its manifest has none.")
@click.option("--builder", metavar="URI", help="Who builds it, for the provenance.")
@click.option(
    "--form",
    type=click.Choice(["in-toto", "palyra"]),
    default="in-toto",
    show_default=True,
    help="The form of the provenance: a valid in-toto statement, or with what Palyra reads.",
)
@click.pass_obj
def build(
    common: Common,
    folder: Path,
    output: Path | None,
    key: str | None,
    publisher: str,
    version: str,
    builder: str | None,
    form: Form,
) -> None:
    """Build a signed artifact from FOLDER: a project with skill.toml, or a skill with SKILL.md.

    The same folder gives the same bytes, but for the time of the signature. Nothing is written unless the artifact is
    valid. With --form palyra it is an error if Palyra would not read the artifact.
    """
    from cortex_skills.features.artifacts import package_operations
    from cortex_skills.features.artifacts.package.build import BUILDER

    done = common.operate(
        package_operations.build,
        folder=folder,
        output=output,
        key=key,
        publisher=publisher,
        version=version,
        builder=builder or BUILDER,
        form=form,
        signed_at_unix_ms=_signed_at(),
    )
    report, document = done.built.report, done.document()

    def show() -> None:
        common.out.line(("built", "green"), f" {done.file}: {document['skillId']} {document['version']}")
        common.out.line(f"  payload {report.payload_sha256}")
        common.out.line(f"  signed by {document['publisher']} with {done.key}")
        _show_warnings(common, report)
        for problem in done.not_run_by_palyra:
            common.out.line(("warning", "yellow"), f" {problem}")

    common.out.answer(document, show)


@click.command(cls=Command)
@click.argument("file", metavar="FILE", type=_PATH)
@click.pass_obj
def inspect(common: Common, file: Path) -> None:
    """Show what an artifact contains, what it requests, and whether it is valid; its publisher is not checked."""
    from cortex_skills.features.artifacts import package_operations
    from cortex_skills.features.artifacts.package import read_artifact_file

    found = common.operate(package_operations.inspect, data=read_artifact_file(file))
    report, model = found.report, found.model

    def show() -> None:
        _show_contents(common, report)
        if model["message"]:
            common.out.line(f"  {model['message']}")
        _show_steps(common, report)

    common.out.answer(found.document(), show)
    if report.error is not None:
        raise report.error


@click.command(cls=Command)
@click.argument("file", metavar="FILE", type=_PATH)
@trust_options
@click.pass_obj
def verify(common: Common, /, file: Path, **given: Any) -> None:
    """Verify an artifact, step by step, with your trusted publishers (`trust list`), as an installation does.

    Nothing is changed.
    """
    from cortex_skills.features.artifacts import package_operations
    from cortex_skills.features.artifacts.package import read_artifact_file

    options = options_of(common, given)
    report = common.operate(package_operations.verify, data=read_artifact_file(file), options=options)
    document = report.to_json() | {"trust": report.steps[-1].message if report.is_valid else None}
    common.out.answer(document, lambda: _show_steps(common, report))
    if report.error is not None:
        raise report.error


package = Group(
    "package",
    help="Build artifacts that carry a skill between people, and look at them.",
    sections={"Commands": [init, scaffold, build, inspect, verify]},
)


def _signed_at() -> int:
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given is None:
        return time.time_ns() // 1_000_000
    if not given.isdecimal() or len(given) > 12:
        raise CortexError("invalid_arguments", "SOURCE_DATE_EPOCH is not a number of seconds since 1970")
    return int(given) * 1000


def _show_contents(common: Common, report: VerificationReport) -> None:
    manifest = report.manifest
    if manifest is None:
        return
    out = common.out
    out.line(f"{manifest.skill_id} {manifest.version}: {manifest.name}, by {manifest.publisher}")
    for tool in manifest.tools:
        risk = ", each call needs an approval" if tool.requires_approval else ""
        out.line(f"  tool {tool.id}{risk}: {tool.description}")
    for label, values in _requested(manifest):
        out.line(f"  requests {label}: {', '.join(values)}")
    for contract in _contracts(manifest).contracts:
        status = contract.to_json()["status"]
        out.line(f"  contract {contract.kind} {contract.version}: {'; '.join(contract.reasons) or status}")
    for path, data in report.entries.items():
        out.line(f"  {len(data):>10,} {path}")
    for component in report.components:
        out.line(f"  contains {component.purl or component.name}")


def _contracts(manifest: ArtifactManifest) -> Negotiation:
    """Whether this host accepts the contracts of an artifact with all that it requests."""
    from cortex_skills.features.artifacts.tools.contract_calls import negotiated

    return negotiated(manifest, manifest.capabilities)


def _requested(manifest: ArtifactManifest) -> list[tuple[str, list[str]]]:
    given = manifest.capabilities
    graph = [word for word, wanted in (("read", given.graph_read), ("write", given.graph_write)) if wanted]
    found = [
        ("web pages of", list(given.http_hosts)),
        ("folders to read", list(given.read_roots)),
        ("folders to write", list(given.write_roots)),
        ("secrets", [f"{each.scope}/{name}" for each in given.secrets for name in each.key_names]),
        ("devices", list(given.device)),
        ("nodes", list(given.node)),
        ("the graph", graph + list(given.graph_predicates)),
    ]
    return [(label, values) for label, values in found if values]


def _show_steps(common: Common, report: VerificationReport) -> None:
    for step in report.steps:
        common.out.line(
            (step.status, _STYLES[step.status]), f" {step.id}" + (f": {step.message}" if step.message else "")
        )


def _show_warnings(common: Common, report: VerificationReport) -> None:
    for step in report.steps:
        if step.status == "warned":
            common.out.line(("warning", "yellow"), f" {step.id}: {step.message}")
