"""Run the tests of a skill.

Rules kept here:
- a test file is scanned and runs in a sandbox with the limits of a skill; it may import the files of the skill;
- each test has its own sandbox, plugin and graph in memory: tests do not share state;
- the calls of a test pass `Plugin.call`, with the skill loaded as in any host;
- a hook of the skill that fails during a call fails the call, so that a test does not pass beside it;
- a failure is an outcome, with its location in the source file; nothing is raised.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any

from cortex_sandbox import Box, Frame, Promised, SandboxError
from cortex_sandbox.excerpt import excerpt
from cortex_skills.config.settings import Config
from cortex_skills.enrichment import read_block
from cortex_skills.errors import CortexError, as_ours
from cortex_skills.features.skill_testing.report import TestOutcome, TestReport
from cortex_skills.features.skill_testing.seeds import Seeds
from cortex_skills.lifecycle.loader import UNREADABLE, bundled, refuse_critical
from cortex_skills.plugin import Plugin
from cortex_skills.runtime.program import SkillProgram
from cortex_skills.scanner import Finding, scan_sources
from cortex_skills.skill_folder.snapshot import SkillSnapshot, read_skill

_PRELUDE = "cortex-test-prelude.ts"
_VITEST = "cortex-test-vitest.ts"
_ENTRY = "cortex-test-entry.ts"
_OWN_FILES = {_PRELUDE: "prelude.ts", _VITEST: "vitest.ts"}
_MAX_LOGS, _MAX_TESTS = 200, 1000

Report = Callable[[TestOutcome], None]
Functions = Mapping[str, Promised]


@dataclass(frozen=True)
class TestRun:
    """Settings of a run of the tests of one skill.

    Attributes:
        config: of the host.
        folder: of the skill.
        needed: folders of skills that it depends on.
        name_part: only tests whose name or file contains this text.
        agent: the agent id of the calls.
    """

    __test__ = False  # not a test class of pytest

    config: Config
    folder: Path
    needed: Sequence[Path] = ()
    name_part: str = ""
    agent: str = "default"

    def run(self, report: Report = lambda _: None) -> TestReport:
        """Run all tests; `report` is called with each outcome when its test ends."""
        snapshot = read_skill(self.folder)
        outcomes = []
        for outcome in self._outcomes(snapshot):
            outcomes.append(outcome)
            report(outcome)
        return TestReport(snapshot.name, tuple(outcomes))

    def _outcomes(self, snapshot: SkillSnapshot) -> Iterator[TestOutcome]:
        try:
            if snapshot.error is not None:
                raise snapshot.error
            findings = [*snapshot.findings, *scan_sources({**snapshot.sources, **snapshot.tests})]
            # Syntax errors are left to the bundler, whose messages are better.
            refuse_critical(snapshot.name, [finding for finding in findings if finding.rule not in UNREADABLE])
        except CortexError as error:
            yield TestOutcome("SKILL.md" if snapshot.error else "", "", "failed", error=error)
            return
        seeds = Seeds(self.config, self.folder)
        seeds.prepare(snapshot.tests.values())
        for file in sorted(snapshot.tests):
            yield from self._file(snapshot, file, seeds, findings)

    def _file(
        self, snapshot: SkillSnapshot, file: str, seeds: Seeds, findings: Sequence[Finding]
    ) -> Iterator[TestOutcome]:
        """Run the tests of one file."""
        started = time.monotonic()
        sources = {**snapshot.sources, **snapshot.tests}
        try:
            code = _bundled(sources, file)
            refuse_critical(snapshot.name, findings)
            with self._box(code, {}) as box:
                declared = box.call("list", timeout_s=self._timeout_s)
            tests = list(enumerate(_declared(declared)))
        except Exception as error:
            yield TestOutcome(file, "", "failed", time.monotonic() - started, _as_ours(error, sources, file))
            return
        only = any(entry.mode == "only" for _, entry in tests)
        for index, entry in tests:
            if self.name_part and self.name_part not in entry.name and self.name_part not in file:
                continue
            if entry.mode == "skip" or (only and entry.mode != "only"):
                yield TestOutcome(file, entry.name, "skipped")
            else:
                offer = partial(_offered, snapshot=snapshot, seeds=seeds)
                yield self._test(code, sources, offer, TestOutcome(file, entry.name, "passed"), index)

    def _test(
        self,
        code: str,
        sources: Mapping[str, str],
        offer: Callable[[Plugin, list[CortexError]], Functions],
        outcome: TestOutcome,
        index: int,
    ) -> TestOutcome:
        started = time.monotonic()
        logs: list[str] = []
        failures: list[CortexError] = []
        error: CortexError | None = None
        try:
            with Plugin.open(self.config, agent=self.agent, developing=[self.folder], registers=False) as plugin:
                for folder in (*self.needed, self.folder):
                    if not _is_loaded(plugin, folder):
                        plugin.load(folder)
                for skill in plugin.skills.values():
                    if skill.runtime is not None and skill.runtime.degraded is not None:
                        raise skill.runtime.degraded
                with self._box(code, offer(plugin, failures), logs) as box:
                    box.call("run", index, timeout_s=self._timeout_s)
        except Exception as problem:
            error = next((failure for failure in failures if failure.message in str(problem)), None)
            error = error or _as_ours(problem, sources, outcome.file, outcome.name)
        return replace(
            outcome,
            status="failed" if error else "passed",
            seconds=time.monotonic() - started,
            error=error,
            logs=tuple(logs),
        )

    @property
    def _timeout_s(self) -> float:
        return self.config.skill_sandbox.execution_timeout_ms / 1000

    @contextmanager
    def _box(self, code: str, functions: Functions, logs: list[str] | None = None) -> Iterator[Box]:
        settings = replace(
            self.config.skill_sandbox, sandbox_enabled=True
        )  # tests run in the sandbox also in direct mode
        program = SkillProgram(code, self.folder, _ENTRY, settings)
        box = program.open(functions or {f"cortexTest.{name}": Promised(_nothing) for name in _NAMES})
        try:
            program.load(box, self._timeout_s)
            yield box
        finally:
            lines = [f"{line.level}: {line.text}" for line in box.take_logs()]
            if logs is not None:
                logs += lines[:_MAX_LOGS]
            box.close()


@dataclass(frozen=True, slots=True)
class _Declared:
    name: str
    mode: str


def _declared(listed: Any) -> list[_Declared]:
    """The tests that the code of a file declares. The code may have tampered with the list."""
    try:
        tests = [_Declared(entry["name"], entry["mode"]) for entry in listed[:_MAX_TESTS]]
    except (KeyError, TypeError):
        tests = [_Declared("", "none")]
    if all(isinstance(test.name, str) and test.mode in ("", "only", "skip") for test in tests):
        return tests
    raise CortexError("skill_error", "the file has changed the list of its tests", hint="do not assign to `test`")


_NAMES = ("call", "load", "add", "triples")


def _nothing(*_: Any) -> None:
    raise ValueError("there is no graph outside a test: use t inside test(…)")


def _offered(plugin: Plugin, failures: list[CortexError], *, snapshot: SkillSnapshot, seeds: Seeds) -> Functions:
    """The host functions of a test; the failures of hooks are added to `failures`."""

    def call(tool: Any = None, arguments: Any = None, agent: Any = None, *_: Any) -> dict[str, Any]:
        result = plugin.call(tool, arguments, skill=snapshot.name, agent=agent)
        enrichment = result.details.get("enrichment")
        if isinstance(enrichment, dict) and enrichment.get("status") == "failed":
            failures.append(
                CortexError(
                    enrichment["code"], enrichment["message"], hint=enrichment.get("hint", ""), details=enrichment
                )
            )
            raise failures[-1]
        return {**result.to_json(), "said": read_block(result.text)}

    def load(file: Any = None, *_: Any) -> int:
        if not isinstance(file, str):
            raise CortexError("invalid_arguments", "t.load takes the path of a file of the skill")
        return seeds.load(plugin.graph, file)

    def add(triple: Any = None, *_: Any) -> None:
        plugin.graph.create_triple(triple)

    def triples(pattern: Any = None, *_: Any) -> list[dict[str, Any]]:
        wanted = pattern if isinstance(pattern, Mapping) else {}
        found: list[dict[str, Any]] = plugin.graph.list_triples({"limit": 1000, **wanted})["triples"]
        return found

    functions: tuple[Callable[..., Any], ...] = (call, load, add, triples)
    return {f"cortexTest.{name}": Promised(function) for name, function in zip(_NAMES, functions, strict=True)}


def _is_loaded(plugin: Plugin, folder: Path) -> bool:
    return any(skill.folder.resolve() == folder.resolve() for skill in plugin.skills.values())


def _bundled(sources: Mapping[str, str], file: str) -> str:
    """The prelude and a test file as one module; an import of vitest gets the functions of that form."""
    folder = resources.files(__package__)
    own = {name: folder.joinpath(file).read_text(encoding="utf-8") for name, file in _OWN_FILES.items()}
    path = json.dumps(f"./{file}")
    entry = f'import suite from "./{_PRELUDE}";\nimport {path};\nexport default suite;\n'
    return bundled({**sources, **own, _ENTRY: entry}, _ENTRY, {"vitest": _VITEST})


def _as_ours(error: Exception, sources: Mapping[str, str], file: str, name: str = "") -> CortexError:
    """The failure of a test, with its location in the files of the skill."""
    if not isinstance(error, SandboxError):
        return as_ours(f"testing {file}", error)
    frames = tuple(frame for frame in error.frames if frame.file in sources)
    frames = frames or _declaration(sources[file], file, name)
    details: dict[str, Any] = {**error.details, "excerpt": excerpt(frames, sources)}
    details["frames"] = [{"function": f.function, "file": f.file, "line": f.line, "column": f.column} for f in frames]
    message = error.message if error.name == "AssertionError" else str(error)
    hint = "the limit of a test is skillSandbox.executionTimeoutMs" if error.code == "skill_timeout" else ""
    return CortexError(error.code, message, hint=hint, details=details)


def _declaration(text: str, file: str, name: str) -> tuple[Frame, ...]:
    """The line that declares a test, for a failure without a location; found by the name of the test."""
    for number, line in enumerate(text.split("\n"), 1):
        if name and "test" in line and (found := line.find(name)) >= 0:
            return (Frame("", file, number, len(line[:found].encode("utf-16-le", "surrogatepass")) // 2 + 1),)
    return ()
