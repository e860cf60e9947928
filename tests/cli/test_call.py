"""`call`, `query`, `list` and `status`."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex_skills.cli.call import read_value

ASSERTED = {"subject": "a", "predicate": "greets"}


@pytest.fixture
def assert_(run, skill):
    """Asserts that `a` greets a value."""

    def call(value):
        answer = run("call", "skill_assert", json.dumps({**ASSERTED, "object": value}), "--skills", skill, "--json")
        assert answer.exit_code == 0
        return answer.json

    return call


def test_a_call_prints_what_a_model_reads(run, skill):
    arguments = ("--arg", "subject=a", "--arg", "predicate=greets", "--arg", "object=b")
    answer = run("call", "skill_assert", "--skills", skill, *arguments)
    assert answer.exit_code == 0
    assert answer.stdout.splitlines()[0] == 'Asserted: mayros:a mayros:greets "b"'
    assert answer.stderr == ""


def test_values_are_json_where_they_are_json_and_text_where_not(run, skill):
    values = {"5": 5, "true": True, '{"node": "b"}': {"node": "mayros:b"}, "five": "five", "NaN": "NaN", "[": "["}
    for said, meant in values.items():
        words = ["call", "skill_assert", json.dumps(ASSERTED), "--arg", f"object={said}"]
        answer = run(*words, "--skills", skill, "--json")
        assert answer.json["details"]["object"] == meant


@given(st.text())
def test_any_text_is_a_value_and_any_json_is_itself(text):
    assert read_value(json.dumps(text)) == text
    value = read_value(text)
    assert value == text or json.loads(text) == value


def test_arguments_come_from_standard_input(run, skill):
    said = json.dumps({**ASSERTED, "object": "ж"}).encode()
    answer = run("call", "skill_assert", "-", "--skills", skill, "--json", stdin=said)
    assert (answer.exit_code, answer.json["details"]["object"]) == (0, "ж")


@pytest.mark.parametrize("text", ['{"a":', "NaN", "[" * 100_000, "", '{"a": 1e}'])
def test_arguments_that_are_no_json_are_a_wrong_usage(run, skill, text):
    answer = run("call", "skill_assert", text, "--skills", skill)
    assert answer.exit_code == 2
    assert answer.stderr.startswith("error[invalid_arguments]: the arguments are no JSON")


def test_standard_input_that_is_not_utf8_is_a_wrong_usage(run):
    answer = run("call", "skill_assert", "-", stdin=b"\xff")
    assert (answer.exit_code, answer.stdout) == (2, "")
    assert "not UTF-8" in answer.stderr


@pytest.mark.parametrize("words", [("--arg", "no-value"), ("--arg", "=x"), ("[1]", "--arg", "a=1")])
def test_a_pair_that_is_none_is_a_wrong_usage(run, words):
    answer = run("call", "skill_assert", *words)
    assert answer.exit_code == 2
    assert "give KEY=VALUE" in answer.stderr


@pytest.mark.parametrize("words", [("{subject:a}",), ("subject=a",), ("--arg", "subject", "a")])
def test_arguments_without_their_quotes_are_told_how_to_be_written(run, skill, words):
    answer = run("call", "skill_assert", *words, "--skills", skill)
    assert answer.exit_code == 2
    assert """in quotes, '{"key": "value"}', or --arg KEY=VALUE""" in answer.stderr


def test_arguments_that_are_missing_or_misspelt_are_told_what_the_tool_takes(run, skill):
    answer = run("call", "skill_assert", "--arg", "subjct=a", "--skills", skill)
    assert answer.exit_code == 1
    assert "\nhint: did you mean subject? skill_assert takes subject, predicate, object, requireProof?" in answer.stderr
    answer = run("call", "skill_assert", "--arg", "colour=a", "--skills", skill)
    assert "\nhint: skill_assert takes subject, predicate, object, requireProof?" in answer.stderr


def test_a_query_about_the_agent_alone_that_may_not_be_what_was_meant_is_told(run, skill):
    words = ("query", "--skills", skill, "--predicate", "greets")
    assert "--scope namespace" in run(*words).stderr
    assert "--scope namespace" in run(*words, "--subject", "nails").stderr
    assert run(*words, "--scope", "namespace").stderr == ""


def test_status_says_that_the_sandbox_is_switched_off(run, tmp_path):
    (tmp_path / "cortex.yaml").write_text("skillSandbox: {sandboxEnabled: false}\n")
    assert "sandbox     in-process\n" in run("status").stdout
    assert "sandbox     off\n" in run("status", "--config", tmp_path / "cortex.yaml").stdout


def test_a_refused_call_is_an_answer_and_an_error(run, skill):
    answer = run("call", "skill_assert", '{"subject": "a", "predicate": "hates", "object": 1}', "--skills", skill)
    assert (answer.exit_code, answer.stdout) == (1, "")
    error, hint = answer.stderr.splitlines()
    assert error.startswith("error[undeclared_predicate]: greeter ")
    assert hint.startswith("hint: ")
    answer = run("--json", "call", "skill_assert", "[1]", "--skills", skill)
    assert answer.exit_code == 1
    assert (answer.json["isError"], answer.json["code"]) == (True, "invalid_arguments")
    assert answer.error == answer.json["details"]


def test_an_unknown_tool_gets_a_suggestion_from_the_gate(run, skill):
    answer = run("call", "skill_asert", "--skills", skill)
    assert answer.exit_code == 1
    assert answer.stderr == (
        "error[tool_not_found]: there is no tool 'skill_asert'\nhint: did you mean skill_assert?\n"
    )


def test_without_a_skill_the_way_to_name_one_is_told(run):
    for words in (("call", "skill_assert"), ("query",), ("list",)):
        answer = run(*words)
        assert answer.exit_code == 2
        assert "--skills FOLDER" in answer.stderr


def test_of_several_skills_one_is_named(run, write_skill):
    folder = write_skill().parent
    write_skill("other")
    words = ("query", "--skills", folder, "--scope", "namespace")
    assert "error[skill_ambiguous]" in run(*words).stderr
    assert run(*words, "--skill", "other").exit_code == 0


def test_a_skill_that_does_not_load_refuses_the_call(run, write_skill):
    answer = run("query", "--skills", write_skill(manifest="nothing"))
    assert (answer.exit_code, answer.stdout) == (1, "")
    assert answer.stderr.startswith("error[manifest_invalid]: ")


def test_query_prints_the_triples_and_the_enrichment_below(run, skill, assert_):
    assert_("b")
    assert_(5)
    answer = run("query", "--skills", skill, "--predicate", "greets", "--scope", "namespace")
    first, *triples, blank, begin, seen, end = answer.stdout.splitlines()
    assert (answer.exit_code, first, blank, seen) == (0, "2 triples found:", "", '{"seen":2}')
    assert sorted(triples) == ['mayros:a mayros:greets "b"', "mayros:a mayros:greets 5"]
    assert (begin, end) == ('<skill-enrichment type="data">', "</skill-enrichment>")


def test_query_narrows_by_every_part(run, skill, assert_):
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


def test_query_walks_the_pages(run, skill, assert_):
    for value in range(3):
        assert_(value)
    words = ("query", "--skills", skill, "--scope", "namespace", "--limit", "2")
    page = run(*words)
    note, cursor = page.stderr.strip().split("--cursor ")
    assert note == "there are more: "
    rest = run(*words, "--cursor", cursor)
    objects = [line for line in (page.stdout + rest.stdout).splitlines() if line.startswith("mayros:a")]
    assert sorted(objects) == [f"mayros:a mayros:greets {value}" for value in range(3)]
    assert rest.stderr == ""


def test_a_value_of_the_graph_cannot_draw_on_a_terminal(run, skill, assert_):
    assert_("\x1b[2J\u202e\x9b31m\nerror[x]: y")
    answer = run("query", "--skills", skill, "--scope", "namespace")
    assert all(character.isprintable() for character in answer.stdout.replace("\n", ""))
    assert not any(line.startswith("error[x]") for line in answer.stdout.splitlines())


def test_namespace_and_agent_are_options(run, skill):
    words = ("--namespace", "other", "--agent", "eve", "--skills", skill)
    said = '{"subject": "other:agent:eve", "predicate": "greets", "object": 1}'
    assert run("call", "skill_assert", said, *words).exit_code == 0
    assert run("query", *words, "--json").json["details"]["matches"][0]["subject"] == "other:agent:eve"
    assert run("query", "--skills", skill, "--json").json["details"]["total"] == 0


def test_list_shows_a_line_a_skill_with_tabs_in_a_pipe(run, write_skill, store):
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
        }
    ]


def test_status_tells_of_the_store_and_that_signatures_are_off(run, skill, store):
    answer = run("status", "--skills", skill)
    assert answer.exit_code == 0
    assert f"store       {store}\nnamespace   mayros\nagent       default\n" in answer.stdout
    assert "signatures  not required\n" in answer.stdout
    assert f"skill       greeter 1.2.0 in {skill}\n" in answer.stdout
    assert run("status").stdout.endswith("skills      none is loaded\n")


def test_status_as_json_is_that_of_the_plugin(run, skill):
    report = run("status", "--skills", skill, "--json").json
    assert report["namespace"] == "mayros"
    assert report["verification"]["requireSignature"] is False
    assert [entry["name"] for entry in report["skills"]] == ["greeter"]
