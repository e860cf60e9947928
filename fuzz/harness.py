"""Hostile scripts: reads them, runs them, and returns their outcomes.

Rules kept here:
- a script is a file with its expected outcome in the first line: `// expect: timeout`, `memory`, `error NAME`,
  `value JSON`, or `stopped` (the engine stopped with a typed error, and the sandbox is dead); several outcomes,
  separated by `|`, only where the engine may choose;
- `// as: module` loads it as a module and calls its `run`; `// source: repeat N "text" in "before" "after"` generates
  the source, for sources of megabytes;
- every script gets the same host functions and must have a typed outcome.
"""

from __future__ import annotations

import gc
import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cortex_sandbox import Limits, Promised, Sandbox, SandboxError, SandboxMemoryError, SandboxTimeout, remaining_s

SCRIPTS = Path(__file__).parent / "scripts"
INLINE, DEEP = 256 << 10, 512 << 10
MEMORY_BYTES = 8 << 20
TIMEOUT_S = 0.2
# For an endless script.
ENDLESS_S = 0.1
# For a script that must end within its limit on any machine.
PATIENT_S = 60.0
MOST_BYTES = MEMORY_BYTES + (32 << 20)
_MOST_RUNS = 8

_REPEAT = re.compile(r'repeat (\d+) ("(?:[^"\\]|\\.)*") in ("(?:[^"\\]|\\.)*") ("(?:[^"\\]|\\.)*")$')


@dataclass(frozen=True, slots=True)
class Script:
    """One hostile script and its expected outcomes."""

    name: str
    source: str
    expected: frozenset[str]
    is_module: bool

    @property
    def category(self) -> str:
        """Its folder."""
        return self.name.partition("/")[0]

    @property
    def timeout_s(self) -> float:
        """Its time limit."""
        if self.expected == {"timeout"}:
            return ENDLESS_S
        return TIMEOUT_S if "timeout" in self.expected else PATIENT_S

    @property
    def most_seconds(self) -> float:
        """The maximum run time: its limit, a tenth, and an allowance for a busy machine."""
        return self.timeout_s * 1.1 + 0.1


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a run.

    Attributes:
        ended: `timeout`, `memory`, `error NAME`, `value JSON` or `stopped`.
        message: the message of the error.
        alive: whether the sandbox can be used again.
        seconds: the wall-clock time.
        grown_bytes: the growth of the resident memory at its peak; None where the system does not report it.

    """

    ended: str
    message: str
    alive: bool
    seconds: float
    grown_bytes: int | None


class Refusal(Exception):
    """An error of a host function that is meant for the guest."""

    code = "refused"


def read_script(path: Path) -> Script:
    """The script in a file."""
    lines = path.read_text(encoding="utf-8").splitlines()
    header = [line[3:] for line in lines if line.startswith("// ")]
    first, _, expected = lines[0].partition("// expect: ")
    if first or not expected:
        raise ValueError(f"{path} does not start with its expected outcome")
    source = "\n".join(lines)
    for line in header:
        if line.startswith("source: "):
            source = _generated(line.removeprefix("source: "))
    name = path.relative_to(SCRIPTS).with_suffix("").as_posix()
    return Script(name, source, frozenset(expected.split(" | ")), "as: module" in header)


def _generated(recipe: str) -> str:
    match = _REPEAT.match(recipe)
    if match is None:
        raise ValueError(f"not a recipe for a source text: {recipe}")
    count, text, before, after = (json.loads(part) for part in match.groups())
    return str(before + text * count + after)


def all_scripts() -> list[Script]:
    """Every script, by name."""
    return [read_script(path) for path in sorted(SCRIPTS.rglob("*.js"))]


def make_sandbox(stack_bytes: int = INLINE, timeout_s: float = TIMEOUT_S) -> Sandbox:
    """A sandbox with small limits and host functions of every kind."""
    box: Sandbox

    def slow(milliseconds: float) -> None:
        time.sleep(min(milliseconds / 1000, remaining_s()))

    def fail(reason: str) -> None:
        raise Refusal(reason)

    def boom(*_: object) -> None:
        raise ValueError("secret-of-the-host")

    host: dict[str, Callable[..., Any] | Promised] = {
        "echo": lambda *arguments: list(arguments),
        "later": Promised(lambda *arguments: list(arguments)),
        "sum": lambda a, b: a + b,
        "slow": slow,
        "fail": fail,
        "boom": boom,
        "reenter": lambda source: box.evaluate(source),
        "shut": lambda: box.close(),
        "group.id": lambda value: value,
    }
    limits = Limits(memory_bytes=MEMORY_BYTES, stack_bytes=stack_bytes, timeout_s=timeout_s)
    box = Sandbox(limits, host=host)
    return box


def run(script: Script, stack_bytes: int = INLINE) -> Outcome:
    """Run a script in a new sandbox, and again when it was late, since the machine may be busy."""
    gc.disable()  # a collection of the objects of other tests would count as run time
    try:
        for _ in range(_MOST_RUNS):
            outcome = _run(script, stack_bytes)
            if outcome.seconds <= script.most_seconds:
                break
        return outcome
    finally:
        gc.enable()


def _run(script: Script, stack_bytes: int) -> Outcome:
    with make_sandbox(stack_bytes, script.timeout_s) as box:
        before = reset_peak_bytes()
        started = time.monotonic()
        ended, message = _ending(box, script)
        seconds = time.monotonic() - started
        peak = peak_bytes()
        grown = None if before is None or peak is None else max(0, peak - before)
        return Outcome(ended, message, box.alive, seconds, grown)


def _ending(box: Sandbox, script: Script) -> tuple[str, str]:
    try:
        if script.is_module:
            box.load_module(script.source, "skill.js")
            value = box.call("run")
        else:
            value = box.evaluate(script.source, "script.js")
    except SandboxTimeout as error:
        return "timeout", error.message
    except SandboxMemoryError as error:
        return "memory", error.message
    except SandboxError as error:
        return (f"error {error.name}" if box.alive else "stopped"), error.message
    return "value " + json.dumps(value, separators=(",", ":"), ensure_ascii=False), ""


def still_sound() -> bool:
    """Whether a new sandbox works."""
    with make_sandbox(timeout_s=60.0) as box:
        return bool(box.evaluate("echo([6, 7].reduce((a, b) => a * b), `${{}}`, JSON.parse('[1]'))[0]") == 42)


def _status_bytes(field: str) -> int | None:
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    match = re.search(rf"^{field}:\s+(\d+) kB$", status, re.MULTILINE)
    return int(match[1]) << 10 if match else None


def reset_peak_bytes() -> int | None:
    """Reset the peak of the resident memory; the current value, or None where the system does not support it."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return None
    return _status_bytes("VmRSS")


def peak_bytes() -> int | None:
    return _status_bytes("VmHWM")
