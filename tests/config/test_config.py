"""The configuration and its sources."""

import dataclasses
import re
import subprocess
import sys
from pathlib import Path
from types import MappingProxyType

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from platformdirs import user_data_path

from cortex_skills.config.sections import declared
from cortex_skills.config.settings import Config
from cortex_skills.errors import CortexError


def faults(call, *arguments, **keywords):
    """The faults by field."""
    with pytest.raises(CortexError) as caught:
        call(*arguments, **keywords)
    assert caught.value.code == "config_invalid"
    return {fault["field"]: f"{fault['message']} ({fault['hint']})" for fault in caught.value.details["errors"]}


def outcome(call, **keywords):
    """The type of the answer, or the code of the error."""
    try:
        return type(call(**keywords))
    except CortexError as error:
        return error.code


@pytest.fixture
def yaml(tmp_path):
    def write(text):
        path = tmp_path / "cortex.yaml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def test_the_defaults_are_those_of_the_schema():
    settings = Config().to_json()
    for name, rule in declared().schema.rules["properties"].items():
        if "properties" in rule:
            defaults = {key: part["default"] for key, part in rule["properties"].items() if "default" in part}
            assert settings[name] == defaults
        else:
            assert settings[name] == rule["default"]
    assert set(settings) == set(declared().schema.rules["properties"])


def test_the_default_store_is_in_memory():
    config = Config()
    assert config.store == "memory:"
    assert config.cortex.port == 19090
    assert config.skill_sandbox.memory_limit_bytes == 8 << 20
    assert config.verification.require_signature is True
    assert config.vocabularies == ()
    assert config.warnings == ()


def test_camel_case_and_snake_case_are_the_same():
    camel = Config(agentNamespace="may", skillSandbox={"maxWrites": 3}, verification={"autoScan": False})
    snake = Config(agent_namespace="may", skill_sandbox={"max_writes": 3}, verification={"auto_scan": False})
    assert camel == snake
    assert camel.skill_sandbox.max_writes == 3
    assert camel.skill_sandbox.max_assertions == 20


def test_a_setting_given_in_both_cases_is_rejected():
    assert "agentNamespace" in faults(Config, agentNamespace="a", agent_namespace="b")


def test_paths_tuples_and_any_mapping_are_accepted():
    config = Config(store=Path("data"), vocabularies=("rdf",), cortex=MappingProxyType({"port": 1}))
    assert (config.store, config.vocabularies, config.cortex.port) == ("data", ("rdf",), 1)


def test_all_faults_are_reported_at_once_with_suggestions():
    found = faults(
        Config,
        agentNamspace="a",
        hotReload="no",
        verification=3,
        skillSandbox={"maxWrite": 1},
        store=object(),
        baseIri="x",
    )
    assert set(found) == {"agentNamspace", "hotReload", "verification", "skillSandbox.maxWrite", "store", "baseIri"}
    assert "did you mean agentNamespace?" in found["agentNamspace"]
    assert "did you mean maxWrites?" in found["skillSandbox.maxWrite"]
    assert found["hotReload"].startswith("must be true or false, not the text 'no'")


@pytest.mark.parametrize("namespace", ["", "1a", "a b", "a:b", "ä", "a\n", "a" * 65])
def test_an_invalid_namespace_is_rejected(namespace):
    assert "agentNamespace" in faults(Config, agentNamespace=namespace)


@pytest.mark.parametrize("base", ["urn:cortex:", "https://example.org/", "https://example.org/x#", "urn:"])
def test_a_base_iri_ends_where_names_begin(base):
    assert Config(baseIri=base).base_iri == base


@pytest.mark.parametrize("base", ["cortex", "https://example.org", "urn:a b:", "urn:<x>:", "urn:\n:", ""])
def test_a_base_that_is_not_an_iri_is_rejected(base):
    assert "baseIri" in faults(Config, baseIri=base)


@pytest.mark.parametrize(
    ("given", "used"), [(0, 1 << 20), (-1, 1 << 20), (1 << 40, 256 << 20), (10**30, 256 << 20), (2.0e30, 256 << 20)]
)
def test_a_number_outside_its_range_is_clamped_and_reported(given, used):
    config = Config(skillSandbox={"memoryLimitBytes": given})
    assert config.skill_sandbox.memory_limit_bytes == used
    (warning,) = config.warnings
    assert warning.startswith("skillSandbox.memoryLimitBytes: ")
    assert f"{used} is used" in warning


def test_a_number_inside_its_range_is_kept_without_a_warning():
    config = Config(cortex={"port": 65535}, skillSandbox={"executionTimeoutMs": 100.0})
    assert (config.cortex.port, config.skill_sandbox.execution_timeout_ms) == (65535, 100)
    assert type(config.skill_sandbox.execution_timeout_ms) is int
    assert config.warnings == ()


@pytest.mark.parametrize("value", [True, "1", 1.5, float("nan"), float("inf"), [], {}])
def test_a_port_must_be_a_whole_number(value):
    assert "cortex.port" in faults(Config, cortex={"port": value})


def test_none_is_not_set():
    assert Config(agentNamespace=None, cortex=None, verification={"autoScan": None}) == Config()


def test_a_configuration_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Config().store = "x"
    assert hash(Config()) == hash(Config())


def test_later_sources_win(yaml):
    path = yaml("agentNamespace: file\nstore: file\nskillSandbox: {maxWrites: 1, maxAssertions: 1}\nhotReload: true\n")
    env = {"CORTEX_STORE": "env", "CORTEX_SKILL_SANDBOX__MAX_WRITES": "2", "CORTEX_HOT_RELOAD": "off"}
    config = Config.load(path, env=env, overrides={"store": "argument", "skill_sandbox": {"max_assertions": 3}})
    assert (config.agent_namespace, config.store, config.hot_reload) == ("file", "argument", False)
    assert (config.skill_sandbox.max_writes, config.skill_sandbox.max_assertions) == (2, 3)


@pytest.mark.parametrize("word", ["on", "off", "auto", '"on"', "'off'"])
def test_on_and_off_are_words_where_a_setting_has_them_as_values(yaml, word):
    config = Config.load(yaml(f"audit:\n  journal: {word}\n"), env={})
    assert config.audit.journal == word.strip("\"'")


@pytest.mark.parametrize("nothing", ["", "~", "null"])
def test_a_setting_of_words_without_a_value_is_not_set(yaml, nothing):
    assert Config.load(yaml(f"audit:\n  journal: {nothing}\n"), env={}).audit.journal == "auto"


def test_another_setting_takes_no_such_word(yaml):
    assert set(faults(Config.load, yaml("audit:\n  folder: on\n"), env={})) == {"audit.folder"}
    assert set(faults(Config.load, yaml("audit:\n  journal: yes\n"), env={})) == {"audit.journal"}


def test_an_empty_file_and_an_empty_section_set_nothing(yaml):
    env = {"CORTEX_STORE": "memory:"}
    folders = [".cortex/skills", str(user_data_path("cortex-skills", appauthor=False) / "skills")]
    assert Config.load(yaml(""), env=env) == Config(registry={"folders": folders})
    assert Config.load(yaml("registry: {folders: []}"), env=env) == Config()
    assert Config.load(yaml("\ufeff# nothing\nskillSandbox:\n  # nothing\nstore: 'memory:'\n"), env={}) == Config(
        registry={"folders": folders}
    )


def test_without_a_store_the_store_is_in_the_users_data_folder(yaml):
    store = Path(Config.load(env={}).store)
    assert store.is_absolute()
    assert store.parent.name == "cortex-skills"
    assert Config.load(yaml("store:\n"), env={"CORTEX_STORE": ""}, overrides={"store": None}).store == str(store)


def test_faults_of_the_file_name_their_line(yaml):
    path = yaml("store: x\nagent_namespace: a\nhotReload: no\nstore: y\nskillSandbox: {maxWrites: 1e3}\n")
    with pytest.raises(CortexError) as caught:
        Config.load(path, env={})
    found = {(fault["field"], fault["line"]) for fault in caught.value.details["errors"]}
    assert found == {
        ("agent_namespace", 2),
        ("hotReload", 3),
        ("store", 4),
        ("skillSandbox.maxWrites", 5),
    }
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    "text", [b"\xff\xfe", b"a: [", b"- a", b"text", b"a: *b", b"a: !!python/name:os.system x", b"\0"]
)
def test_a_file_that_is_not_a_configuration_is_rejected(yaml, text):
    assert faults(Config.load, yaml(text), env={})


def test_an_unreadable_file_is_rejected(tmp_path):
    assert faults(Config.load, tmp_path / "nowhere.yaml", env={})["document"].startswith("cannot be read: No such file")
    assert faults(Config.load, tmp_path, env={})
    assert faults(Config.load, "nul\0", env={})


def test_variables_are_converted_to_the_type_of_their_setting(yaml):
    env = {
        "CORTEX_AGENT_NAMESPACE": "true",
        "CORTEX_CORTEX__PORT": " 8080 ",
        "CORTEX_VERIFICATION__REQUIRE_SIGNATURE": "TRUE",
        "CORTEX_VERIFICATION__AUTO_SCAN": "0",
        "CORTEX_VOCABULARIES": "rdf, schema",
        "CORTEX_SKILL_SANDBOX__MEMORY_LIMIT_BYTES": "1",
    }
    config = Config.load(env=env)
    assert config.agent_namespace == "true"
    assert config.cortex.port == 8080
    assert (config.verification.require_signature, config.verification.auto_scan) == (True, False)
    assert config.vocabularies == ("rdf", "schema")
    assert "CORTEX_SKILL_SANDBOX__MEMORY_LIMIT_BYTES" in config.warnings[0]


def test_an_error_in_the_environment_names_the_variable():
    with pytest.raises(CortexError) as caught:
        Config.load(env={"CORTEX_CORTEX__PORT": "80x", "CORTEX_HOT_RELOAD": "maybe"})
    assert [fault["file"] for fault in caught.value.details["errors"]] == ["CORTEX_CORTEX__PORT", "CORTEX_HOT_RELOAD"]


def test_an_unknown_variable_gets_a_warning_and_a_suggestion():
    config = Config.load(env={"CORTEX_AGENT_NAMESPCE": "x", "OTHER": "y"})
    assert config.agent_namespace == "mayros"
    assert config.warnings == (
        "the environment variable CORTEX_AGENT_NAMESPCE is not a setting; did you mean CORTEX_AGENT_NAMESPACE?",
    )


def test_the_variables_of_the_direct_mode_get_no_warning():
    env = {"CORTEX_UNSAFE_DIRECT_LOAD": "1", "MAYROS_UNSAFE_DIRECT_LOAD": "1"}
    assert Config.load(env=env).warnings == ()


def test_the_token_is_expanded_from_the_environment(yaml):
    path = yaml('cortex: {authToken: "a-${TOKEN}-${OTHER}"}\nstore: "${TOKEN}"\n')
    config = Config.load(path, env={"TOKEN": "x", "OTHER": "${TOKEN}"})
    assert config.cortex.auth_token == "a-x-${TOKEN}"
    assert config.store == "x"  # a path


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_line_end_behind_the_value_of_a_variable_is_no_part_of_it(yaml, end):
    env = {"TOKEN": f"x{end}", "CORTEX_STORE": f"/data/graph{end}", "CORTEX_AGENT_NAMESPACE": f"may{end}"}
    config = Config.load(yaml('cortex: {authToken: "${TOKEN}"}\n'), env=env)
    assert (config.cortex.auth_token, config.store, config.agent_namespace) == ("x", "/data/graph", "may")
    assert Config.load(env={"CORTEX_STORE": end}).store == Config.load(env={}).store


def test_a_token_whose_variable_is_not_set_is_rejected(yaml):
    path = yaml('cortex: {authToken: "${TOKEN}"}\n')
    assert "'TOKEN' is not set" in faults(Config.load, path, env={})["cortex.authToken"]


def test_config_expands_the_token_from_the_environment_of_the_process(monkeypatch):
    monkeypatch.setenv("TEST_TOKEN", "x")
    assert Config(cortex={"authToken": "${TEST_TOKEN}"}).cortex.auth_token == "x"


def test_the_token_is_in_no_output(yaml):
    config = Config(cortex={"authToken": "hush-hush"})
    assert "hush" not in repr(config) + str(config) + str(config.to_json()) + repr(config.cortex)
    for text in ("4711e5", "47114711", "true", "[hush-hush]", "{hush: hush}", "2024-01-01"):
        with pytest.raises(CortexError) as caught:
            Config.load(yaml(f"cortex: {{authToken: {text}}}\n"), env={})
        assert "authToken" in str(caught.value)
        assert text not in str(caught.value) + str(caught.value.details)


def test_the_json_gives_the_same_configuration():
    config = Config(agentNamespace="x", vocabularies=["rdf"], skillSandbox={"maxWrites": 1}, hotReload=True)
    assert Config(**config.to_json()) == config


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
sections = st.dictionaries(st.sampled_from(["port", "maxWrites", "auto_scan", "auth_token", "x"]), values, max_size=4)


@given(
    st.dictionaries(
        st.sampled_from(["cortex", "store", "skillSandbox", "verification", "vocabularies", "base_iri"]) | st.text(),
        values | sections,
        max_size=5,
    )
)
def test_any_arguments_make_a_configuration_or_a_config_error(settings):
    assert outcome(Config, **settings) in (Config, "config_invalid")


@given(st.dictionaries(st.sampled_from(["STORE", "CORTEX__PORT", "HOT_RELOAD", "VOCABULARIES", "X"]), st.text()))
@example({"CORTEX__PORT": "0\x1f"})  # str.strip() removes it, int() does not accept it
def test_any_environment_makes_a_configuration_or_a_config_error(variables):
    env = {f"CORTEX_{name}": text for name, text in variables.items()}
    assert outcome(Config.load, env=env) in (Config, "config_invalid")


def test_the_import_loads_no_large_library():
    modules = "cortex_skills.config.settings, cortex_skills.manifest, cortex_skills.policy.budgets"
    code = f"import sys, {modules}; print(*sys.modules)"
    loaded = set(
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    )
    assert not loaded & {"jsonschema_rs", "semantic_version", "platformdirs", "yaml"}


FORMER_NAMES = [
    ("allowFirstUse", lambda read: read.verification.trust_on_first_use, "verification.trustOnFirstUse", "skills"),
    ("allowLoopback", lambda read: read.actions.allow_loopback, "actions.allowLoopback", "http_get"),
]


@pytest.mark.parametrize(("name", "read", "new", "covered"), FORMER_NAMES)
def test_the_former_name_of_a_setting_is_read_as_the_new_one_with_a_warning(tmp_path, name, read, new, covered):
    (tmp_path / "c.yaml").write_text(f"artifacts: {{{name}: true}}\n")
    variable = f"CORTEX_ARTIFACTS__{re.sub('(?=[A-Z])', '_', name).upper()}"
    for found in (
        Config(artifacts={name: True}),
        Config.load(tmp_path / "c.yaml", env={}),
        Config.load(env={variable: "true"}),
    ):
        assert read(found) is True
        (warning,) = found.warnings
        assert f"is read as {new}" in warning
        assert covered in warning
    section, key = new.split(".")
    assert read(Config(**{"artifacts": {name: True}, section: {key: False}})) is False
    assert read(Config.load(tmp_path / "c.yaml", env={}, overrides={section: {key: False}})) is False
    assert read(Config.load(tmp_path / "c.yaml", env={}, overrides={section: {key: None}})) is True
    assert read(Config(artifacts={name: None})) is False
    with pytest.raises(CortexError, match=new):
        Config(artifacts={name: "perhaps"})
