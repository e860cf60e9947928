"""The settings that are paths."""

from collections.abc import Mapping

import pytest

from cortex_skills.config import Config
from cortex_skills.config.sections import declared, path_settings
from cortex_skills.config.setting import PathSetting, snake

# Settings that take free text and are no paths: names, addresses, and names below the workspace.
NO_PATHS = {
    "actions.agents",  # programs and their arguments, that the owner starts
    "actions.allowed_hosts",
    "actions.never",
    "actions.read",
    "actions.write",
    "agent_namespace",
    "approvals.hosts",
    "artifacts.addresses",
    "artifacts.config",  # values that artifacts declare
    "base_iri",
    "cortex.allowed_hosts",
    "cortex.auth_token",
    "cortex.host",
    "finder.endpoint",
    "finder.key_variable",
    "finder.model",
    "graph.labels",
    "graph.languages",
    "host.name",
    "learning.endpoint",
    "learning.key_variable",
    "learning.model",
    "proofs.key",  # a name in the folder `proofs.keys`
    "proofs.trusted_issuers",
    "registry.reflection_namespaces",
    "skill_sandbox.inspect",
    "verification.owner",
    "verification.publishers",
    "verification.revoked",
    "vocabularies",
}
PRIVATE = {
    "store",
    "cortex.token_file",
    "verification.model_keys",
    "verification.trust_store",
    "proofs.keys",
    "proofs.openings",
    "proofs.openings_key",
    "audit.folder",
    "audit.removed",
    "audit.removed_key",
    "learning.runs",
    "secrets.file",
    "secrets.key",
    "artifacts.folder",
}


def takes_free_text(rule):
    """Whether the value of a setting, or a part of it, is text that the schema does not enumerate."""
    if "enum" in rule:
        return False
    kinds = rule["type"] if isinstance(rule["type"], list) else [rule["type"]]
    return bool({"string", "object"} & set(kinds)) or ("array" in kinds and takes_free_text(rule["items"]))


def test_each_setting_that_takes_text_is_marked_as_a_path_or_known_to_be_none():
    marked = {".".join(setting) for setting in declared().paths}
    text = {".".join(map(snake, name)) for name, rule in declared().rules.items() if takes_free_text(rule)}
    assert marked.isdisjoint(NO_PATHS)
    assert text == marked | NO_PATHS


def test_where_keys_tokens_secrets_and_data_are_is_private():
    assert {".".join(setting) for setting, mark in declared().paths.items() if mark.access == "private"} == PRIVATE


def test_each_path_of_a_configuration_is_found_with_its_setting():
    config = Config(
        proofs={"shapes": {"stock": "stock.ttl"}},
        registry={"folders": ["a", "b"]},
        artifacts={"channels": {"mail": "https://example.org/"}},
        secrets={"key": "k"},
    )
    assert set(path_settings(config)) == {
        ("store", "memory:", PathSetting("private", may_be_address=True)),
        ("proofs.shapes.stock", "stock.ttl", PathSetting("read-only")),
        ("registry.folders", "a", PathSetting("read-only")),
        ("registry.folders", "b", PathSetting("read-only")),
        ("secrets.key", "k", PathSetting("private")),
        ("artifacts.channels.mail", "https://example.org/", PathSetting("public", may_be_address=True)),
    }


@pytest.mark.parametrize("setting", list(declared().paths), ids=".".join)
def test_a_value_of_each_marked_setting_is_found(setting):
    section, name = setting if len(setting) == 2 else (None, setting[0])
    default = getattr(getattr(Config(), section), name) if section else Config().store
    given = {"x": "/p"} if isinstance(default, Mapping) else ["/p"] if isinstance(default, tuple) else "/p"
    config = Config(**{section: {name: given}} if section else {name: given})
    assert "/p" in {value for _, value, _ in path_settings(config)}


def test_a_store_that_is_a_server_is_no_path():
    config = Config(store={"query": "https://example.org/query", "update": "https://example.org/update"})
    assert list(path_settings(config)) == []
