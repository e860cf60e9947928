"""An operation as a REST endpoint and as a command, made from its types."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from click.testing import CliRunner
from pydantic import Field
from typing_extensions import TypedDict

from cortex_skills import Plugin
from cortex_skills.doors.cli.operation_command import command_of
from cortex_skills.doors.rest.operations import Operations
from cortex_skills.doors.rest.wire_arguments import WireArguments
from cortex_skills.doors.server import app as server
from cortex_skills.errors import CortexError
from cortex_skills.operations.caller import Caller, owner
from cortex_skills.operations.operation import OPERATIONS, Operation, OperationCall, all_operations, operation
from cortex_skills.operations.run import run
from tests.configs import config
from tests.server.serving import Running, served


@dataclass(frozen=True, slots=True)
class Drinks:
    """Drinks of one kind."""

    kind: Annotated[str, Field(max_length=20)]
    how_many: Annotated[int, Field(ge=1, le=9, description="How many cups.")] = 1
    is_hot: bool = False
    size: Literal["small", "large"] = "small"


@dataclass(frozen=True, slots=True)
class Guests:
    """Who is coming."""

    names: tuple[str, ...]
    note: str | None = None


class Cup(TypedDict):
    """A cup."""

    kind: str
    size: str


@pytest.fixture(scope="module", autouse=True)
def drinks() -> Iterator[Operation[Any, Any]]:
    @operation("test.drinks", effect="reads", permission="read", per_minute=200)
    def pour(call: OperationCall, given: Drinks) -> list[Cup]:
        """Pour drinks.

        Each has a cup of its own.
        """
        if given.kind == "none":
            raise CortexError("skill_not_found", "there is none")
        return [Cup(kind=given.kind + " hot" * given.is_hot, size=given.size) for _ in range(given.how_many)]

    @operation("test.guests", effect="reads", permission="write")
    def invite(call: OperationCall, given: Guests) -> dict[str, Any]:
        """Invite guests."""
        return {"names": list(given.names), "by": call.caller.name, "in": call.host.graph.namespace}

    yield pour
    for name in ("test.drinks", "test.guests"):
        del OPERATIONS[name]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory, drinks: Any) -> Iterator[Running]:
    endpoints = Operations()
    endpoints.serve("GET", "/api/test/drinks/{kind}", OPERATIONS["test.drinks"], errors=("skill_not_found",))
    endpoints.serve("POST", "/api/test/guests", OPERATIONS["test.guests"])
    own, root = server.api(), tmp_path_factory.mktemp("generic")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server, "api", lambda: (*own, *endpoints))
        with served(root, plugin=Plugin.open(config(cortex={"tokenFile": str(root / "tokens.json")}))) as serving:
            yield serving


def test_arguments_come_from_the_path_the_query_string_and_the_body_with_the_types_of_the_operation(
    running: Running,
) -> None:
    client = running.client(running.token("reader", ("mayros", "other")))
    answer = client.get("/api/test/drinks/tea", params={"howMany": "2", "isHot": "true", "namespace": "mayros"})
    assert (answer.status_code, answer.json()) == (200, [{"kind": "tea hot", "size": "small"}] * 2)
    answer = client.post("/api/test/guests", params={"namespace": "other"}, json={"names": ["Ada", "Bob"]})
    assert answer.json() == {"names": ["Ada", "Bob"], "by": "reader", "in": "other"}


@pytest.mark.parametrize(
    ("path", "code", "field"),
    [
        ("/api/test/drinks/tea?howMany=10", "invalid_arguments", "howMany"),
        ("/api/test/drinks/tea?howMany=two", "invalid_arguments", "howMany"),
        ("/api/test/drinks/tea?isHot=1", "invalid_arguments", "isHot"),
        ("/api/test/drinks/tea?size=huge", "invalid_arguments", "size"),
        ("/api/test/drinks/tea?how_many=2", "invalid_arguments", None),
        (f"/api/test/drinks/{'x' * 21}", "invalid_arguments", "document"),
        ("/api/test/drinks/none", "skill_not_found", None),
    ],
)
def test_a_wrong_argument_is_refused_with_its_name(running: Running, path: str, code: str, field: str | None) -> None:
    answer = running.client(running.token("reader", ("mayros", "other"))).get(path).json()
    assert (answer["code"], answer.get("details", {}).get("field")) == (code, field)


def test_a_request_needs_the_permission_of_the_operation(running: Running) -> None:
    client = running.client(running.token("only-reads", permissions=("read",)))
    assert client.post("/api/test/guests", json={"names": []}).json()["code"] == "permission_denied"
    assert running.client().get("/api/test/drinks/tea").status_code == 401


def test_openapi_describes_the_operation_from_its_types(running: Running) -> None:
    document = running.client().get("/openapi.json").json()
    described = document["paths"]["/api/test/drinks/{kind}"]["get"]
    assert (described["operationId"], described["summary"]) == ("testDrinks", "Pour drinks.")
    assert described["description"] == "Each has a cup of its own."
    by_name = {each["name"]: each for each in described["parameters"]}
    assert by_name["kind"]["schema"] == {"type": "string", "maxLength": 20}
    assert by_name["howMany"] == {
        "name": "howMany",
        "in": "query",
        "required": False,
        "schema": {"type": "integer", "minimum": 1, "maximum": 9, "description": "How many cups."},
    }
    assert by_name["size"]["schema"]["enum"] == ["small", "large"]
    answer = described["responses"]["200"]["content"]["application/json"]["schema"]
    assert answer == {"type": "array", "items": {"$ref": "#/components/schemas/Cup"}}
    body = document["paths"]["/api/test/guests"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    model = document["components"]["schemas"][body["$ref"].rpartition("/")[2]]
    assert (model["required"], model["properties"]["names"]) == (
        ["names"],
        {"type": "array", "items": {"type": "string"}},
    )


def test_a_list_is_no_parameter_of_a_query_string() -> None:
    with pytest.raises(TypeError, match="offer the operation as a POST"):
        WireArguments(OPERATIONS["test.guests"], "/api/test/guests", {}, {}, from_query=True).query  # noqa: B018


def test_an_optional_list_is_no_parameter_of_a_query_string() -> None:
    @dataclass(frozen=True, slots=True)
    class Some:
        kinds: tuple[str, ...] = ()
        note: str = ""

    @operation("test.some", effect="reads", permission=None)
    def run(call: OperationCall, given: Some) -> str:
        """Read some."""
        return ""

    try:
        run.__dict__["given"] = Some
        query = WireArguments(run, "/api/test/some", {}, {}, from_query=True).query
    finally:
        del OPERATIONS["test.some"]
    assert set(query.__annotations__) == {"namespace", "note"}


def answer_of(tmp_path: Path, name: str, *arguments: str) -> Any:
    command = command_of(OPERATIONS[name])
    return CliRunner().invoke(command, [*arguments, "--store", str(tmp_path / "g")])


def test_a_command_has_the_arguments_and_the_answer_of_the_operation(tmp_path: Path) -> None:
    (tmp_path / "g").mkdir()
    asked = ("tea", "--how-many", "2", "--is-hot", "--size", "large")
    answer = answer_of(tmp_path, "test.drinks", *asked, "--json")
    assert json.loads(answer.stdout) == [{"kind": "tea hot", "size": "large"}] * 2
    assert answer_of(tmp_path, "test.drinks", *asked).stdout.splitlines()[1:] == ["tea hot\tlarge"] * 2
    answer = answer_of(tmp_path, "test.guests", "Ada", "Bob")
    assert answer.stdout.splitlines() == ["names: Ada, Bob", "by: default", "in: mayros"]


def test_a_command_refuses_what_the_operation_refuses(tmp_path: Path) -> None:
    (tmp_path / "g").mkdir()
    refused = answer_of(tmp_path, "test.drinks", "tea", "--how-many", "10").exception
    assert isinstance(refused, CortexError)
    assert [each["field"] for each in refused.details["errors"]] == ["how_many"]
    assert "No such option" in answer_of(tmp_path, "test.drinks", "tea", "--no-such").output


def test_the_help_of_a_command_is_the_docstring_of_the_operation() -> None:
    shown = CliRunner().invoke(command_of(OPERATIONS["test.drinks"]), ["--help"]).output
    assert "Pour drinks." in shown
    assert "How many cups." in shown


def test_the_rate_is_that_of_the_caller_whatever_agent_it_names(drinks: Operation[Any, Any]) -> None:
    with Plugin.open(config()) as plugin:
        for number in range(200):
            caller = Caller("token", "agent", "rest", frozenset({"read"}), agent=f"a{number}")
            run(drinks, caller, {"kind": "tea"}, plugin._host)
        with pytest.raises(CortexError, match="as often as it may") as refused:
            run(drinks, caller, {"kind": "tea"}, plugin._host)
        assert refused.value.code == "rate_limited"
        run(drinks, Caller("another", "agent", "rest", frozenset({"read"})), {"kind": "tea"}, plugin._host)
        run(drinks, owner("ada", "command"), {"kind": "tea"}, plugin._host)


def test_the_table_has_the_operations_of_all_features() -> None:
    names = all_operations().keys()
    assert {"registry.register", "registry.delete"} <= names
    assert list(names) == sorted(names)
