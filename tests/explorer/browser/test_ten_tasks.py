"""A person's ten tasks, each in at most four steps with the mouse and with the keyboard alone (`walking.py`).

Each starts on the overview, in a session whose token was not shown again, so that every act asks for it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import pytest

from tests.explorer.browser.conftest import playwright
from tests.explorer.browser.walking import MOST_MOVES, Walk
from tests.explorer.browser.workday import PERSON, at_work, packages
from tests.server.serving import Running

By = Literal["mouse", "keyboard"]
Start = Callable[..., Walk]
MOST_STEPS = 4
DOCUMENTED = Path(__file__).parents[3] / "docs" / "explorer.md"


def expect(thing: Any) -> Any:
    return playwright.expect(thing)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with at_work(tmp_path_factory.mktemp("workday")) as server:
        yield server


@pytest.fixture(scope="module")
def token(running: Running) -> str:
    return running.token("ada", permissions=PERSON, holder="person")


@pytest.fixture
def start(watched: Callable[..., Any], running: Running, token: str) -> Start:
    """Signs in, and begins a walk on the overview."""

    def begin(by: By, expected: str = "", permissions: tuple[str, ...] = ()) -> Walk:
        one = watched(reduced_motion="reduce", accept_downloads=True)
        one.expected += [expected] if expected else []
        one.context.grant_permissions(list(permissions))
        page = one.page()
        page.goto(f"{running.url}/explore/login")
        page.get_by_label("Token").fill(token)
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Namespace mayros")
        return Walk(page, by)

    return begin


def done(walk: Walk, task: str) -> None:
    """Count the steps of a task, which are those of the documentation."""
    assert len(walk.steps) <= MOST_STEPS, walk.steps
    assert max(walk.moves) <= MOST_MOVES
    rows = re.findall(
        rf"^\| {re.escape(task)} \| [^|]* \| (\d+) \| (\d+), at most (\d+) \|$", DOCUMENTED.read_text(), re.MULTILINE
    )
    assert rows, f"docs/explorer.md has no row of the task {task!r}"
    ((mouse, keyboard, moves),) = rows
    assert str(len(walk.steps)) == (mouse if walk.by == "mouse" else keyboard), walk.steps
    assert walk.by == "mouse" or max(walk.moves) == int(moves), walk.moves


def objects(running: Running, subject: str, predicate: str) -> list[Any]:
    found = running.plugin.graph.list_triples({"subject": subject, "predicate": predicate})["triples"]
    return [row["object"] for row in found]


def recorded(running: Running, event: str) -> Any:
    """The latest record of an event."""
    return next(each.record for each in running.plugin.audit.calls.page().calls if each.record.event == event)


BOTH = pytest.mark.parametrize("by", ["mouse", "keyboard"])
LATER = pytest.mark.parametrize(
    "by", [pytest.param("mouse", marks=pytest.mark.extended), pytest.param("keyboard", marks=pytest.mark.extended)]
)


@LATER
def test_find_something_by_a_part_of_its_name(start: Start, by: By) -> None:
    walk = start(by)
    walk.find("cust")
    walk.open("link", "mayros:customer:chidi", in_rows=True)
    expect(walk.page.get_by_role("heading", level=1)).to_have_text("mayros:customer:chidi")
    done(walk, "Find something by a part of its name")


@LATER
def test_learn_who_stated_something(start: Start, by: By) -> None:
    walk = start(by)
    walk.find("boris")
    row = walk.page.get_by_role("row", name=re.compile("isVerified"))
    expect(row).to_contain_text("for auditor")
    walk.open("link", re.compile("Evidence"), row=re.compile("isVerified"), in_rows=True)
    expect(walk.page.get_by_role("main")).to_contain_text("auditor")
    expect(walk.page.get_by_role("main")).to_contain_text("Verified")
    done(walk, "Learn who stated something")


@LATER
def test_see_what_changed_since_yesterday(start: Start, by: By) -> None:
    walk = start(by)
    walk.go("Changes", "g c")
    table = walk.page.get_by_role("region", name="Changes")
    expect(table.get_by_role("row", name=re.compile("boris isVerified true auditor"))).to_have_count(1)
    expect(table).not_to_contain_text("package:")
    done(walk, "See what changed since yesterday")


@LATER
def test_see_what_an_agent_did(start: Start, by: By) -> None:
    walk = start(by)
    walk.go("Agents", "g d")
    walk.open("link", "auditor", in_rows=True)
    main = walk.page.get_by_role("main")
    for words in ("customer:ada", "Ada moved to Oslo", "proof_failed"):
        expect(main).to_contain_text(words)
    done(walk, "See what an agent did")


@LATER
def test_take_away_a_map_of_two_steps(start: Start, by: By, tmp_path: Path) -> None:
    needs: dict[str, set[str]] = {}
    for row in packages():
        if row["predicate"] == "dependsOn":
            needs.setdefault(row["subject"], set()).add(row["object"]["node"])
    root, far = next(
        (name, min(needs[near] - found - {name}))
        for name, found in sorted(needs.items())
        if len(found) < 4
        for near in sorted(found)
        if needs.get(near, set()) - found - {name}
    )
    walk = start(by)
    walk.find(root)
    walk.open("link", "Map, 2 steps")
    with walk.page.expect_download() as download:
        walk.open("link", "SVG", leaves=False)
    text = Path(download.value.path()).read_text()
    assert root.partition(":")[2] in text
    assert far.partition(":")[2] in text
    done(walk, "Take away a map of two steps")


CHART = "SELECT ?p (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?p"


@LATER
def test_share_a_chart_of_a_query(start: Start, by: By) -> None:
    walk = start(by, permissions=("clipboard-read", "clipboard-write"))
    walk.go("SPARQL", "g q")
    walk.type("SPARQL query", CHART, sends="Control+Enter")
    walk.open("link", "Chart", skip="Skip to the answer")
    walk.open("button", "Copy link", skip="Skip to the answer", leaves=False)
    expect(walk.page.get_by_role("status").filter(has_text="Copied.")).to_have_count(1)
    link = walk.page.evaluate("() => navigator.clipboard.readText()")
    assert link == walk.page.url.partition("#")[0]
    done(walk, "Share a chart of a query")
    other = start(by)
    other.page.goto(link)
    other.open("button", "Run")
    expect(other.page.get_by_role("region", name="Chart").get_by_role("img")).to_be_visible()
    done(other, "Open a chart that was shared")


@LATER
def test_compare_two_moments(start: Start, by: By) -> None:
    walk = start(by)
    walk.go("Changes", "g c")
    walk.type("Since", "3d", sends="")
    walk.type("Until", "yesterday")
    number = len({json.dumps(row, sort_keys=True) for row in packages()})
    expect(walk.page.get_by_role("main")).to_contain_text(f"{number} added, 0 withdrawn")
    done(walk, "Compare two moments")


@BOTH
def test_correct_a_wrong_statement(start: Start, running: Running, token: str, by: By) -> None:
    customer = {"mouse": "chidi", "keyboard": "dolores"}[by]
    before = objects(running, f"customer:{customer}", "hasStatus")
    assert before != ["paused"]
    walk = start(by)
    walk.find(customer)
    walk.open("link", re.compile("^Correct"), row=re.compile("hasStatus"), in_rows=True)
    walk.type("Value", "paused")
    difference = walk.page.get_by_role("region", name="What changes")
    expect(difference).to_contain_text(f"− mayros:customer:{customer} hasStatus {before[0]}")
    expect(difference).to_contain_text(f"+ mayros:customer:{customer} hasStatus paused")
    walk.type("Token", token, skip="Skip to the form")
    expect(walk.page.get_by_role("heading", level=1)).to_contain_text(f"{customer} hasStatus paused")
    assert objects(running, f"customer:{customer}", "hasStatus") == ["paused"]
    record = recorded(running, "graph.correct")
    assert (record.agent, record.outcome, record.data["door"]) == ("ada", "ok", "page")
    done(walk, "Correct a wrong statement")


@LATER
def test_approve_a_request_with_other_inputs(start: Start, running: Running, token: str, by: By) -> None:
    file = {"mouse": "out/todo.md", "keyboard": "out/index.md"}[by]
    asked = next(
        each for each in running.plugin.approvals.list("pending").records if each.request.inputs["path"] == file
    )
    walk = start(by)
    walk.open("link", file, in_rows=True)
    walk.open("link", "Edit before it runs")
    walk.type("content", "# Edited\n", sends="Control+Enter")
    if by == "keyboard":  # the other file is a new one
        expect(walk.page.get_by_role("region", name="What it would change")).to_contain_text("+# Edited")
    expect(walk.page.get_by_role("region", name="Input content")).to_contain_text("# Edited")
    walk.type("Token", token)
    expect(walk.page.get_by_role("main")).to_contain_text("was approved by ada and ran")
    workspace = Path(running.plugin.config.actions.workspace or "")
    assert (workspace / file).read_text() == "# Edited\n"
    assert running.plugin.approvals.state_of(running.plugin.approvals.show(asked.id)) == "rejected"
    record = recorded(running, "approvals.approve")
    assert (record.agent, record.outcome, record.data["door"]) == ("ada", "ok", "page")
    assert recorded(running, "approvals.edit").data["object"] == asked.id
    done(walk, "Approve a request with other inputs")


@LATER
def test_forget_a_memory(start: Start, running: Running, token: str, by: By) -> None:
    text = {"mouse": "Chidi sends papers by courier", "keyboard": "Boris prefers to be called in the afternoon"}[by]
    walk = start(by, expected="status of 401")
    walk.find(" ".join(text.split()[-2:]))
    walk.open("link", text)
    walk.open("button", "Forget")
    walk.type("Token", token)
    expect(walk.page.get_by_role("heading", level=1)).to_have_text("Memories")
    expect(walk.page.get_by_role("main")).not_to_contain_text(text)
    left = running.client(token).get("/explore/mayros/memories?format=json").json()["memories"]
    assert "Ada moved to Oslo" in [each["text"] for each in left]
    assert text not in [each["text"] for each in left]
    record = recorded(running, "memory.forget")
    assert (record.agent, record.outcome, record.data["door"]) == ("ada", "ok", "page")
    done(walk, "Forget a memory")
