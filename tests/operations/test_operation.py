"""Operations: how they are declared, checked and recorded."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from cortex_skills import Plugin
from cortex_skills.errors import CortexError
from cortex_skills.features.registry import skill_changes as changes
from cortex_skills.features.registry.documents.skill_md import inline_document
from cortex_skills.features.registry.records.skill_record import LearnedIn
from cortex_skills.operations.caller import Caller, holder_permissions, owner
from cortex_skills.operations.operation import OPERATIONS, OperationCall, all_operations, operation
from cortex_skills.operations.run import run
from tests.configs import config

NAME = "mayros/fetch-data"


@pytest.fixture
def plugin(tmp_path: Path) -> Iterator[Plugin]:
    keys = {"keys": str(tmp_path / "keys")}
    with Plugin.open(config(audit={"folder": str(tmp_path / "audit")}, proofs=keys), registers=False) as plugin:
        plugin.operate(changes.register, document=document())
        yield plugin


def document(name: str = "fetch-data") -> Any:
    return inline_document({"name": name, "description": "d", "body": "b"}, "mayros")


def error_of(plugin: Plugin, name: str, caller: Caller, /, **given: Any) -> CortexError:
    with pytest.raises(CortexError) as caught:
        run(OPERATIONS[name], caller, given, plugin._host)
    return caught.value


def records(plugin: Plugin) -> list[Any]:
    return [call.record for call in plugin.audit.calls.page().calls if call.record.category == "registry"]


def test_a_change_without_an_object_or_its_state_cannot_be_declared() -> None:
    with pytest.raises(TypeError, match="declare its object"):
        operation("test.change", effect="changes", permission=None)
    with pytest.raises(TypeError, match="declare its object"):
        operation("test.change", effect="changes", permission=None, object_="skill")
    with pytest.raises(TypeError, match="already"):
        operation("registry.delete", effect="reads", permission=None)
    assert "test.change" not in OPERATIONS


@pytest.mark.parametrize("name", all_operations())
def test_each_operation_has_a_summary_an_object_and_checked_arguments(plugin: Plugin, name: str) -> None:
    declared = all_operations()[name]
    assert declared.summary.endswith(".")
    assert declared.effect == "reads" or hasattr(declared.given, declared.object_)
    refused = error_of(plugin, name, owner("ada", "python"), no_such_argument=1)
    assert refused.code == "invalid_arguments"
    assert "no_such_argument" in [each["field"] for each in refused.details["errors"]]


@pytest.mark.parametrize("name", [name for name, each in all_operations().items() if each.permission is not None])
def test_an_operation_is_refused_without_its_permission_and_a_refused_change_is_recorded(
    plugin: Plugin, name: str
) -> None:
    declared, before = all_operations()[name], plugin.recent_calls.page().calls
    given = {"skill": NAME, "namespace": "mayros"}
    asked = {declared.object_: given.get(declared.object_, "x")} if declared.object_ else {}
    assert error_of(plugin, name, Caller("eve", "person", "rest"), **asked).code == "permission_denied"
    after = plugin.recent_calls.page().calls
    if not declared.recorded:
        assert after == before
        return
    last = after[0].record
    assert (last.event, last.outcome, last.agent) == (name, "permission_denied", "eve")
    if declared.object_ in given:
        assert last.data["object"] == given[declared.object_]


def test_a_record_has_the_object_before_and_after_the_reason_and_the_caller(plugin: Plugin) -> None:
    given = {"skill": "fetch-data", "reason": "Replaced; the key is AKIAIOSFODNN7EXAMPLE."}
    caller = Caller("ann", "person", "page", holder_permissions(["registry"]), namespace="mayros")
    run(changes.deprecate, caller, given, plugin._host)
    last = records(plugin)[0]
    assert last.data == {
        "object": "mayros/fetch-data",
        "before": "version 1, human, released, tier 3",
        "after": "version 1, human, deprecated, tier 3",
        "reason": "Replaced; the key is [redacted].",
        "kind": "person",
        "door": "page",
        "namespace": "mayros",
    }
    assert (last.event, last.agent, last.outcome) == ("registry.deprecate", "ann", "ok")


def test_what_is_deleted_is_named_with_its_state(plugin: Plugin) -> None:
    plugin.operate(changes.delete, skill="fetch-data")
    last = records(plugin)[0]
    assert (last.data["object"], last.data["before"], last.data["after"]) == (
        NAME,
        "version 1, human, released, tier 3",
        None,
    )


def test_the_name_of_what_does_not_exist_is_redacted_like_every_input(plugin: Plugin) -> None:
    secret = "ghp_" + "a1b2c3d4e5f6a7b8c9" * 2
    assert error_of(plugin, "registry.delete", owner("ada", "command"), skill=secret).code == "skill_not_found"
    last = records(plugin)[0]
    assert (last.outcome, last.data["before"]) == ("skill_not_found", None)
    assert secret not in json.dumps(last.to_json())


def test_a_program_does_not_make_skills_of_a_person(plugin: Plugin) -> None:
    caller = Caller("maintenance", "program", "python", owner("", "python").permissions)
    done = run(changes.register, caller, {"document": document("of-a-program")}, plugin._host)
    assert plugin.registry.record(done.version.key).standing.origin == "learned"


@pytest.mark.parametrize(("error", "code"), [(KeyboardInterrupt(), "cancelled"), (OSError("no"), "internal_error")])
def test_what_was_interrupted_or_failed_is_not_recorded_as_done(
    plugin: Plugin, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: str
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(plugin.registry, "purge", fails)
    with pytest.raises(type(error)):
        plugin.operate(changes.delete, skill="fetch-data")
    last = records(plugin)[0]
    assert (last.event, last.outcome, last.data["after"]) == (
        "registry.delete",
        code,
        "version 1, human, released, tier 3",
    )


def test_a_learned_skill_that_gets_another_name_is_recorded_with_that_name(plugin: Plugin) -> None:
    caller = Caller("a1", "agent", "mcp", frozenset({"write"}))
    learned_in = LearnedIn("s", "a1", datetime.now(UTC))
    given = {"document": document("count-the-figures"), "learned_in": learned_in}
    plugin.registry.register(document("count-the-figures").changed(body="Other."), actor="a2", origin="learned")
    done = run(changes.learn, caller, given, plugin._host)
    last = records(plugin)[0]
    assert last.data["object"] == str(done.version.key)
    assert last.data["after"].startswith(f"version {done.version.number}, learned, candidate")


def test_an_agent_whose_token_may_change_the_registry_changes_what_was_learned(plugin: Plugin) -> None:
    plugin.registry.register(document("of-an-agent"), actor="a1", origin="learned")
    caller = Caller("a2", "agent", "rest", holder_permissions(["registry"]))
    run(changes.delete, caller, {"skill": "of-an-agent"}, plugin._host)
    assert error_of(plugin, "registry.trust", caller, skill="fetch-data", tier=4).code == "permission_denied"


def test_an_operation_that_reads_leaves_no_record(plugin: Plugin) -> None:
    @operation("test.read", effect="reads", permission="read")
    def read(call: OperationCall, given: changes.OneSkill) -> str:
        """Read the name."""
        return given.skill

    try:
        before = len(records(plugin))
        assert run(read, owner("ada", "python"), {"skill": "x"}, plugin._host) == "x"
        assert len(records(plugin)) == before
    finally:
        del OPERATIONS["test.read"]


def test_declaring_operations_imports_no_library_for_types() -> None:
    program = "import sys, cortex_skills.operations.run; sys.exit('pydantic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_skills_that_are_deleted_together_are_ordered_by_their_dependencies(plugin: Plugin) -> None:
    for name, needs in (("base", []), ("middle", ["base"]), ("top", ["middle", "base"])):
        given = {"name": name, "description": "d", "body": "b", "depends_on": needs}
        plugin.registry.register(inline_document(given, "mayros"), actor="ada", origin="human")
    wanted = ["base", "nothing", "../x", "middle", "mayros/top"]
    ordered = changes.deletion_order(plugin.registry, wanted)
    assert ordered == ["nothing", "../x", "mayros/top", "middle", "base"]
