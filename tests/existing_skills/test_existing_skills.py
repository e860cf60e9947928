"""Skills in the form of the original system load unchanged and answer; so do their tests in the form of vitest.

The skills in `skills/` are written for these tests, in the forms of ApiliumCode/mayros: `user-invocable`, no
`semantic.version`, `skillVersion: 1`, headings such as `## Instructions`, `context.logger` and `context.graphClient`,
results as `{subject, object}` or annotated, and texts that a defensive skill searches for.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cortex_skills import CortexError, Plugin
from cortex_skills.features.skill_testing.runner import TestRun
from tests.configs import config

SKILLS = Path(__file__).parent / "skills"
NAMES = sorted(folder.name for folder in SKILLS.iterdir())
PREDICATES = {
    "endpoint-watch": "endpoint:up",
    "flaw-finder": "flaw:found",
    "graph-sync": "sync:conflict",
    "identity-check": "identity:level",
    "package-watch": "package:state",
    "review-notes": "review:note",
}


@pytest.mark.parametrize("name", NAMES)
def test_a_skill_loads_unchanged_and_hides_no_triple_that_it_annotates(name: str) -> None:
    with Plugin.open(config(), agent="a1") as plugin:
        plugin.load(SKILLS / name)
        (status,) = plugin.status()["skills"]
        assert (status["fault"], status["degraded"]) == (None, None)
        for subject, text in (("identity:1", "200 CVE error"), ("identity:2", "timeout")):
            arguments = {"subject": subject, "predicate": PREDICATES[name], "object": text}
            assert plugin.call("skill_assert", arguments).code is None
        result = plugin.call("skill_graph_query", {"predicate": PREDICATES[name], "scope": "namespace"})
        assert result.details["enrichment"]["status"] in ("ok", "stripped")  # text of an unsigned skill is stripped
        assert sorted(match["object"] for match in result.details["matches"]) == ["200 CVE error", "timeout"]
        assert result.text.startswith("2 triples found:")


def test_activation_writes_to_the_graph_through_its_context() -> None:
    with Plugin.open(config(), agent="a1") as plugin:
        plugin.load(SKILLS / "graph-sync")
        (written,) = plugin.graph.list_triples({"predicate": "sync:lastActivated"})["triples"]
        assert written["subject"] == "mayros:agent:a1"


@pytest.mark.parametrize("name", NAMES)
def test_its_tests_in_the_form_of_vitest_pass(name: str) -> None:
    report = TestRun(config(), SKILLS / name).run()
    assert [(outcome.name, outcome.status, outcome.error) for outcome in report.outcomes] == [
        (outcome.name, "passed", None) for outcome in report.outcomes
    ]
    assert report.outcomes
    assert all(outcome.name.startswith(f"{name} > ") for outcome in report.outcomes)


def test_a_signature_of_the_original_system_is_named_in_the_error(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(SKILLS / "flaw-finder", tmp_path / "flaw-finder"))
    with (
        Plugin.open(config(verification={"requireSignature": True})) as plugin,
        pytest.raises(CortexError) as refused,
    ):
        plugin.load(folder)
    assert refused.value.code == "signature_invalid"
    assert "SKILL.sig has the format of Mayros" in refused.value.message
    assert "cortex-skills sign" in refused.value.hint


VITEST = """import { afterEach, beforeEach, describe, expect, it, test, vi } from "vitest";

let calls: string[] = [];
beforeEach(() => void calls.push("file"));

describe("outer", () => {
  beforeEach(async () => void calls.push("outer"));
  afterEach(() => void (calls = []));

  it("runs hooks from the outside in", () => expect(calls).toEqual(["file", "outer"]));
  it.each([[1, 2], [2, 4]])("doubles %d to %d", (given: number, wanted: number) => expect(given * 2).toBe(wanted));
  it.skip("is skipped", () => expect(1).toBe(2));
  describe.skip("all of it", () => it("is skipped too", () => expect(1).toBe(2)));
});

test("matchers hold", async () => {
  expect({ a: 1, b: undefined }).toEqual({ a: 1 });
  expect({ a: 1, b: undefined }).not.toStrictEqual({ a: 1 });
  expect({ a: { b: [1, 2] }, c: 3 }).toMatchObject({ a: { b: [1, expect.any(Number)] } });
  expect([{ id: 1, x: 2 }]).toEqual([expect.objectContaining({ id: 1 })]);
  expect({ a: { b: [{ c: null }] } }).toHaveProperty("a.b[0].c", null);
  expect(["a", "b"]).toContain("b");
  expect("abc").toMatch(/^a.c$/);
  expect(0.1 + 0.2).toBeCloseTo(0.3);
  expect(() => { throw new TypeError("no way"); }).toThrow("no");
  await expect(Promise.reject(new Error("late"))).rejects.toThrow(/late/);
  await expect(Promise.resolve(4)).resolves.toBeGreaterThan(3);
  const spy = vi.fn().mockResolvedValueOnce(1).mockReturnValue(2);
  expect([await spy("x"), spy()]).toEqual([1, 2]);
  expect(spy).toHaveBeenCalledTimes(2);
  expect(spy).toHaveBeenCalledWith("x");
});

test("a failure names the values", () => expect({ a: 1 }).toEqual({ a: 2 }));
test("a failed negation", () => expect([1]).not.toHaveLength(1));
test("a missing part of vitest", () => (vi as any).useFakeTimers());
test("the wrong settlement", () => expect(Promise.resolve(1)).rejects.toThrow());
"""


def test_the_form_of_vitest_passes_fails_and_skips_as_there(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(SKILLS / "identity-check", tmp_path / "identity-check"))
    (folder / "skill.test.ts").write_text(VITEST)
    report = TestRun(config(), folder).run()
    assert [(outcome.name, outcome.status) for outcome in report.outcomes] == [
        ("outer > runs hooks from the outside in", "passed"),
        ("outer > doubles 1 to 2", "passed"),
        ("outer > doubles 2 to 4", "passed"),
        ("outer > is skipped", "skipped"),
        ("outer > all of it > is skipped too", "skipped"),
        ("matchers hold", "passed"),
        ("a failure names the values", "failed"),
        ("a failed negation", "failed"),
        ("a missing part of vitest", "failed"),
        ("the wrong settlement", "failed"),
    ]
    messages = [outcome.error.message for outcome in report.outcomes if outcome.error is not None]
    assert messages[0] == 'expected {"a":1} toEqual {"a":2}'
    assert messages[1] == "expected [1] not toHaveLength 1"
    assert "not a function" in messages[2]
    assert messages[3] == "the promise resolves with 1"
