"""An agent does a task and learns a skill from it; other agents do it with the skill, which their outcomes verify.

    python examples/learning/run_agent.py [--store FOLDER]

No language model is needed: the agent is a few lines of Python that try tools until the task is done. The first one
looks for the way and makes a mistake on it; each later one follows the skill. The store is kept.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cortex_skills import Config, Plugin, Result
from cortex_skills.features.registry.records.skill_record import SkillKey
from cortex_skills.features.registry.records.standing import gain_of
from cortex_skills.skill_folder.builtin import NOTEBOOK, builtin_skill

TASK = "Report which orders cannot be delivered"
NAME = "report-missing-stock"
DESCRIPTION = (
    "Compares the orders with the stock and reports what is missing. Use it for orders that cannot be delivered."
)
AGENTS = ("clerk", "porter", "buyer", "driver")


class Warehouse:
    """The tools of the host: they work on two tables in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.tools: dict[str, Callable[..., Any]] = {
            "list_files": self.list_files,
            "count_rows": self.count_rows,
            "report_missing": self.report_missing,
        }

    def write_tables(self, day: int) -> None:
        """Write the tables of a day."""
        orders = [("screws", 40), ("nails", 20 + day), ("washers", 5)]
        stock = [("screws", 250), ("nails", 22), ("washers", day)]
        for name, rows in (("orders.csv", orders), ("stock.csv", stock)):
            with (self._folder / name).open("w", newline="", encoding="utf-8") as file:
                csv.writer(file).writerows([("item", "count"), *rows])

    def list_files(self) -> list[str]:
        """The names of the tables."""
        return sorted(path.name for path in self._folder.glob("*.csv"))

    def count_rows(self, file: str) -> int:
        """How many rows a table has."""
        return len(self._table(file))

    def report_missing(self, orders: str, stock: str) -> dict[str, int]:
        """What is ordered and not in stock, by item."""
        wanted, there = self._table(orders), self._table(stock)
        return {item: count - there.get(item, 0) for item, count in wanted.items() if count > there.get(item, 0)}

    def _table(self, file: str) -> dict[str, int]:
        with (self._folder / file).open(newline="", encoding="utf-8") as lines:
            return {row["item"]: int(row["count"]) for row in csv.DictReader(lines)}


class Agent:
    """Does the task in one session of a plugin."""

    def __init__(self, plugin: Plugin, warehouse: Warehouse) -> None:
        self._plugin = plugin
        self._warehouse = warehouse
        self.calls = 0

    def use(self, tool: str, **arguments: Any) -> Any:
        """Call a tool of the host, and record how it ended."""
        self.calls += 1
        try:
            answer = self._warehouse.tools[tool](**arguments)
        except OSError:
            self._plugin.record(tool, outcome="not_found", arguments=arguments)
            return None
        self._plugin.record(tool, arguments=arguments)
        return answer

    def ask(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool of the plugin."""
        result: Result = self._plugin.call(tool, arguments)
        if result.is_error:
            raise SystemExit(f"{tool}: {result.text}")
        return result.details

    def explore(self) -> dict[str, int]:
        """Find the way, with a wrong guess at its beginning."""
        if self.use("count_rows", file="orders.json") is None:
            self.use("list_files")
            self.use("count_rows", file="orders.csv")
        found: dict[str, int] = self.use("report_missing", orders="orders.csv", stock="stock.csv")
        return found

    def find_skill(self) -> str | None:
        """A skill for the task: a reliable one, or else a candidate that no session has tried."""
        found = self.ask("skill_find", query=TASK)["skills"] + self.ask("skill_read", lifecycle="candidate")["skills"]
        return next((skill["name"] for skill in found if skill["origin"] == "learned"), None)

    def follow(self, name: str) -> dict[str, int]:
        """Follow the steps of a skill."""
        answer: dict[str, int] = {}
        for step in self.ask("load_skill", name=name)["document"]["steps"]:
            answer = self.use(step["tool"], **json.loads(step["details"]))
        return answer


def run(store: str, show: Callable[[str], None]) -> str:
    """Run all sessions; returns the state of the skill at their end.

    Args:
        store: the path of the store.
        show: shows a line.

    """
    settings = Config(store=store, learning={"enabled": True})
    with tempfile.TemporaryDirectory() as folder:
        warehouse = Warehouse(Path(folder))
        for day, who in enumerate(AGENTS, 1):
            warehouse.write_tables(day)
            with Plugin.open(settings, agent=who) as plugin:
                plugin.load(builtin_skill(NOTEBOOK))
                agent = Agent(plugin, warehouse)
                name = agent.find_skill()
                missing = agent.explore() if name is None else agent.follow(name)
                how = "exploring" if name is None else f"with {name}"
                show(f"session {day}, {who}: missing {missing}, after {agent.calls} calls, {how}")
                if name is None:
                    learned = agent.ask("skill_learn", name=NAME, description=DESCRIPTION)
                    show(f"  learned {learned['skill']}: {len(learned['steps'])} steps")
            show(f"  {shown(settings)}")
    with Plugin.open(settings) as plugin:
        return plugin.registry.record(SkillKey(plugin.graph.namespace, NAME)).standing.lifecycle


def shown(settings: Config) -> str:
    """The state of the skill, and what it gains."""
    with Plugin.open(settings) as plugin:
        record = plugin.registry.record(SkillKey(plugin.graph.namespace, NAME))
        return f"{record.key} is {record.standing.lifecycle}: {gain_of(plugin.registry, record)}"


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--store", default="learning-store", help="the folder of the store; a new one")
    given = parser.parse_args()
    state = run(given.store, lambda line: sys.stdout.write(f"{line}\n"))
    sys.stdout.write(f"\nLook at it:\n  cortex-skills registry show {NAME} --store {given.store}\n")
    return 0 if state == "verified" else 1


if __name__ == "__main__":
    raise SystemExit(main())
