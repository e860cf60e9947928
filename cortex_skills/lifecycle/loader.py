"""A skill's folder → a running skill: read, verify, scan, transpile, start in a sandbox, activate.

Rules kept here:
- the folder is read once, into memory: what is scanned is what is bundled and what runs, even if files change in
  the meantime (only in the direct mode Node.js reads it again);
- each step has its own error code, and nothing of a refused skill keeps running;
- a folder of skills is loaded in the order of their dependencies: all of them or none, or those that are in order;
- a skill near them that is not loaded, because it is deeper or its manifest has another name, is a warning;
- features get each semantic skill that started, unless it is being developed;
- a skill of agentskills.io without a semantic block is instructions and files: none of it is scanned or run, and it
  needs no signature, but one that it has must be valid;
- a start can be interrupted from another thread, so that closing a host does not wait for it.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from cortex_graph import GraphError, Names
from cortex_sandbox import SandboxError, TranspileError
from cortex_skills.errors import CortexError, as_ours
from cortex_skills.host import Host
from cortex_skills.manifest import Joining, Manifest, Semantic, load_order
from cortex_skills.manifest.model import ANY
from cortex_skills.runtime.host_functions import HostFunctions
from cortex_skills.runtime.program import SkillProgram
from cortex_skills.runtime.runtime import SkillRuntime, close_all
from cortex_skills.runtime.skill import PLAIN, Skill
from cortex_skills.safe_io.display import one_line
from cortex_skills.skill_folder.builtin import is_builtin
from cortex_skills.skill_folder.skipped import skipped_skills
from cortex_skills.skill_folder.snapshot import SkillSnapshot, is_developed, read_skill, skill_folders

if TYPE_CHECKING:
    from cortex_sandbox import Box
    from cortex_skills.scanner import Finding
    from cortex_skills.signatures import RevokedKey, Verifier
    from cortex_skills.signatures.statement import Signature
    from cortex_skills.skill_folder.rule_set import RuleSet

log = logging.getLogger(__name__)

ENTRIES = ("skill.ts", "skill.js")
UNREADABLE = frozenset({"syntax-error", "ambiguous-syntax"})


class Starting:
    """The sandbox in which a skill is starting, if there is one, so that another thread can interrupt the start."""

    def __init__(self) -> None:
        self._box: Box | None = None

    def __call__(self, box: Box | None) -> None:
        """Set the sandbox; None when the start has ended."""
        self._box = box

    def interrupt(self) -> None:
        """Interrupt the start, if there is one."""
        box = self._box
        if box is not None:
            box.interrupt()


@dataclass(frozen=True)
class Loader:
    """Starts skills in one host.

    Attributes:
        host: of the plugin.
        developing: folders that the user is writing, of skills or each of one; they need no publisher's signature.
        starting: the sandbox of the skill that is being started.
    """

    host: Host
    developing: Collection[Path] = ()
    starting: Starting = field(default_factory=Starting)

    def load(self, path: Path, active: Mapping[str, Skill]) -> list[Skill]:
        """Load a skill's folder, or every skill of a folder of them; dependencies may be active already.

        Raises:
            CortexError: with the code of the step that refused; nothing keeps running then.
        """
        snapshots = [read_skill(folder) for folder in _folders_in(path)]
        manifests = [self.checked(snapshot) for snapshot in snapshots]
        by_name = {manifest.name: snapshot for manifest, snapshot in zip(manifests, snapshots, strict=True)}
        for name in sorted(by_name.keys() & active.keys()):
            raise _loaded_already(active[name])
        order = load_order(manifests, [skill.manifest for skill in active.values()])
        loaded: list[Skill] = []
        try:
            for manifest in order:
                snapshot = by_name[manifest.name]
                try:
                    loaded.append(self.start(snapshot))
                except CortexError as error:
                    raise _with_folder(error, snapshot.folder) from error
        except BaseException:
            dispose(loaded)
            raise
        return loaded

    def load_sound(
        self, path: Path, active: Mapping[str, Skill]
    ) -> tuple[list[Skill], list[tuple[SkillSnapshot, CortexError]]]:
        """Load the skills of a folder that are in order, with the others and why they were refused.

        Raises:
            CortexError: `manifest_invalid`: there is no skill.
        """
        joining = Joining(skill.manifest for skill in active.values())
        loaded: dict[str, Skill] = {}
        refused: list[tuple[SkillSnapshot, CortexError]] = []
        pending = [read_skill(folder) for folder in _folders_in(path)]
        try:
            while True:  # a skill may be before its dependencies in the folder
                later: list[tuple[SkillSnapshot, CortexError]] = []
                for snapshot in pending:
                    try:
                        manifest = self.checked(snapshot)
                        if (other := active.get(manifest.name) or loaded.get(manifest.name)) is not None:
                            raise _loaded_already(other)
                        joining.check(manifest)
                    except CortexError as error:
                        later.append((snapshot, error))
                        continue
                    try:
                        loaded[manifest.name] = self.start(snapshot)
                        joining.add(manifest)
                    except Exception as error:
                        refused.append((snapshot, as_ours(f"loading {snapshot.name}", error)))
                if len(later) == len(pending):
                    return list(loaded.values()), [*refused, *later]
                pending = [snapshot for snapshot, _ in later]
        except BaseException:
            dispose(loaded.values())
            raise

    def expected(self, path: Path) -> dict[str, Skill]:
        """The skills of a folder whose manifests and signatures are in order; not scanned, and without their code.

        Raises:
            CortexError: `manifest_invalid`: there is no skill.
        """
        found: dict[str, Skill] = {}
        verifier = self._verifier()
        for snapshot in map(read_skill, skill_folders(path)):
            with suppress(CortexError):
                manifest = self.checked(snapshot)
                if verifier is not None and not is_builtin(snapshot.folder):
                    _verified(verifier, snapshot, manifest)
                self._check_model_signature(snapshot)
                folder, is_ours = snapshot.folder.absolute(), is_builtin(snapshot.folder)
                skill = Skill(manifest, manifest.semantic or PLAIN, folder, None, snapshot.digests, is_builtin=is_ours)
                found.setdefault(manifest.name, skill)
        return found

    def checked(self, snapshot: SkillSnapshot) -> Manifest:
        """The manifest of a skill's folder, when the skill could run here.

        Raises:
            CortexError: `manifest_invalid`.
        """
        if snapshot.manifest is None:
            raise snapshot.error or CortexError("manifest_invalid", f"{snapshot.folder} cannot be read")
        if snapshot.manifest.semantic is not None:
            _check_predicates(snapshot.manifest.name, snapshot.manifest.semantic, self.host.graph.names)
        return snapshot.manifest

    def start(self, snapshot: SkillSnapshot) -> Skill:
        """Verify, scan, bundle, load and activate a skill.

        Raises:
            CortexError: with the code of the step that refused; nothing keeps running then.
        """
        manifest = snapshot.manifest
        if manifest is None:
            raise ValueError(f"{snapshot.name} has no valid manifest")
        for warning in manifest.warnings:
            _warn_once(f"{snapshot.name}: {warning}")
        for signed_elsewhere in self.host.skill_signers:
            if (hashes := signed_elsewhere.hashes_of(snapshot)) is not None:
                return self._start(snapshot, manifest, hashes)
        verifier = None if is_builtin(snapshot.folder) else self._verifier()
        signature = _verified(verifier, snapshot, manifest) if verifier is not None else None
        self._check_model_signature(snapshot)
        signed, signer = (None, "") if signature is None else (signature.hashes(), signature.statement.key)
        skill = self._start(snapshot, manifest, signed, signer)
        if verifier is not None and signature is not None:
            try:
                self._remember(verifier, signature, manifest.name)
            except BaseException:
                dispose([skill])
                raise
        if manifest.semantic is not None and not is_developed(snapshot.folder, self.developing):
            for started in self.host.skills_started:
                started(snapshot)
        return skill

    def revoked(self, skills: Mapping[str, Skill]) -> Mapping[str, CortexError]:
        """The skills among these that may not run any more, and the error for a call of each.

        Their key was revoked, or what else signed them does not allow it any more.

        Raises:
            CortexError: `config_invalid`: the trust store cannot be used; `signature_invalid`: what the fleet trusts is
                not its owner's list.
        """
        if self.host.config.verification.owner:
            self.host.fleet.look()
        folders = {name: skill.folder for name, skill in skills.items()} if self.host.skill_signers else {}
        stopped = {name: error for each in self.host.skill_signers for name, error in each.stopped(folders).items()}
        if not self.host.config.verification.require_signature:
            return stopped
        revoked = self.host.fleet.file.trust().revoked
        return stopped | {
            name: _revoked(name, revoked[skill.signer]) for name, skill in skills.items() if skill.signer in revoked
        }

    def _remember(self, verifier: Verifier, signature: Signature, skill: str) -> None:
        """Store the version of a skill; a publisher that is trusted since its first skill is recorded."""
        from cortex_skills.signatures.named_keys import id_of

        if (pinned := verifier.remember(signature)) is not None:
            facts = {"object": pinned.name, "before": None, "after": f"{pinned.how}, {id_of(pinned.key)}"}
            self.host.audit.event("trust.pinned", skill=skill, facts=facts)

    def _start(
        self, snapshot: SkillSnapshot, manifest: Manifest, signed: Mapping[str, str] | None, signer: str = ""
    ) -> Skill:
        folder, semantic, config = snapshot.folder.absolute(), manifest.semantic, self.host.config
        origin: dict[str, Any] = {"signed": signed, "signer": signer, "is_builtin": is_builtin(snapshot.folder)}
        if semantic is None:
            return Skill(manifest, PLAIN, folder, None, snapshot.digests, **origin)
        rules = _rules(snapshot, manifest.name, semantic)
        findings = found_in(snapshot) if config.verification.auto_scan else list(snapshot.findings)
        entry = next((name for name in ENTRIES if name in snapshot.sources), None)
        code = self._checked(manifest.name, snapshot.sources, findings, entry)
        runtime = None
        if entry is not None:
            program = SkillProgram(code, snapshot.folder, entry, config.skill_sandbox)
            functions = HostFunctions(manifest, semantic, self.host)
            runtime = SkillRuntime(manifest.name, program, functions, self.host.session, starting=self.starting)
        return Skill(manifest, semantic, folder, runtime, snapshot.digests, rules=rules, **origin)

    def _verifier(self) -> Verifier | None:
        if not self.host.config.verification.require_signature:
            return None
        from cortex_skills.signatures import Verifier

        self.host.fleet.look()
        return Verifier.of(self.host.config, self.developing)

    def _check_model_signature(self, snapshot: SkillSnapshot) -> None:
        """Refuse an invalid `skill.oms.sig`, if keys are configured; a folder in development may differ from it."""
        keys = self.host.config.verification.model_keys
        if not keys or is_builtin(snapshot.folder) or is_developed(snapshot.folder, self.developing):
            return
        from cortex_skills.signatures.model_signing import check_model_signature

        check_model_signature(snapshot.folder, keys)

    def _checked(self, skill: str, sources: Mapping[str, str], findings: Iterable[Finding], entry: str | None) -> str:
        """The bundled code of a skill that passed the scanner; empty without code, and in the direct mode.

        Syntax errors are left to the bundler, whose messages are better, and refused after it.
        """
        critical = [finding for finding in findings if finding.severity == "critical"]
        if any(finding.rule not in UNREADABLE for finding in critical):
            refuse_critical(skill, critical)
        sandboxed = self.host.config.skill_sandbox.sandbox_enabled
        code = bundled(sources, entry) if entry is not None and sandboxed else ""
        refuse_critical(skill, critical)
        return code


@lru_cache(1_000)
def _warn_once(message: str) -> None:
    log.warning("%s", message)


def found_in(snapshot: SkillSnapshot) -> list[Finding]:
    """The findings in a skill's folder: in its sources and its manifest as they were read, and in its documents."""
    from cortex_skills.scanner import read_documents, scan_sources

    documents, findings = read_documents(snapshot.folder)
    known = [finding for finding in findings if finding not in snapshot.findings]
    scanned = scan_sources({**documents, **snapshot.manifest_texts, **snapshot.sources, **snapshot.tests})
    return [*snapshot.findings, *known, *scanned]


def _verified(verifier: Verifier, snapshot: SkillSnapshot, manifest: Manifest) -> Signature | None:
    """The valid signature of a skill; None for a skill without a semantic block that has none."""
    try:
        return verifier.check(snapshot, manifest)
    except CortexError as error:
        if error.code == "signature_required" and manifest.semantic is None:
            return None
        raise


def _revoked(name: str, key: RevokedKey) -> CortexError:
    why = f": {key.reason}" if key.reason else ""
    return CortexError(
        "signature_invalid",
        f"the key that signed {name} was revoked here on {key.since}{why}",
        hint="get a version that is signed with another key, or unload the skill",
        details={"key": key.key},
    )


def _with_folder(error: CortexError, folder: Path) -> CortexError:
    """The error of a skill, with its folder in the message, if that does not name it."""
    if folder.name in error.message:
        return error
    message = f"{error.message} (in {one_line(str(folder))})"
    return CortexError(error.code, message, hint=error.hint, details=error.details)


def _folders_in(path: Path) -> list[Path]:
    folders = skill_folders(path)
    for skipped in skipped_skills(path, folders):
        _warn_once(str(skipped))
    return folders


def _loaded_already(skill: Skill) -> CortexError:
    message = f"the skill {skill.name} is loaded already, from {skill.folder}"
    return CortexError("invalid_arguments", message, hint="unload it first, or load only one of the two")


def dispose(skills: Iterable[Skill], reason: str = "unload") -> None:
    """Close the runtimes of skills, in reverse order, within one time limit for all of them."""
    close_all([skill.runtime for skill in reversed(list(skills)) if skill.runtime is not None], reason)


def _rules(snapshot: SkillSnapshot, name: str, semantic: Semantic) -> RuleSet | None:
    if snapshot.shapes is None:
        return None
    from cortex_skills.skill_folder.rule_set import read_rules

    if not snapshot.shapes:
        hint = "write shapes into it, or remove it"
        raise CortexError("manifest_invalid", f"shapes.ttl of {name} is empty, or not a plain file", hint=hint)
    return read_rules(snapshot.shapes, f"skill:{name}", semantic.skill_version)


def _check_predicates(skill: str, semantic: Semantic, names: Names) -> None:
    """The declared predicates must be valid in this namespace, or every call with them would fail."""
    asserted = {assertion.predicate for assertion in semantic.assertions} - {ANY}
    for declared in sorted({*asserted, *(query.predicate for query in semantic.queries)}):
        try:
            names.node(declared, "predicate")
        except GraphError as error:
            raise CortexError("manifest_invalid", f"{skill}: {error.message}", hint=error.hint) from error


def bundled(sources: Mapping[str, str], entry: str, packages: Mapping[str, str] = MappingProxyType({})) -> str:
    """The skill's code as one JavaScript module; `packages` as in `bundle`.

    Raises:
        CortexError: `transpile_error`, with file, line and column.
    """
    from cortex_sandbox import bundle

    try:
        return bundle(sources, entry, packages=packages)
    except TranspileError as error:
        place = f"{error.file}:{error.line}:{error.column}: " if error.frames else ""
        raise CortexError(
            "transpile_error",
            f"{place}{error.message}",
            hint="a skill can import only files in its folder" if "resolve" in error.message else "",
            details=error.details,
        ) from error
    except SandboxError as error:
        raise CortexError(error.code, f"{entry} could not be bundled: {error.message}") from error
    except ValueError as error:
        hint = "name source files in letters, digits, - and _, with an ending in small letters"
        raise CortexError("transpile_error", f"{entry} could not be bundled: {error}", hint=hint) from error


def refuse_critical(skill: str, findings: Iterable[Finding]) -> None:
    """Refuse a skill with critical findings.

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
