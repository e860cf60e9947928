"""Read the licences of the installed packages, query them through a skill that audits them, and assert the findings.

    python examples/supply-chain/run_demo.py [--store FOLDER]

The script acts as the agent: it reads the findings from the answer of `skill_graph_query` and writes them with
`skill_assert`. The store is kept, and the next commands are printed.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar

import package_graph
from distributions import described
from rich.console import Console
from rich.progress import track

from cortex_graph import GraphError
from cortex_skills import Config, CortexError, Plugin, Result
from cortex_skills.enrichment import read_block
from cortex_skills.keys.folder import key_folder
from cortex_skills.manifest import load_manifest
from cortex_skills.signatures import sign_for_oneself
from cortex_skills.signatures.signing import own_folder

SKILL = Path(__file__).parent / "license-audit"
AGENT = "auditor"
SHOWN = 3

T = TypeVar("T")
Finding = dict[str, Any]
FINDING_KEYS = {"assert", "neededBy", "neededByTotal"}
CLAIM_KEYS = {"subject", "predicate", "object"}


class DemoError(Exception):
    """A step of the demo has failed."""


def main() -> int:
    """Run the demo. Returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--store", type=Path, default=Path("demo-graph"), help="the folder of the graph [%(default)s]")
    store: Path = parser.parse_args().store
    report = Report()
    try:
        run(store, report)
        show_next(store, report)
    except (CortexError, GraphError, DemoError) as error:
        hint = getattr(error, "hint", "")
        print(f"the demo failed: {error}" + (f"\n{hint}" if hint else ""), file=sys.stderr)
        return 1
    return 0


def run(store: Path, report: Report) -> None:
    """Run all steps and report them.

    Raises:
        DemoError: a step failed.

    """
    with Plugin.open(Config(store=str(store)), agent=AGENT, developing=[SKILL]) as plugin:
        report.heading("1. What is installed here")
        started = time.perf_counter()
        found = list(metadata.distributions())
        packages = list(described(report.progress(found, "reading")))
        written = package_graph.write(plugin.graph, packages)
        report.say(f"{len(packages)} distributions read in {time.perf_counter() - started:.1f} s, store {store}")
        report.say(f"{written.new} facts are new, {written.kept} known, {written.removed} no longer true and removed")

        plugin.load(SKILL)
        report.heading("2. The agent asks for the licences: skill_graph_query")
        answer = ask(plugin, report, "hasLicense")

        report.heading("3. What the skill adds")
        audit = enrichment(answer)
        report.say(summary(audit))
        findings = [finding for finding in audit.get("findings", []) if is_whole(finding)]
        for finding in findings:
            report.say(finding_line(finding))
        if left_out := audit["copyleft"] + audit["unclear"] - len(findings):
            report.say(f"{left_out} more did not fit into the answer")

        report.heading("4. The agent asserts the findings: skill_assert")
        asserted = [assert_finding(plugin, finding) for finding in findings]
        for result in asserted[:SHOWN]:
            report.say(result.text.splitlines()[0])
        new = sum(result.details["created"] for result in asserted)
        report.say(f"{len(asserted)} findings: {new} asserted, {len(asserted) - new} already asserted")

        report.heading("5. What the graph holds now")
        check(plugin, report, asserted)


def show_next(store: Path, report: Report) -> None:
    """Print the commands that look at the graph and ask it. Commands load signed skills only, so this one is signed."""
    config = Config()
    sign_for_oneself(SKILL, load_manifest(SKILL), key_folder(config), own_folder(), datetime.now(UTC))
    program = Path(sys.executable).with_name("cortex-skills")
    start = f"{shown_path(program)} %s --store {shown_path(store)}"
    report.heading(f"The graph is kept in {store}. Look at it, and ask it:")
    report.say(start % "graph sparql" + " 'SELECT ?package ?kind { ?package mayros:isCopyleft ?kind }'")
    report.say(start % "explore")
    report.say(start % "query" + f" --skills {shown_path(SKILL)} --predicate hasLicense --scope namespace")


def shown_path(path: Path) -> str:
    """A path for a shell, relative to the current folder where it is below it."""
    place = Path.cwd()
    return shlex.quote(str(path.relative_to(place) if path.is_relative_to(place) else path))


def ask(plugin: Plugin, report: Report, predicate: str) -> Result:
    """Ask for all triples with a predicate, and show the first of them."""
    arguments = {"predicate": predicate, "scope": "namespace", "limit": 1000}
    report.say(json.dumps(arguments))
    answer = checked(plugin.call("skill_graph_query", arguments))
    first, *triples = answer.text.partition("\n\n")[0].splitlines()
    report.say("\n".join([first, *triples[:SHOWN]]))
    if len(triples) > SHOWN:
        report.say(f"... and {len(triples) - SHOWN} more")
    return answer


def enrichment(answer: Result) -> dict[str, Any]:
    """The enrichment of an answer."""
    found: dict[str, Any] | None = read_block(answer.text)
    if found is None:
        raise DemoError(f"the skill added nothing: {answer.details['enrichment']}")
    return found


def summary(audit: dict[str, Any]) -> str:
    """The audit in one line."""
    kinds = ", ".join(f"{audit[kind]} {kind}" for kind in ("permissive", "copyleft", "unclear"))
    return f"{audit['packages']} packages: {kinds} ({audit['noLicense']} with no licence stated)"


def is_whole(finding: Finding) -> bool:
    """Whether a finding has all its members: the length of an enrichment is limited."""
    return finding.keys() == FINDING_KEYS and finding["assert"].keys() == CLAIM_KEYS


def finding_line(finding: Finding) -> str:
    """A finding in one line."""
    claim, users = finding["assert"], finding["neededBy"]
    more = finding["neededByTotal"] - len(users)
    needed = ", ".join(users) + (f" and {more} more" if more else "") if users else "nothing here"
    return f"{claim['subject']} {claim['predicate']} ({claim['object']}), needed by {needed}"


def assert_finding(plugin: Plugin, finding: Finding) -> Result:
    """Assert a finding."""
    return checked(plugin.call("skill_assert", finding["assert"]))


def check(plugin: Plugin, report: Report, asserted: list[Result]) -> None:
    """Check that the graph holds the asserted triples and their provenance."""
    recorded = set()
    for predicate in sorted({result.details["predicate"] for result in asserted}):
        answer = ask(plugin, report, predicate)
        recorded |= {triple["id"] for triple in answer.details["matches"]}
    for result in asserted:
        if result.details["tripleHash"] not in recorded:
            raise DemoError(f"an asserted triple is not in the graph: {result.text}")
    for result in asserted[:1]:
        source = plugin.graph.provenance_of(result.details["tripleHash"])
        if source is None:
            raise DemoError(f"an asserted triple has no provenance record: {result.text}")
        report.say(
            f"{result.details['subject']}: asserted by the skill {source['skill']} {source['skillVersion']} "
            f"for the agent {source['agent']} at {source['time']}"
        )


def checked(result: Result) -> Result:
    """The result.

    Raises:
        DemoError: the call failed.

    """
    if result.is_error:
        raise DemoError(f"{result.code}: {result.text}")
    return result


class Report:
    """Prints the steps: in colour on a terminal, as plain lines in a pipe."""

    def __init__(self) -> None:
        self.console = Console(highlight=False, soft_wrap=True, emoji=False)  # otherwise `:package:` becomes an emoji

    def heading(self, text: str) -> None:
        """Print the heading of a step."""
        self.console.print(f"\n{text}", style="bold", markup=False)

    def progress(self, items: list[T], doing: str) -> Iterable[T]:
        """Iterate over items, with a progress bar on a terminal."""
        live = self.console.is_terminal
        return track(items, doing, console=self.console, transient=True, disable=not live)

    def say(self, text: str) -> None:
        """Print indented lines. Unprintable characters are escaped, since the text may be untrusted."""
        for line in text.splitlines():
            shown = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in line)
            self.console.print(f"   {shown}", markup=False)


if __name__ == "__main__":
    sys.exit(main())
