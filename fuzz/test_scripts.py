"""Every hostile script has a typed outcome within its limits, and affects nothing outside of its sandbox."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from .harness import DEEP, INLINE, MOST_BYTES, Outcome, Script, all_scripts, run, still_sound

ALL = all_scripts()
# An endless script is stopped at its deadline with any size of the stack.
ENDING = [script for script in ALL if script.category != "time"]
STACK = [script for script in ALL if script.category == "stack"]
# On a deep stack, those that use it, and some of all others: `make fuzz` runs many more.
DEEPENED = STACK + [script for script in ENDING if script.category != "stack"][::3]
ROOT = Path(__file__).parents[1]


def check(script: Script, outcome: Outcome) -> None:
    assert outcome.ended in script.expected, outcome
    assert outcome.seconds <= script.most_seconds, outcome
    assert outcome.grown_bytes is None or outcome.grown_bytes <= MOST_BYTES, outcome
    assert still_sound()


def test_there_are_scripts_of_every_category() -> None:
    count = Counter(script.category for script in ALL)
    assert set(count) == {"time", "memory", "stack", "escape", "crashers"}
    assert min(count.values()) > 50


@pytest.mark.parametrize("script", ALL, ids=lambda script: script.name)
def test_a_hostile_script_has_its_expected_outcome(script: Script) -> None:
    check(script, run(script, INLINE))


@pytest.mark.parametrize("script", STACK, ids=lambda script: script.name)
def test_a_runaway_recursion_has_its_expected_outcome_on_a_deep_stack(script: Script) -> None:
    check(script, run(script, DEEP))


@pytest.mark.parametrize("stack_kib", [0, 256, 1024, 8192])
def test_a_runaway_recursion_has_its_expected_outcome_on_a_thread_of_any_size(stack_kib: int) -> None:
    wrong: list[tuple[str, str]] = []

    def go() -> None:
        for script in STACK[::4]:
            outcome = run(script, INLINE)
            if outcome.ended not in script.expected:
                wrong.append((script.name, outcome.ended))

    before = threading.stack_size(stack_kib << 10)
    try:
        thread = threading.Thread(target=go)
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    assert wrong == []


@pytest.mark.extended
@pytest.mark.slow
@pytest.mark.timeout(800)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork: each script runs in its own process")
def test_a_hostile_script_has_its_expected_outcome_on_a_deep_stack_in_its_own_process() -> None:
    def work(scripts: list[Script]) -> list[str]:
        command = [sys.executable, "-m", "fuzz.worker", str(DEEP), *(s.name for s in scripts)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=750)
        return done.stdout.splitlines()

    with ThreadPoolExecutor(2) as pool:
        lines = [line for part in pool.map(work, (DEEPENED[::2], DEEPENED[1::2])) for line in part]
    reported = {answer["name"]: answer for answer in map(json.loads, lines)}
    assert set(reported) == {script.name for script in DEEPENED}
    wrong = [
        answer
        for script in DEEPENED
        if (answer := reported[script.name])["ended"] not in script.expected
        or not answer["sound"]
        or answer["seconds"] > script.most_seconds
        or (answer["grown"] or 0) > MOST_BYTES
    ]
    assert wrong == []
