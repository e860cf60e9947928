"""Manifests of MetaHuman OS: each registers as it is written, and the core actions have the same values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex_skills import CortexError, Plugin
from cortex_skills.features.actions.dialects.metahuman import MANIFEST, NOT_KEPT, with_targets
from cortex_skills.features.actions.manifest import ActionManifest
from tests.interchange.metahuman.originals import FS_READ, FS_WRITE, ORIGINALS, SHELL_SAFE

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["inputs", "path", "command", "type", "schema", "format", "allowedDirectories"]), inner
        )
    ),
    max_leaves=12,
)


def by_id(original: dict[str, Any]) -> str:
    return original["id"]


@pytest.mark.parametrize("original", ORIGINALS, ids=by_id)
def test_a_manifest_is_valid_as_it_is_written(original: dict[str, Any]) -> None:
    found = ActionManifest.of(original)
    kept = found.to_json()
    assert {name: kept[name] for name in original if name != "inputs"} == {
        name: value for name, value in original.items() if name != "inputs"
    }
    assert list(kept["inputs"]) == list(original["inputs"])


@pytest.mark.parametrize("original", ORIGINALS, ids=by_id)
def test_the_core_action_of_the_same_id_has_its_values(
    at_level: Callable[..., Plugin], original: dict[str, Any]
) -> None:
    ours = at_level("bounded_auto").actions.all()[original["id"]].manifest.to_json()
    for name in ("category", "risk", "cost", "minTrustLevel", "requiresApproval"):
        assert (name, ours[name]) == (name, original[name])
    assert set(original["inputs"]) == set(ours["inputs"])
    assert set(original["outputs"]) == set(ours["outputs"])


@pytest.mark.parametrize("original", ORIGINALS, ids=by_id)
def test_each_member_of_a_manifest_is_mapped_or_named_as_not_kept(original: dict[str, Any]) -> None:
    of_fields = {
        f"{group}.{key}" for group in ("inputs", "outputs") for each in original[group].values() for key in each
    }
    assert set(original) | of_fields <= set(MANIFEST)
    kept = ActionManifest.of(original).to_json()
    for name in original:
        assert not MANIFEST[name].startswith(NOT_KEPT)
        assert MANIFEST[name] in kept


def test_the_folders_of_a_manifest_restrict_its_input_path(at_level: Callable[..., Plugin]) -> None:
    plugin = at_level("bounded_auto")
    plugin.actions.register(FS_WRITE | {"id": "notes", "risk": "low", "requiresApproval": False}, _written)
    done = plugin.call("notes", {"path": "out/a.txt", "content": "x"})
    assert done.details["outputs"] == {"path": "out/a.txt", "size": 1}
    for path in ("docs/a.txt", "out/../docs/a.txt", "out-evil/a.txt", "/etc/passwd", "brain/a.txt"):
        assert plugin.call("notes", {"path": path, "content": "x"}).code == "path_refused"


def test_a_folder_that_is_a_dot_is_the_whole_workspace(at_level: Callable[..., Plugin]) -> None:
    plugin = at_level("bounded_auto")
    plugin.actions.register(FS_READ | {"id": "peek"}, lambda call: {"content": call.inputs["path"]})
    assert plugin.call("peek", {"path": "docs/a.txt"}).details["outputs"] == {"content": "docs/a.txt"}
    assert plugin.call("peek", {"path": "out-evil/a.txt"}).code is None
    for path in ("brain/a.ts", ".git/config", "../a.txt", "/etc/passwd"):
        assert plugin.call("peek", {"path": path}).code == "path_refused"


def test_the_commands_of_a_manifest_restrict_its_input_command(at_level: Callable[..., Plugin]) -> None:
    plugin = at_level("bounded_auto")
    plugin.actions.register(SHELL_SAFE | {"id": "tool", "risk": "low", "requiresApproval": False}, _ran)
    assert plugin.call("tool", {"command": "ls"}).details["outputs"]["stdout"] == "ls"
    for command in ("rm", "ls; rm", "", "LS", "./ls"):
        assert plugin.call("tool", {"command": command}).code == "command_refused"


def test_lists_that_restrict_no_input_are_refused() -> None:
    without = FS_READ | {"inputs": {"file": {"type": "string", "required": True}}}
    with pytest.raises(CortexError, match="allowedDirectories: restricts no input"):
        ActionManifest.of(without)
    of_another_type = FS_READ | {"inputs": {"path": {"type": "array", "required": True}}}
    with pytest.raises(CortexError, match="allowedDirectories: restricts no input"):
        ActionManifest.of(of_another_type)


def test_an_input_that_has_the_format_is_the_one_that_is_restricted() -> None:
    inputs = {"path": {"type": "string"}, "target": {"type": "string", "schema": {"format": "workspace-path"}}}
    assert ActionManifest.of(FS_READ | {"inputs": inputs}).inputs_of("workspace-path") == ["target"]


@pytest.mark.parametrize("level", ["adaptive_auto", "OBSERVE", "", None])
def test_refused_a_trust_level_that_is_not_known(level: object) -> None:
    with pytest.raises(CortexError, match="minTrustLevel"):
        ActionManifest.of(FS_READ | {"minTrustLevel": level})


@pytest.mark.parametrize("original", ORIGINALS, ids=by_id)
def test_refused_an_id_of_a_core_action_is_not_given_twice(
    at_level: Callable[..., Plugin], original: dict[str, Any]
) -> None:
    with pytest.raises(CortexError, match="is taken"):
        at_level("observe").actions.register(original, _ran)


@given(JSON.filter(lambda value: isinstance(value, dict)))
def test_any_document_is_a_manifest_or_refused_with_its_fields(document: dict[str, Any]) -> None:
    assert set(with_targets(document)) == set(document)
    with pytest.raises(CortexError) as refused:
        ActionManifest.of(document)
    assert refused.value.code == "manifest_invalid"
    assert refused.value.details["errors"]


def _written(call: Any) -> dict[str, Any]:
    return {"path": call.inputs["path"], "size": len(call.inputs["content"])}


def _ran(call: Any) -> dict[str, Any]:
    return {"stdout": call.inputs["command"], "stderr": "", "exitCode": 0}
