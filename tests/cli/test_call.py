"""`call`, `query`, `list` and `status`."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex_skills.doors.cli.call import read_value
from cortex_skills.skill_folder.builtin import NOTEBOOK, builtin_skill

ASSERTED = {"subject": "a", "predicate": "greets"}


@pytest.fixture
def assert_(run, skill):
    """A function that asserts that `a` greets a value."""

    def call(value):
        answer = run("call", "skill_assert", json.dumps({**ASSERTED, "object": value}), "--skills", skill, "--json")
        assert answer.exit_code == 0
        return answer.json

    return call


def test_call_prints_the_text_for_the_model(run, skill):
    arguments = ("--arg", "subject=a", "--arg", "predicate=greets", "--arg", "object=b")
    answer = run("call", "skill_assert", "--skills", skill, *arguments)
    assert answer.exit_code == 0
    assert answer.stdout.splitlines()[0] == 'Asserted: mayros:a mayros:greets "b"'
    assert answer.stderr == ""


def test_an_argument_value_is_json_or_else_text(run, skill):
    values = {"5": 5, "true": True, '{"node": "b"}': {"node": "mayros:b"}, "five": "five", "NaN": "NaN", "[": "["}
    for text, expected in values.items():
        words = ["call", "skill_assert", json.dumps(ASSERTED), "--arg", f"object={text}"]
        answer = run(*words, "--skills", skill, "--json")
        assert answer.json["details"]["object"] == expected


def test_several_statements_are_asserted_in_one_call(run, skill):
    statements = [{**ASSERTED, "object": value} for value in (1, {"value": "2026-12-01", "datatype": "xsd:date"})]
    answer = run("call", "skill_assert", json.dumps({"statements": statements}), "--skills", skill, "--json")
    assert (answer.exit_code, answer.json["details"]["createdCount"]) == (0, 2)
    assert answer.json["details"]["statements"][1]["object"]["datatype"] == "http://www.w3.org/2001/XMLSchema#date"


@given(st.text())
def test_read_value_accepts_any_text_and_any_json(text):
    assert read_value(json.dumps(text)) == text
    value = read_value(text)
    assert value == text or json.loads(text) == value


def test_arguments_are_read_from_standard_input(run, skill):
    arguments = json.dumps({**ASSERTED, "object": "ж"}).encode()
    answer = run("call", "skill_assert", "-", "--skills", skill, "--json", stdin=arguments)
    assert (answer.exit_code, answer.json["details"]["object"]) == (0, "ж")


@pytest.mark.parametrize("text", ['{"a":', "NaN", "[" * 100_000, "", '{"a": 1e}'])
def test_arguments_that_are_not_json_are_a_usage_error(run, skill, text):
    answer = run("call", "skill_assert", text, "--skills", skill)
    assert answer.exit_code == 2
    assert answer.stderr.startswith("error[invalid_arguments]: the arguments are not JSON")


def test_standard_input_that_is_not_utf8_is_a_usage_error(run):
    answer = run("call", "skill_assert", "-", stdin=b"\xff")
    assert (answer.exit_code, answer.stdout) == (2, "")
    assert "not UTF-8" in answer.stderr


@pytest.mark.parametrize("words", [("--arg", "no-value"), ("--arg", "=x"), ("[1]", "--arg", "a=1")])
def test_a_malformed_pair_is_a_usage_error(run, words):
    answer = run("call", "skill_assert", *words)
    assert answer.exit_code == 2
    assert "give KEY=VALUE" in answer.stderr


@pytest.mark.parametrize("words", [("{subject:a}",), ("subject=a",), ("--arg", "subject", "a")])
def test_unquoted_arguments_get_a_hint_about_quoting(run, skill, words):
    answer = run("call", "skill_assert", *words, "--skills", skill)
    assert answer.exit_code == 2
    assert """in quotes, '{"key": "value"}', or --arg KEY=VALUE""" in answer.stderr


def test_missing_or_misspelt_arguments_get_a_hint_with_the_accepted_ones(run, skill):
    answer = run("call", "skill_assert", "--arg", "subjct=a", "--skills", skill)
    assert answer.exit_code == 1
    assert "\nhint: did you mean subject? skill_assert takes subject, predicate, object, requireProof?" in answer.stderr
    answer = run("call", "skill_assert", "--arg", "colour=a", "--skills", skill)
    assert "\nhint: skill_assert takes subject, predicate, object, requireProof?" in answer.stderr


def test_an_empty_query_in_the_scope_of_the_agent_suggests_the_namespace(run, skill):
    words = ("query", "--skills", skill, "--predicate", "greets")
    assert "scope namespace asks about everything" in run(*words).stdout
    assert "scope namespace does" in run(*words, "--subject", "nails", "--scope", "agent").stdout
    assert "scope" not in run(*words, "--subject", "nails").stdout
    assert "scope" not in run(*words, "--scope", "namespace").stdout


def test_status_reports_that_the_sandbox_is_off(run, tmp_path):
    (tmp_path / "cortex.yaml").write_text("skillSandbox: {sandboxEnabled: false}\n")
    assert "sandbox     in-process\n" in run("status").stdout
    assert "sandbox     off\n" in run("status", "--config", tmp_path / "cortex.yaml").stdout


def test_a_refused_call_prints_an_answer_and_an_error(run, skill):
    answer = run("call", "skill_assert", '{"subject": "a", "predicate": "hates", "object": 1}', "--skills", skill)
    assert (answer.exit_code, answer.stdout) == (1, "")
    error, hint = answer.stderr.splitlines()
    assert error.startswith("error[undeclared_predicate]: greeter ")
    assert hint.startswith("hint: ")
    answer = run("--json", "call", "skill_assert", "[1]", "--skills", skill)
    assert answer.exit_code == 1
    assert (answer.json["isError"], answer.json["code"]) == (True, "invalid_arguments")
    assert answer.error == answer.json["details"]


def test_an_unknown_tool_gets_a_suggestion(run, skill):
    answer = run("call", "skill_asert", "--skills", skill)
    assert answer.exit_code == 1
    assert answer.stderr == (
        "error[tool_not_found]: there is no tool 'skill_asert'\nhint: did you mean skill_assert?\n"
    )


def test_a_call_without_a_skill_is_one_of_the_notebook_and_a_list_needs_some(run):
    fact = '{"subject": "ada", "predicate": "knows", "object": "bob"}'
    assert run("call", "skill_assert", fact).exit_code == 0
    assert 'mayros:ada mayros:knows "bob"' in run("query", "--scope", "namespace").stdout
    assert "skill: notebook" in run("graph", "show", "ada", "knows").stdout
    assert run("graph", "show", "ada", "knows", '"bob"').exit_code == 0
    assert "no triple of mayros is so" in run("graph", "show", "ada", "likes").stderr
    assert run("call", "skill_assert", fact.replace("bob", "eve")).exit_code == 0
    assert "several triples are so" in run("graph", "show", "ada", "knows").stderr
    assert run("graph", "show", "a", "b", "c", "d").exit_code == 2
    answer = run("list")
    assert answer.exit_code == 2
    assert "--skills FOLDER" in answer.stderr


def test_with_several_skills_the_acting_one_must_be_named(run, write_skill):
    folder = write_skill().parent
    write_skill("other")
    words = ("query", "--skills", folder, "--scope", "namespace")
    assert "error[skill_ambiguous]" in run(*words).stderr
    assert run(*words, "--skill", "other").exit_code == 0


def test_a_skill_that_does_not_load_refuses_the_call(run, write_skill):
    answer = run("query", "--skills", write_skill(manifest="nothing"))
    assert (answer.exit_code, answer.stdout) == (1, "")
    assert answer.stderr.startswith("error[manifest_invalid]: ")


def test_query_prints_the_triples_and_then_the_enrichment(run, skill, assert_):
    assert_("b")
    assert_(5)
    answer = run("query", "--skills", skill, "--predicate", "greets", "--scope", "namespace")
    first, *triples, blank, begin, seen, end = answer.stdout.splitlines()
    assert (answer.exit_code, first, blank, seen) == (0, "2 triples found:", "", '{"seen":2}')
    assert triples[0].startswith("mayros:a ")  # the second has the same subject, and is written without it
    assert sorted(line.removeprefix("mayros:a").strip() for line in triples) == ['mayros:greets "b"', "mayros:greets 5"]
    assert (begin, end) == ('<skill-enrichment type="data">', "</skill-enrichment>")


def test_query_reports_what_the_cleaning_removed(run, write_skill):
    code = """export default { name: "greet", onQuery: () => ({ additionalContext: { "two words": 1, n: 2 } }) };"""
    answer = run("query", "--skills", write_skill("greet", code=code), "--scope", "namespace")
    assert '{"n":2}' in answer.stdout
    assert answer.stderr == (
        "1 value of the enrichment was removed: key_not_declared at /(key 0) "
        "(declare it: semantic.enrichment.fields in SKILL.md)\n"
    )


def test_query_filters_by_subject_predicate_and_object(run, skill, assert_):
    assert_(5)
    assert_("5 times")
    scope = ("query", "--skills", skill, "--scope", "namespace", "--json")
    for words, total in (
        (("--object", "5"), 1),
        (("--object", "5 times"), 1),
        (("--object", '{"node": "x"}'), 0),
        (("--subject", "a"), 2),
        (("--subject", "b"), 0),
        (("--predicate", "greets"), 2),
    ):
        assert run(*scope, *words).json["details"]["total"] == total


def test_query_follows_the_cursor(run, skill, assert_):
    for value in range(3):
        assert_(value)
    words = ("query", "--skills", skill, "--scope", "namespace", "--limit", "2")
    page = run(*words)
    note, cursor = page.stderr.strip().split("--cursor ")
    assert note == "more triples: "
    rest = run(*words, "--cursor", cursor)
    lines = [line for line in (page.stdout + rest.stdout).splitlines() if "mayros:greets" in line]
    assert sorted(line[-1] for line in lines) == ["0", "1", "2"]
    assert rest.stderr == ""


def test_control_characters_of_a_value_are_escaped(run, skill, assert_):
    assert_("\x1b[2J\u202e\x9b31m\nerror[x]: y")
    answer = run("query", "--skills", skill, "--scope", "namespace")
    assert all(character.isprintable() for character in answer.stdout.replace("\n", ""))
    assert not any(line.startswith("error[x]") for line in answer.stdout.splitlines())


def test_namespace_and_agent_can_be_set_by_options(run, skill):
    words = ("--namespace", "other", "--agent", "eve", "--skills", skill)
    statement = '{"subject": "other:agent:eve", "predicate": "greets", "object": 1}'
    assert run("call", "skill_assert", statement, *words).exit_code == 0
    assert run("query", *words, "--json").json["details"]["matches"][0]["subject"] == "other:agent:eve"
    assert run("query", "--skills", skill, "--json").json["details"]["total"] == 0


def test_list_in_a_pipe_is_tab_separated(run, write_skill, store):
    write_skill()
    folder = write_skill("mute", code=None)
    answer = run("list", "--skills", folder.parent)
    assert [line.split("\t") for line in answer.stdout.splitlines()] == [
        ["name", "version", "hooks", "permissions", "description"],
        ["greeter", "1.2.0", "onQuery", "graph:read, graph:write", "Greets greeter."],
        ["mute", "1.2.0", "-", "graph:read, graph:write", "Greets mute."],
    ]
    assert not list(store.iterdir())


def test_list_as_json(run, skill):
    assert run("list", "--skills", skill, "--json").json == [
        {
            "name": "greeter",
            "version": "1.2.0",
            "hooks": ["onQuery"],
            "permissions": ["graph:read", "graph:write"],
            "description": "Greets greeter.",
            "folder": str(skill),
            "error": None,
        }
    ]


def test_one_bad_skill_does_not_stop_the_others(run, write_skill):
    folder = write_skill().parent
    (write_skill("broken") / "SKILL.md").write_text("---\nname: broken\n---\n")
    answer = run("list", "--skills", folder)
    assert answer.exit_code == 0
    assert [line.split("\t")[0] for line in answer.stdout.splitlines()][:2] == ["name", "greeter"]
    assert f"not loaded: broken in {folder / 'broken'}: [manifest_invalid]" in answer.stdout
    rows = run("list", "--skills", folder, "--json").json
    assert [(row["name"], row["error"] and row["error"]["code"]) for row in rows] == [
        ("greeter", None),
        ("broken", "manifest_invalid"),
    ]
    assert "not loaded: broken" in run("status", "--skills", folder).stdout
    assert run("list", "--skills", folder / "broken").exit_code == 1
    assert run("validate", folder).exit_code == 1


def test_status_reports_the_store_and_that_signatures_are_off(run, skill, store):
    answer = run("status", "--skills", skill)
    assert answer.exit_code == 0
    assert f"store       {store}\nnamespace   mayros, 0 triples\nagent       default\n" in answer.stdout
    assert "signatures  not required\n" in answer.stdout
    assert f"skill       greeter 1.2.0 in {skill}\n" in answer.stdout
    assert run("status").stdout.endswith("skills      none loaded\n")


def test_status_as_json_is_the_status_of_the_plugin(run, skill):
    report = run("status", "--skills", skill, "--json").json
    assert report["namespace"] == "mayros"
    assert report["verification"]["requireSignature"] is False
    assert [entry["name"] for entry in report["skills"]] == ["greeter"]


WRITTEN = '{"subject": "a", "predicate": "greets", "object": 1}'
READS = [
    ["status"],
    ["graph", "namespaces"],
    ["graph", "sparql", "ASK {}"],
    ["graph", "export", "-"],
    ["graph", "show", "0" * 64],
    ["proof", "show", "0" * 64],
    ["query", "--predicate", "greets"],
    ["call", "skill_graph_query", "{}"],
]


@pytest.mark.parametrize("words", READS, ids=lambda words: " ".join(words[:2]))
def test_a_command_that_reads_creates_no_store_and_names_similar_folders(run, skill, tmp_path, words):
    run("call", "skill_assert", WRITTEN, "--skills", skill, "--store", tmp_path / "facts")
    answer = run(*words, "--skills", skill, "--store", tmp_path / "fatcs")
    assert answer.exit_code == 2
    assert f"error[graph_unavailable]: there is no store in {tmp_path / 'fatcs'}" in answer.stderr
    assert f"did you mean {tmp_path / 'facts'}?" in answer.stderr
    assert not (tmp_path / "fatcs").exists()


def test_before_the_first_write_the_users_store_is_empty_and_is_not_created(run, skill, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    default = {"CORTEX_STORE": ""}
    answer = run("query", "--skills", skill, "--scope", "namespace", env=default)
    assert (answer.exit_code, answer.stdout.splitlines()[0]) == (0, "No matching triples.")
    assert f"the first write creates one in {tmp_path}/data/cortex-skills/store" in answer.stderr
    assert not (tmp_path / "data/cortex-skills/store").exists()
    assert run("call", "skill_assert", WRITTEN, "--skills", skill, env=default).exit_code == 0
    status = run("status", "--json", env=default).json
    assert (status["store"], status["triples"]) == (f"{tmp_path}/data/cortex-skills/store", 1)
    assert "namespace   mayros, 1 triple\n" in run("status", env=default).stdout


def test_the_default_scope_of_a_query_depends_on_whether_a_subject_is_given(run, monkeypatch):
    monkeypatch.setenv("CORTEX_VERIFICATION__REQUIRE_SIGNATURE", "false")
    notebook = builtin_skill(NOTEBOOK)
    fact = {"subject": "nails", "predicate": "inStock", "object": 3}
    assert run("call", "skill_assert", json.dumps(fact), "--skills", notebook).exit_code == 0
    for words, total in (((), 0), (("--subject", "nails"), 1), (("--scope", "namespace"), 1)):
        assert (
            run("query", "--predicate", "inStock", *words, "--skills", notebook, "--json").json["details"]["total"]
            == total
        )
    assert "With a subject or with scope `namespace` it searches" in (notebook / "SKILL.md").read_text()
