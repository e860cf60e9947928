"""`test`: running the tests of real skills."""

import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex_skills import Plugin
from cortex_skills.errors import CortexError
from cortex_skills.features.skill_testing.report import TestOutcome, TestReport, junit
from tests.configs import config

DATA = '<urn:cortex:mayros:a> <urn:cortex:mayros:greets> "b" .\n'


@pytest.fixture
def tested(run, write_skill):
    """A function that runs a test file of a skill and returns the outcomes by test name."""

    def invoke(text, *words, env=None, **files):
        folder = write_skill(**{"skill.test.ts": text, "data.ttl": DATA, **files})
        answer = run("test", folder, "--json", *words, env=env)
        outcomes = {test["name"]: test for test in answer.json["skills"][0]["tests"]}
        return answer, outcomes

    return invoke


def test_a_test_calls_its_skill_through_the_gate_on_a_separate_graph(tested):
    answer, outcomes = tested("""
        test("sees the data", async (t) => {
          t.equal(await t.load("data.ttl"), 1);
          const answer = await t.query("greets");
          t.equal(answer.said, { seen: 1 });
          t.equal(answer.details.matches.length, 1);
        });
        test("sees nothing of the one before", async (t) => {
          t.equal((await t.triples()).length, 0);
          await t.add("a", "greets", "b");
          t.equal((await t.call("skill_graph_query", { subject: "a" }, "an-agent")).said, null);
        });
        test("is refused like an agent", async (t) => {
          const refused = await t.call("skill_assert", { subject: "a", predicate: "nope", object: 1 });
          t.equal(refused.code, "undeclared_predicate");
          t.equal((await t.call("no_tool")).code, "tool_not_found");
          t.equal((await t.query({ limit: "many" } as any)).code, "invalid_arguments");
          const made = await t.call("skill_assert", { subject: "a", predicate: "greets", object: "c" });
          t.ok(made.details.created);
          t.equal((await t.triples({ predicate: "greets" }))[0].object, "c");
        });
    """)
    assert {name: (test["status"], test["error"]) for name, test in outcomes.items()} == {
        "sees the data": ("passed", None),
        "sees nothing of the one before": ("failed", outcomes["sees nothing of the one before"]["error"]),
        "is refused like an agent": ("passed", None),
    }
    assert "not equal" in outcomes["sees nothing of the one before"]["error"]["message"]
    assert answer.exit_code == 1


def test_the_assertions_pass_and_fail_correctly(tested):
    answer, outcomes = tested("""
        const fails = async (t: any, body: () => any) => t.throws(body, "AssertionError");
        test("assertions", async (t: any) => {
          t.ok(1); t.equal({ a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }); t.equal(NaN, NaN); t.notEqual(0, -0);
          t.equal(new Map([[1, 2]]), new Map([[1, 2]])); t.notEqual(new Set([1]), new Set([2]));
          t.notEqual({ a: undefined }, {}); t.notEqual([1], { 0: 1 }); t.notEqual(null, {}); t.match("abc", /B/i);
          const ring: any = {}; ring.ring = ring; const other: any = {}; other.ring = other; t.equal(ring, other);
          await fails(t, () => t.ok(0)); await fails(t, () => t.equal(1, 2)); await fails(t, () => t.fail());
          await fails(t, () => t.match("abc", "x")); await fails(t, () => t.equal(ring, {}));
          await fails(t, () => t.throws(() => 1)); await fails(t, () => t.throws(() => { throw new Error("a"); }, "b"));
          t.match((await t.throws(async () => { throw new TypeError("no"); })).message, "no");
        });
    """)
    assert outcomes["assertions"]["error"] is None
    assert answer.exit_code == 0


def test_a_promise_that_is_not_awaited_still_fails_the_test(tested):
    answer, outcomes = tested("""
        test("throws nothing", (t) => { t.throws(() => 1); });
        test("loads nothing", async (t) => { t.load("nothing.ttl"); });
        test("is awaited by the runner", (t) => { t.throws(() => { throw new Error("a"); }); t.add("a", "p", 1); });
        test("has caught it itself", async (t) => { await t.load("nothing.ttl").catch(() => 0); });
        test("takes all at once", async (t) => {
          await Promise.all([t.add("a", "p", 1), t.add("b", "p", 2)]);
          t.ok(t.triples() instanceof Promise);
          t.equal((await t.triples({ predicate: "p" })).length, 2);
        });
    """)
    messages = {name: outcome["error"] and outcome["error"]["message"] for name, outcome in outcomes.items()}
    assert messages.pop("throws nothing") == "nothing was thrown"
    assert "nothing.ttl" in messages.pop("loads nothing")
    assert messages == dict.fromkeys(("is awaited by the runner", "has caught it itself", "takes all at once"))
    assert answer.exit_code == 1


def test_a_failure_is_reported_with_file_and_line(run, write_skill):
    code = """\
    import { double } from "./double";
    test("doubles", (t) => {
      t.equal(double(2), 5, "twice two");
    });
    """
    helper = "export const double = (n: number) => 2 * n;\n"
    folder = write_skill(**{"a.test.ts": code, "double.ts": helper, "b.test.ts": "test('late', () => {});\n"})
    answer = run("test", folder)
    lines = answer.stdout.splitlines()
    assert answer.exit_code == 1
    assert lines[1] == f"{folder}/a.test.ts:3:11: error[skill_error]: twice two: not equal"
    assert lines[2:6] == [
        "  actual:   4",
        "  expected: 5",
        '  3 |   t.equal(double(2), 5, "twice two");',
        "    |           ^",
    ]
    assert lines[6].startswith("ok    greeter/b.test.ts: late (")
    assert lines[7].startswith("1 passed, 1 failed (")


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("test('x', () => {\n  const n: any = null;\n  n.x;\n});", "skill_error", 3),
        ("\n\ntest('x', (t => { let;;: });", "transpile_error", 3),
        ("import './nowhere';", "transpile_error", 1),
        ("test('x');", "skill_error", 1),
        ("\ntest('x', () => { for (;;); });", "skill_timeout", 2),
        ("\ntest('x', async () => { await new Promise(() => {}); });", "skill_error", 2),
        ("\ntest('x', () => { const a = []; for (;;) a.push(new Array(1e5).fill(1)); });", "skill_memory", 2),
        ("const { exec } = require('child_process'); exec('true');", "scan_rejected", 1),
        ("test('x', async (t) => {\n  await t.load('../greeter2/x.ttl');\n});", "skill_error", 2),
        ("test('x', async (t) => {\n  await t.load('SKILL.md');\n});", "skill_error", 2),
        ("for (;;);", "skill_timeout", 1),
        ("test('x', () => {}); Object.getPrototypeOf(Array.from([])).map = () => 5 as any;", "skill_error", None),
        (
            "test('x', () => {}); Object.getPrototypeOf(Array.from([])).map = () => [{ name: 5, mode: '' }] as any;",
            "skill_error",
            None,
        ),
        ("for (let i = 0; i < 2000; i++) test(`t${i}`, () => {});", "skill_error", 1),
        ("test('x', async (t: any) => {\n  await t.load([]);\n});", "skill_error", 2),
    ],
)
def test_every_kind_of_failure_is_an_outcome_with_a_line(tested, text, code, line):
    env = {"CORTEX_SKILL_SANDBOX__EXECUTION_TIMEOUT_MS": "2000" if code == "skill_timeout" else "60000"}
    answer, outcomes = tested(text, env=env)
    (outcome,) = outcomes.values()
    assert (answer.exit_code, outcome["status"], outcome["error"]["code"]) == (1, "failed", code)
    details = outcome["error"]["details"]
    places = details.get("frames") or details.get("findings") or [{"line": None}]
    assert places[0]["line"] == line


def test_only_skip_and_filter_select_tests(run, write_skill):
    text = "test('one', () => {}); test.skip('two', () => {}); test('three', () => {});"
    folder = write_skill(**{"a.test.ts": text, "b.test.ts": text.replace("test('one'", "test.only('one'")})

    def statuses(*words):
        outcomes = run("test", folder, "--json", *words).json["skills"][0]["tests"]
        return [(test["file"][0], test["name"], test["status"][0]) for test in outcomes]

    assert statuses() == [
        *[("a", "one", "p"), ("a", "two", "s"), ("a", "three", "p")],
        *[("b", "one", "p"), ("b", "two", "s"), ("b", "three", "s")],
    ]
    assert statuses("--filter", "thr") == [("a", "three", "p"), ("b", "three", "s")]
    nothing = run("test", folder, "--filter", "nothing", "--json")
    assert (nothing.exit_code, nothing.error["code"]) == (1, "invalid_arguments")


def test_a_skill_without_tests_gets_a_hint(run, skill):
    answer = run("test", skill)
    assert answer.exit_code == 1
    assert "hint: write one: skill.test.ts" in answer.stderr


def test_a_skill_that_does_not_load_fails_its_tests(run, write_skill):
    folder = write_skill(code="export default { name: 'other' };", **{"a.test.ts": "test('x', () => {});"})
    answer = run("test", folder)
    assert answer.exit_code == 1
    assert "the default export is named 'other'" in answer.stdout
    (folder / "SKILL.md").write_text("---\nname: greeter\n---\n")
    assert "description: is missing" in run("test", folder).stdout


def test_a_folder_of_skills_is_tested_with_dependencies(run, write_skill, tmp_path):
    manifest = """\
    ---
    name: second
    description: b
    type: semantic
    semantic:
      version: 1
      permissions: {graph: [read]}
      dependencies: [{slug: greeter, version: "^1.0.0"}]
    ---
    """
    ask = "test('asks', async (t) => { t.equal((await t.query('p')).code, null); });"
    first = write_skill(**{"a.test.ts": ask})
    second = write_skill("second", manifest, None, **{"a.test.ts": ask})
    report = run("test", tmp_path / "skills", "--json").json
    assert [(skill["skill"], skill["passed"], skill["failed"]) for skill in report["skills"]] == [
        ("greeter", 1, 0),
        ("second", 1, 0),
    ]
    assert run("test", second).exit_code == 1
    assert run("test", second, "--skills", first).exit_code == 0


def test_test_files_are_not_part_of_the_skill(run, write_skill, tmp_path):
    folder = write_skill(**{"skill.test.ts": "test('x', () => {});", "helper.test.ts": "export const x = 1;\n"})
    with Plugin.open(config(store="memory:")) as plugin:
        plugin.load(folder)
        (folder / "skill.test.ts").write_text("test('y', () => {});")
        (folder / "new.test.ts").write_text("")
        assert not plugin.reload()
        assert set(plugin.skills["greeter"].digests) == {"skill.ts"}
    code = "import { x } from './helper.test';\nexport default { name: 'greeter', x };"
    (folder / "skill.ts").write_text(code)
    answer = run("validate", "--load", folder)
    assert (answer.exit_code, "transpile_error" in answer.stdout) == (1, True)


def test_test_files_are_scanned_with_the_skill(write_skill):
    folder = write_skill(**{"a.test.ts": "require('child_process').exec('true');"})
    with Plugin.open(config(store="memory:")) as plugin, pytest.raises(CortexError) as caught:
        plugin.load(folder)
    assert caught.value.code == "scan_rejected"


def test_outcomes_are_written_as_junit_xml(run, write_skill, tmp_path):
    text = "test('one <&\"', (t) => { console.log('said ]]>'); t.fail('bad \\u0001 &'); }); test.skip('two', () => {});"
    folder = write_skill(**{"a.test.ts": text})
    file = tmp_path / "junit.xml"
    assert run("test", folder, "--junit", file).exit_code == 1
    suite = ET.parse(file).getroot().find("testsuite")
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("2", "1", "1")
    one, two = suite.findall("testcase")
    assert (one.get("name"), one.find("failure").get("message")) == ('one <&"', "bad \ufffd &")
    assert "said ]]>" in one.find("system-out").text
    assert two.find("skipped") is not None
    answer = run("test", folder, "--junit", tmp_path / "nowhere" / "junit.xml", "--json")
    assert answer.error["code"] == "invalid_arguments"


@given(st.text(), st.text(), st.text())
def test_junit_xml_is_well_formed_for_any_names_and_messages(name, message, log):
    error = CortexError("skill_error", message)
    root = ET.fromstring(
        junit([TestReport("a", (TestOutcome("f", name, "failed", 0.1, error, (log,)),))]).encode("utf-8")
    )
    assert root.find("testsuite/testcase/failure") is not None


THROWS = """
export default {
  name: "greeter",
  onQuery({ results }: { results: { object: any }[] }) {
    return { additionalContext: results[0].object.length.of.nothing };
  },
};
"""


def test_a_hook_that_throws_fails_the_test_that_called_it_with_its_own_error(run, write_skill, tmp_path):
    test = """
        test("asks", async (t) => { await t.add("a", "greets", 1); await t.query("greets"); });
        test("asks without waiting", async (t) => { await t.add("a", "greets", 1); t.query("greets"); });
        test("expects it", async (t) => {
          await t.add("a", "greets", 1);
          await t.throws(() => t.query("greets"), "TypeError");
        });
    """
    folder = write_skill(code=THROWS, **{"skill.test.ts": test})
    answer = run("test", folder, "--junit", tmp_path / "junit.xml")
    assert answer.exit_code == 1
    place = f"{folder}/skill.ts:5:33: error[skill_error]: onQuery of greeter failed: TypeError: cannot read"
    assert answer.stdout.count(place) == 2
    assert answer.stdout.count("  5 |     return { additionalContext: results[0].object.length.of.nothing };") == 2
    assert "2 failed" in answer.stdout
    assert "skill.ts:5:33: TypeError" in (tmp_path / "junit.xml").read_text()
    errors = [test["error"] for test in run("test", folder, "--json").json["skills"][0]["tests"]]
    assert [error and error["code"] for error in errors] == ["skill_error", "skill_error", None]
    assert "skill.ts:5:33: TypeError" in errors[0]["message"]
