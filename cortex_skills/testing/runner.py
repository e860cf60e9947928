"""Runs the tests of a skill.

Rules kept here:
- a test file runs in a sandbox with the limits of a skill, after the same scan; it may import the skill's own files;
- each test has a sandbox, a plugin and a graph in memory of its own: no test sees what another one did;
- what a test calls passes `Plugin.call`, with the skill loaded as any host loads it;
- what goes wrong in a test is an outcome, with its place in the file that its author wrote; nothing is raised.
"""

from __future__ import annotations

import json
import re
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
from cortex_skills.boxes import Program
from cortex_skills.config import Config
from cortex_skills.errors import CortexError, as_ours
from cortex_skills.loader import UNREADABLE, bundled, refuse_critical
from cortex_skills.plugin import Plugin
from cortex_skills.reading import Reading, read_skill
from cortex_skills.scanner import Finding, scan_sources
from cortex_skills.testing.report import Outcome, TestReport
from cortex_skills.testing.seeds import Seeds

_PRELUDE = "cortex-test-prelude.ts"
_ENTRY = "cortex-test-entry.ts"
_SAID = re.compile(r'\n\n<skill-enrichment type="data">\n(.*)\n</skill-enrichment>\Z', re.DOTALL)
_MAX_LOGS, _MAX_TESTS = 200, 1000

Tell = Callable[[Outcome], None]
Functions = Mapping[str, Promised]


@dataclass(frozen=True)
class TestRun:
    """How the tests of a skill are run.

    Attributes:
        config: the host's; its store is not used.
        folder: the skill's.
        needed: folders of skills that it depends on.
        name_part: only tests whose name or file holds this.
        agent: on whose behalf.

    """

    __test__ = False  # no test of pytest's

    config: Config
    folder: Path
    needed: Sequence[Path] = ()
    name_part: str = ""
    agent: str = "default"

    def run(self, tell: Tell = lambda _: None) -> TestReport:
        """Run them all; `tell` hears of each when it is over."""
        reading = read_skill(self.folder)
        outcomes = []
        for outcome in self._outcomes(reading):
            outcomes.append(outcome)
            tell(outcome)
        return TestReport(reading.name, tuple(outcomes))

    def _outcomes(self, reading: Reading) -> Iterator[Outcome]:
        try:
            if reading.error is not None:
                raise reading.error
            findings = [*reading.findings, *scan_sources({**reading.sources, **reading.tests})]
            # What only does not parse is left to the bundler first, which tells an author better what is wrong.
            refuse_critical(reading.name, [finding for finding in findings if finding.rule not in UNREADABLE])
        except CortexError as error:
            yield Outcome("SKILL.md" if reading.error else "", "", "failed", error=error)
            return
        seeds = Seeds(self.config, self.folder)
        seeds.prepare(reading.tests.values())
        for file in sorted(reading.tests):
            yield from self._file(reading, file, seeds, findings)

    def _file(self, reading: Reading, file: str, seeds: Seeds, findings: Sequence[Finding]) -> Iterator[Outcome]:
        """The tests of one file."""
        started = time.monotonic()
        sources = {**reading.sources, **reading.tests}
        try:
            code = _bundled(sources, file)
            refuse_critical(reading.name, findings)
            with self._box(code, {}) as box:
                declared = box.call("list", timeout_s=self._timeout_s)
            tests = list(enumerate(_declared(declared)))
        except Exception as error:
            yield Outcome(file, "", "failed", time.monotonic() - started, _as_ours(error, sources, file))
            return
        only = any(entry.mode == "only" for _, entry in tests)
        for index, entry in tests:
            if self.name_part and self.name_part not in entry.name and self.name_part not in file:
                continue
            if entry.mode == "skip" or (only and entry.mode != "only"):
                yield Outcome(file, entry.name, "skipped")
            else:
                offer = partial(_offered, reading=reading, seeds=seeds)
                yield self._test(code, sources, offer, Outcome(file, entry.name, "passed"), index)

    def _test(
        self, code: str, sources: Mapping[str, str], offer: Callable[[Plugin], Functions], outcome: Outcome, index: int
    ) -> Outcome:
        started = time.monotonic()
        logs: list[str] = []
        error: CortexError | None = None
        try:
            with Plugin.open(self.config, agent=self.agent, developing=[self.folder]) as plugin:
                for folder in (*self.needed, self.folder):
                    if not _is_loaded(plugin, folder):
                        plugin.load(folder)
                with self._box(code, offer(plugin), logs) as box:
                    box.call("run", index, timeout_s=self._timeout_s)
        except Exception as problem:
            error = _as_ours(problem, sources, outcome.file, outcome.name)
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
        settings = replace(self.config.skill_sandbox, sandbox_enabled=True)  # tests are sandboxed, whatever skills are
        program = Program(code, self.folder, _ENTRY, settings)
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
    """The tests of a file, as its own code lists them: it may have changed what it found there."""
    try:
        tests = [_Declared(entry["name"], entry["mode"]) for entry in listed[:_MAX_TESTS]]
    except (KeyError, TypeError):
        tests = [_Declared("", "none")]
    if all(isinstance(test.name, str) and test.mode in ("", "only", "skip") for test in tests):
        return tests
    raise CortexError("skill_error", "the file has changed what lists its tests", hint="leave `test` as it is")


_NAMES = ("call", "load", "add", "triples")


def _nothing(*_: Any) -> None:
    raise ValueError("there is no graph outside of a test: use t inside of test(…)")


def _offered(plugin: Plugin, *, reading: Reading, seeds: Seeds) -> Functions:
    """What a test can do to the world, which is its own."""

    def call(tool: Any = None, arguments: Any = None, agent: Any = None, *_: Any) -> dict[str, Any]:
        result = plugin.call(tool, arguments, skill=reading.name, agent=agent)
        block = _SAID.search(result.text)
        return {**result.to_json(), "said": None if block is None else _read(block[1])}

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


def _read(text: str) -> Any:
    """What a skill said: JSON, or else the text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _is_loaded(plugin: Plugin, folder: Path) -> bool:
    return any(skill.folder.resolve() == folder.resolve() for skill in plugin.skills.values())


def _bundled(sources: Mapping[str, str], file: str) -> str:
    """A test file behind the prelude, as one module."""
    prelude = resources.files(__package__).joinpath("prelude.ts").read_text(encoding="utf-8")
    path = json.dumps(f"./{file}")
    entry = f'import suite from "./{_PRELUDE}";\nimport {path};\nexport default suite;\n'
    return bundled({**sources, _PRELUDE: prelude, _ENTRY: entry}, _ENTRY)


def _as_ours(error: Exception, sources: Mapping[str, str], file: str, name: str = "") -> CortexError:
    """A failure of a test, with its place in the author's own files."""
    if not isinstance(error, SandboxError):
        return as_ours(f"testing {file}", error)
    frames = tuple(frame for frame in error.frames if frame.file in sources)
    frames = frames or _declaration(sources[file], file, name)
    details: dict[str, Any] = {**error.details, "excerpt": excerpt(frames, sources)}
    details["frames"] = [{"function": f.function, "file": f.file, "line": f.line, "column": f.column} for f in frames]
    message = error.message if error.name == "AssertionError" else str(error)
    hint = "a test has skillSandbox.executionTimeoutMs" if error.code == "skill_timeout" else ""
    return CortexError(error.code, message, hint=hint, details=details)


def _declaration(text: str, file: str, name: str) -> tuple[Frame, ...]:
    """Where a test is declared, as far as its name stands there as it is: for a failure without a place of its own."""
    for number, line in enumerate(text.split("\n"), 1):
        if name and "test" in line and (found := line.find(name)) >= 0:
            return (Frame("", file, number, len(line[:found].encode("utf-16-le", "surrogatepass")) // 2 + 1),)
    return ()
