"""A skill's folder → a running skill: read, verify, scan, transpile, sandbox, activate.

Rules kept here:
- the folder is read once, into memory: what is scanned is what is bundled is what runs, whatever happens on the disk
  meanwhile (only in the direct mode Node.js reads it again);
- each step refuses with an error of its own, and nothing of a refused skill is left running;
- a folder of skills is loaded in the order of their dependencies, all of them or none;
- a skill of agentskills.io without a semantic block is instructions and files: nothing of it runs, nor is looked at;
- a start can be interrupted from another thread: a host that closes does not wait for a skill that takes its time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from cortex_graph import GraphError, Names, NamespacedGraph
from cortex_sandbox import Box, SandboxError, TranspileError, bundle
from cortex_skills.boxes import Program
from cortex_skills.bridge import GraphBridge
from cortex_skills.config import Config
from cortex_skills.errors import CortexError
from cortex_skills.limits import Budgets
from cortex_skills.manifest import Manifest, Semantic, load_order
from cortex_skills.memory import Memories
from cortex_skills.reading import Reading, read_skill, skill_folders
from cortex_skills.runtime import Session, SkillRuntime
from cortex_skills.scanner import Finding, read_documents, scan_sources
from cortex_skills.skill import PLAIN, Skill

if TYPE_CHECKING:
    from cortex_skills.proofs.logic.rules import RuleSet
    from cortex_skills.signatures import Verifier

ENTRIES = ("skill.ts", "skill.js")
UNREADABLE = frozenset({"syntax-error", "ambiguous-syntax"})


class Starting:
    """The sandbox in which a skill is being started, if one is, for whoever cannot wait for it."""

    def __init__(self) -> None:
        self._box: Box | None = None

    def __call__(self, box: Box | None) -> None:
        """Say what is being started; None when it is done."""
        self._box = box

    def interrupt(self) -> None:
        """Stop it, if anything is being started."""
        box = self._box
        if box is not None:
            box.interrupt()


@dataclass(frozen=True)
class Loader:
    """Makes skills run in one host.

    Attributes:
        config: of the plugin.
        graph: the namespaced graph of the host.
        memories: what agents remember in it.
        budgets: of the session.
        session: where the skills run.
        developing: folders of the user's own, of skills or each of one, that need no publisher's signature.
        starting: what is being started.

    """

    config: Config
    graph: NamespacedGraph
    memories: Memories
    budgets: Budgets
    session: Session
    developing: Collection[Path] = ()
    starting: Starting = field(default_factory=Starting)

    def load(self, path: Path, active: Mapping[str, Skill]) -> list[Skill]:
        """Load a skill's folder, or every skill of a folder of them.

        Args:
            path: a folder with a SKILL.md, or a folder of such folders.
            active: the skills that are there already; dependencies may be among them.

        Raises:
            CortexError: with the code of the step that refused; nothing is left running then.

        """
        readings = [read_skill(folder) for folder in skill_folders(path)]
        manifests = [self.checked(reading) for reading in readings]
        for manifest in manifests:
            if manifest.name in active:
                raise CortexError(
                    "invalid_arguments", f"the skill {manifest.name} is loaded already", hint="unload it first"
                )
        by_name = {manifest.name: reading for manifest, reading in zip(manifests, readings, strict=True)}
        order = load_order(manifests, [skill.manifest for skill in active.values()])
        loaded: list[Skill] = []
        try:
            loaded.extend(self.start(by_name[manifest.name]) for manifest in order)
        except BaseException:
            dispose(loaded)
            raise
        return loaded

    def checked(self, reading: Reading) -> Manifest:
        """The manifest of a reading, when it is one of a skill that could run here.

        Raises:
            CortexError: `manifest_invalid`.

        """
        if reading.manifest is None:
            raise reading.error or CortexError("manifest_invalid", f"{reading.folder} cannot be read")
        if reading.manifest.semantic is not None:
            _check_predicates(reading.manifest.name, reading.manifest.semantic, self.graph.names)
        return reading.manifest

    def start(self, reading: Reading) -> Skill:
        """The skill of a reading, scanned, bundled, loaded and activated.

        Raises:
            CortexError: with the code of the step that refused; nothing is left running then.

        """
        manifest = reading.manifest
        if manifest is None:
            raise ValueError(f"{reading.name} has no manifest that is in order")
        verifier = self._verifier()
        signature = verifier.check(reading, manifest) if verifier is not None else None
        skill = self._start(reading, manifest, signature.hashes() if signature is not None else None)
        if verifier is not None and signature is not None:
            try:
                verifier.remember(signature)
            except BaseException:
                dispose([skill])
                raise
        return skill

    def _start(self, reading: Reading, manifest: Manifest, signed: Mapping[str, str] | None) -> Skill:
        if manifest.semantic is None:
            return Skill(manifest, PLAIN, reading.folder.absolute(), None, reading.digests, signed=signed)
        rules = _rules(reading, manifest)
        findings = list(reading.findings)
        if self.config.verification.auto_scan:
            findings += _scanned(reading)
        entry = next((name for name in ENTRIES if name in reading.sources), None)
        code = self._checked(manifest.name, reading.sources, findings, entry)
        runtime = None
        if entry is not None:
            runtime = self._run(manifest, Program(code, reading.folder, entry, self.config.skill_sandbox))
        return Skill(
            manifest,
            manifest.semantic,
            reading.folder.absolute(),
            runtime,
            reading.digests,
            signed=signed,
            rules=rules,
        )

    def _verifier(self) -> Verifier | None:
        """What checks signatures; None when none is required."""
        if not self.config.verification.require_signature:
            return None
        from cortex_skills.signatures import Verifier

        return Verifier.of(self.config, self.developing)

    def _checked(self, skill: str, sources: Mapping[str, str], findings: Iterable[Finding], entry: str | None) -> str:
        """The bundled code of a skill that the scanner lets pass; empty when it has none, or Node.js loads it itself.

        What only does not parse is left to the bundler first, which tells an author better what is wrong.

        Raises:
            CortexError: `scan_rejected` or `transpile_error`.

        """
        critical = [finding for finding in findings if finding.severity == "critical"]
        if any(finding.rule not in UNREADABLE for finding in critical):
            refuse_critical(skill, critical)
        code = bundled(sources, entry) if entry is not None and self.config.skill_sandbox.sandbox_enabled else ""
        refuse_critical(skill, critical)
        return code

    def _run(self, manifest: Manifest, program: Program) -> SkillRuntime:
        bridge = GraphBridge(
            manifest,
            self.graph,
            self.memories,
            self.budgets,
            self.session.agent,
            strict_declarations=self.config.strict_declarations,
        )
        return SkillRuntime(manifest.name, program, bridge, self.session, starting=self.starting)


def _scanned(reading: Reading) -> list[Finding]:
    """What breaks a rule in a skill's folder: its sources and its manifest as they were read, and its documents."""
    documents, findings = read_documents(reading.folder)
    known = [finding for finding in findings if finding not in reading.findings]
    return [*known, *scan_sources({**documents, **reading.manifest_texts, **reading.sources, **reading.tests})]


def dispose(skills: Iterable[Skill], reason: str = "unload") -> None:
    """End what runs of these skills, in the reverse of their order."""
    for skill in reversed(list(skills)):
        if skill.runtime is not None:
            skill.runtime.close(reason)


def _rules(reading: Reading, manifest: Manifest) -> RuleSet | None:
    """The skill's own shapes.

    Raises:
        CortexError: `manifest_invalid`: they are none that could be applied.

    """
    if reading.shapes is None:
        return None
    from cortex_skills.proofs.logic.rules import read_rules

    if not reading.shapes:
        hint = "write shapes into it, or remove it"
        raise CortexError("manifest_invalid", f"shapes.ttl of {manifest.name} is empty, or no plain file", hint=hint)
    version = manifest.semantic.skill_version if manifest.semantic is not None else None
    return read_rules(reading.shapes, f"skill:{manifest.name}", version or "")


def _check_predicates(skill: str, semantic: Semantic, names: Names) -> None:
    """What a skill declares must be predicates here, or it would fail at every call."""
    for declared in sorted({*(a.predicate for a in semantic.assertions), *(q.predicate for q in semantic.queries)}):
        try:
            names.node(declared, "predicate")
        except GraphError as error:
            raise CortexError("manifest_invalid", f"{skill}: {error.message}", hint=error.hint) from error


def bundled(sources: Mapping[str, str], entry: str) -> str:
    """The skill's code as one JavaScript module.

    Raises:
        CortexError: `transpile_error`, with file, line and column.

    """
    try:
        return bundle(sources, entry)
    except TranspileError as error:
        place = f"{error.file}:{error.line}:{error.column}: " if error.frames else ""
        raise CortexError(
            "transpile_error",
            f"{place}{error.message}",
            hint="a skill imports only what lies in its own folder" if "resolve" in error.message else "",
            details=error.details,
        ) from error
    except SandboxError as error:
        raise CortexError(error.code, f"{entry} could not be bundled: {error.message}") from error
    except ValueError as error:
        hint = "name source files in letters, digits, - and _, with an ending in small letters"
        raise CortexError("transpile_error", f"{entry} could not be bundled: {error}", hint=hint) from error


def refuse_critical(skill: str, findings: Iterable[Finding]) -> None:
    """Refuse a skill that the scanner has critical findings about.

    Raises:
        CortexError: `scan_rejected`, with the findings.

    """
    critical = [finding for finding in findings if finding.severity == "critical"]
    if not critical:
        return
    first = critical[0]
    more = f" (and {len(critical) - 1} more)" if len(critical) > 1 else ""
    raise CortexError(
        "scan_rejected",
        f"{skill} is refused: {first.file}:{first.line}:{first.column}: {first.message} [{first.rule}]{more}",
        hint=first.hint,
        details={"findings": [finding.to_json() for finding in critical]},
    )
