"""What an agent reads of a graph that it has never seen: the tokens of the answers to looking at it.

`python -m eval.questions FILE… [--ask QUESTIONS.json]` imports files of RDF, and walks from the overview over finding
and describing to SPARQL. QUESTIONS.json is a list of `{"question", "query"?, "find"?, "answer"?}`: a query that answers
a question, words that find what it is about, and the values of the right answer, of which the share that the text has
is printed.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from cortex_graph import import_rdf
from cortex_skills import Config, Plugin
from cortex_skills.skill_folder.builtin import NOTEBOOK, builtin_skill
from cortex_skills.tools.token_estimate import tokens_of


class Walk:
    """Calls tools, and notes what their texts take."""

    def __init__(self, plugin: Plugin) -> None:
        self._plugin = plugin
        self.calls = self.tokens = 0

    def ask(self, tool: str, **arguments: Any) -> str:
        """The text of an answer, whose size is printed."""
        began = time.monotonic()
        result = self._plugin.call(tool, arguments)
        size = tokens_of(result.text)
        self.calls += 1
        self.tokens += size
        asked = " ".join(str(value) for value in arguments.values())[:60]
        took = (time.monotonic() - began) * 1000
        sys.stdout.write(f"{size:6} tokens {took:7.0f} ms  {result.code or 'ok':18} {tool} {asked}\n")
        return result.text


def walk(plugin: Plugin, questions: Iterable[dict[str, Any]]) -> None:
    """Look at a graph as an agent does, and answer questions."""
    agent = Walk(plugin)
    overview = agent.ask("graph_overview")
    for name in _classes(overview):
        agent.ask("graph_overview", **{"class": name})
    shares = []
    for each in questions:
        text = ""
        if "find" in each:
            text = agent.ask("graph_find", text=each["find"])
            first = text.splitlines()[1].split()[0] if len(text.splitlines()) > 1 else ""
            text += agent.ask("graph_describe", name=first) if first else ""
        if "query" in each:
            text = agent.ask("graph_sparql", query=each["query"], limit=100)
        if answer := each.get("answer"):
            shares.append(sum(_is_in(str(value), text) for value in answer) / len(answer))
            sys.stdout.write(f"       {shares[-1]:6.2f} of the answer to: {each['question'][:90]}\n")
    sys.stdout.write(f"{agent.calls} calls, {agent.tokens:,} tokens\n")
    if shares:
        sys.stdout.write(f"mean share of the answers: {sum(shares) / len(shares):.3f} of {len(shares)} questions\n")


def _is_in(value: str, text: str) -> bool:
    """Whether a text has a value, or the last part of an IRI."""
    return value in text or (value.startswith("http") and value.rpartition("/")[2] in text)


def _classes(overview: str) -> Iterator[str]:
    """The first classes of an overview."""
    found = [line.split()[0] for line in overview.splitlines() if line[:1] not in ("", " ") and line[-1:].isdigit()]
    yield from [name for name in found if ":" in name and not name.endswith(":")][:3]


def main() -> None:
    """Import the files, and walk."""
    parser = argparse.ArgumentParser(prog="python -m eval.questions", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--ask", type=Path)
    given = parser.parse_args()
    questions = [] if given.ask is None else json.loads(given.ask.read_text(encoding="utf-8"))
    settings = Config(skillSandbox={"maxCallsPerMinute": 1000})
    with Plugin.open(settings) as plugin:
        plugin.load(builtin_skill(NOTEBOOK))
        for file in given.files:
            import_rdf(plugin.graph, file)
        walk(plugin, questions)


if __name__ == "__main__":
    main()
