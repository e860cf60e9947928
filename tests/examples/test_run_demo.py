"""The demo as a script, on the distributions that are installed here."""

import os
import re
import shlex
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from cortex_graph import NamespacedGraph, open_store

pytestmark = pytest.mark.timeout(400)  # the first test runs the demo twice


def run(examples: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    script = examples / "supply-chain" / "run_demo.py"
    command = [sys.executable, str(script), *arguments]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=100)


def figure(pattern: str, output: str) -> list[int]:
    found = re.search(pattern, output)
    assert found, output
    return [int(number) for number in found.groups()]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo") / "store"


@pytest.fixture(scope="module")
def outputs(store: Path) -> list[str]:
    """The output of two runs with the same store."""
    examples = Path(__file__).parents[2] / "examples"
    runs = [run(examples, "--store", str(store)) for _ in range(2)]
    assert [(finished.returncode, finished.stderr) for finished in runs] == [(0, ""), (0, "")]
    return [finished.stdout for finished in runs]


@pytest.fixture(scope="module")
def installed() -> dict[str, metadata.Distribution]:
    """The installed distributions, read without the code of the demo."""
    found = {}
    for distribution in metadata.distributions():
        found.setdefault(canonicalize_name(distribution.metadata["Name"]), distribution)
    return found


@pytest.fixture(scope="module")
def graph_after(outputs: list[str], store: Path) -> dict[str, dict[str, list]]:
    """The content of the store after both runs: objects by predicate and package."""
    opened = open_store(str(store))
    graph = NamespacedGraph(opened, "mayros")
    facts: dict[str, dict[str, list]] = {}
    cursor = None
    while True:
        page = graph.list_triples({"limit": 1000, "cursor": cursor})
        for triple in page["triples"]:
            objects = facts.setdefault(triple["predicate"].removeprefix("mayros:"), {})
            objects.setdefault(triple["subject"].removeprefix("mayros:package:"), []).append(triple["object"])
        cursor = page["nextCursor"]
        if cursor is None:
            break
    opened.close()
    return facts


def test_every_distribution_is_read_with_its_version(outputs, installed, graph_after):
    assert figure(r"(\d+) distributions read", outputs[0]) == [len(installed)]
    assert graph_after["hasVersion"] == {name: [found.version] for name, found in installed.items()}


def test_requirements_apply_to_this_environment(installed, graph_after):
    expected = {}
    for name, found in installed.items():
        wanted = [Requirement(text) for text in found.requires or ()]
        needs = {canonicalize_name(r.name) for r in wanted if r.marker is None or r.marker.evaluate()}
        if needs:
            expected[name] = {f"mayros:package:{need}" for need in needs}

    assert {name: {o["node"] for o in objects} for name, objects in graph_after["dependsOn"].items()} == expected


def test_licence_expressions_are_written_to_the_graph(installed, graph_after):
    simple = re.compile(r"[A-Za-z0-9.-]+")
    stated = {
        name: [found.metadata["License-Expression"]]
        for name, found in installed.items()
        if simple.fullmatch(found.metadata.get("License-Expression", ""))
    }

    assert stated
    assert {name: graph_after["hasLicense"][name] for name in stated} == stated


def test_packages_under_mpl_are_asserted_to_be_copyleft(installed, graph_after):
    mpl = set()
    for name, found in installed.items():
        classifiers = found.metadata.get_all("Classifier") or []
        if found.metadata.get("License-Expression") == "MPL-2.0" or any("(MPL 2.0)" in text for text in classifiers):
            mpl.add(name)

    assert mpl
    for name in mpl:
        assert graph_after["isCopyleft"][name] == ["Copyleft Limited"]


def test_findings_are_asserted_once(outputs, graph_after):
    pattern = r"(\d+) findings: (\d+) asserted, (\d+) already asserted"
    total, new, known = figure(pattern, outputs[0])

    assert total == len(graph_after["isCopyleft"]) + len(graph_after.get("needsReview", {}))
    assert (new, known) == (total, 0)
    assert figure(pattern, outputs[1]) == [total, 0, total]
    assert "Asserted: mayros:package:" in outputs[0]
    assert "Already asserted: mayros:package:" in outputs[1]


def test_the_second_run_writes_no_new_fact(outputs):
    pattern = r"(\d+) facts are new, (\d+) known, (\d+) no longer true"
    new, known, removed = figure(pattern, outputs[0])

    assert new > 0
    assert (known, removed) == (0, 0)
    assert figure(pattern, outputs[1]) == [0, new, 0]


def test_the_counts_of_the_audit_add_up(outputs, installed, graph_after):
    packages, permissive, copyleft, unclear, silent = figure(
        r"(\d+) packages: (\d+) permissive, (\d+) copyleft, (\d+) unclear \((\d+) with no licence stated\)", outputs[0]
    )

    assert packages == permissive + copyleft + unclear == len(installed)
    assert silent == len(installed) - len(graph_after["hasLicense"]) - len(graph_after.get("statesLicense", {}))


def test_the_report_names_the_asserting_agent(outputs):
    assert re.search(
        r"asserted by the skill license-audit 1\.0\.0 for the agent auditor at 20\d\d-\d\d-\d\dT", outputs[0]
    )


def test_output_in_a_pipe_is_short_plain_text(outputs):
    assert "\x1b" not in outputs[0]
    assert len(outputs[0].splitlines()) <= 70


def test_the_commands_that_it_ends_with_work(outputs, store):
    look, explore, question = (line.strip() for line in outputs[0].splitlines()[-3:])
    assert f"The graph is kept in {store}." in outputs[0]
    rows = subprocess.run(shlex.split(look), capture_output=True, text=True, encoding="utf-8", timeout=100)
    assert rows.returncode == 0, rows.stderr
    assert "Copyleft Limited" in rows.stdout
    assert shlex.split(explore) == [shlex.split(look)[0], "explore", "--store", shlex.split(look)[-2]]
    environment = {**os.environ, "CORTEX_VERIFICATION__REQUIRE_SIGNATURE": "true"}
    words = shlex.split(question)
    answer = subprocess.run(words, capture_output=True, text=True, encoding="utf-8", timeout=100, env=environment)
    assert answer.returncode == 0, answer.stderr
    assert " triples" in answer.stdout.splitlines()[0]
    assert '"permissive"' in answer.stdout


def test_a_store_that_cannot_be_opened_is_an_error(examples, tmp_path):
    (tmp_path / "file").write_text("no store")
    finished = run(examples, "--store", str(tmp_path / "file"))

    assert finished.returncode == 1
    assert finished.stderr.startswith("the demo failed: ")
    assert "Traceback" not in finished.stderr


def test_an_unknown_option_is_refused(examples):
    assert run(examples, "--stoer", "x").returncode == 2
