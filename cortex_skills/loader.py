"""A skill's folder → a running skill: read, verify, scan, transpile, sandbox, activate.

Rules kept here:
- the folder is read once, into memory: what is scanned is what is bundled is what runs, whatever happens on the disk
  meanwhile (only in the direct mode Node.js reads it again);
- each step refuses with an error of its own, and nothing of a refused skill is left running;
- a folder of skills is loaded in the order of their dependencies, all of them or none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from cortex_graph import GraphError, Names, NamespacedGraph
from cortex_sandbox import SandboxError, TranspileError, bundle
from cortex_skills.boxes import Program
from cortex_skills.bridge import GraphBridge
from cortex_skills.config import Config
from cortex_skills.errors import CortexError
from cortex_skills.limits import Budgets
from cortex_skills.manifest import Manifest, Semantic, load_manifest, load_order
from cortex_skills.runtime import Session, SkillRuntime
from cortex_skills.scanner import Finding, read_sources, scan_sources
from cortex_skills.skill import Skill

MANIFEST = "SKILL.md"
ENTRIES = ("skill.ts", "skill.js")
_MAX_SHOWN = 300
UNREADABLE = frozenset({"syntax-error", "ambiguous-syntax"})


@dataclass(frozen=True)
class Loader:
    """Makes skills run in one host.

    Attributes:
        config: of the plugin.
        graph: the namespaced graph of the host.
        budgets: of the session.
        session: where the skills run.

    """

    config: Config
    graph: NamespacedGraph
    budgets: Budgets
    session: Session

    def load(self, path: Path, active: Mapping[str, Skill]) -> list[Skill]:
        """Load a skill's folder, or every skill of a folder of them.

        Args:
            path: a folder with a SKILL.md, or a folder of such folders.
            active: the skills that are there already; dependencies may be among them.

        Raises:
            CortexError: with the code of the step that refused; nothing is left running then.

        """
        folders = skill_folders(path)
        manifests = {folder: load_manifest(folder) for folder in folders}
        for folder, manifest in manifests.items():
            self._check(manifest, folder, active)
        places = {manifest.name: folder for folder, manifest in manifests.items()}
        order = load_order(manifests.values(), [skill.manifest for skill in active.values()])
        loaded: list[Skill] = []
        try:
            loaded.extend(self._start(manifest, places[manifest.name]) for manifest in order)
        except BaseException:
            for skill in reversed(loaded):
                if skill.runtime is not None:
                    skill.runtime.close("unload")
            raise
        return loaded

    def _check(self, manifest: Manifest, folder: Path, active: Mapping[str, Skill]) -> None:
        if manifest.semantic is None:
            raise CortexError(
                "manifest_invalid",
                f"{folder} holds a skill without a semantic block, which has nothing to run here",
                hint="add type: semantic and a semantic block to its SKILL.md",
            )
        _check_predicates(manifest.name, manifest.semantic, self.graph.names)
        if manifest.name in active:
            raise CortexError(
                "invalid_arguments", f"the skill {manifest.name} is loaded already", hint="unload it first"
            )

    def _start(self, manifest: Manifest, folder: Path) -> Skill:
        if manifest.semantic is None:
            raise ValueError(f"{manifest.name} is no semantic skill")
        if self.config.verification.require_signature:
            raise CortexError(
                "signature_required",
                f"{manifest.name} cannot be verified: this version has no signatures of skills",
                hint="set verification.requireSignature to false to load skills that nobody has signed",
            )
        sources, findings = read_sources(folder)
        if self.config.verification.auto_scan:
            findings = [*findings, *scan_sources(sources)]
        entry = next((name for name in ENTRIES if name in sources), None)
        code = self._checked(manifest.name, sources, findings, entry)
        runtime = (
            None if entry is None else self._run(manifest, Program(code, folder, entry, self.config.skill_sandbox))
        )
        return Skill(manifest, manifest.semantic, folder, runtime)

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
            self.budgets,
            self.session.agent,
            strict_declarations=self.config.strict_declarations,
        )
        return SkillRuntime(manifest.name, program, bridge, self.session)


def _check_predicates(skill: str, semantic: Semantic, names: Names) -> None:
    """What a skill declares must be predicates here, or it would fail at every call."""
    for declared in sorted({*(a.predicate for a in semantic.assertions), *(q.predicate for q in semantic.queries)}):
        try:
            names.node(declared, "predicate")
        except GraphError as error:
            raise CortexError("manifest_invalid", f"{skill}: {error.message}", hint=error.hint) from error


def skill_folders(path: Path) -> list[Path]:
    """The folders that hold a skill: the path itself, or those directly in it.

    Raises:
        CortexError: `manifest_invalid` when there is none.

    """
    try:
        if (path / MANIFEST).exists() or (path / MANIFEST).is_symlink():
            return [path]
        inside = sorted(child for child in path.iterdir() if not child.name.startswith("."))
        folders = [child for child in inside if (child / MANIFEST).is_file()]
    except (OSError, ValueError) as error:  # a ValueError: a path that holds a NUL
        reason = getattr(error, "strerror", None) or error
        raise CortexError(
            "manifest_invalid", f"{str(path)[:_MAX_SHOWN]!r} cannot be read: {reason}", hint="name a skill's folder"
        ) from None
    if not folders:
        raise CortexError(
            "manifest_invalid",
            f"{path} holds no {MANIFEST}, and neither does a folder in it",
            hint="name a skill's folder, or a folder of them",
        )
    return folders


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
