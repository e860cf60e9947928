"""One vocabulary of verdicts: every interface gives the same word for the same statement."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from cortex_skills.doors.cli.app import program
from cortex_skills.features.proofs.verdict import Verdict
from cortex_skills.plugin import Plugin
from tests.configs import config
from tests.explorer.http.browsing import signed_in
from tests.plugin.skills import write_skill
from tests.proofs.logic.conftest import PREFIXES
from tests.server.serving import Running, served

ONE = f"{PREFIXES}:S a sh:NodeShape ; sh:targetSubjectsOf :ruled ; sh:property [ sh:path :ruled ; sh:maxCount 1 ] ."
PERMISSIONS = {"graph": ["read", "write"], "proofs": ["request", "verify"]}
# The statement that each word is for. The shapes of the namespace have rules for `ruled` alone; nothing proves `c`.
STATEMENTS: dict[str, dict[str, Any]] = {
    "verified": {"subject": "a", "predicate": "ruled", "object": 1},
    "well-formed": {"subject": "b", "predicate": "free", "object": 1},
    "not checked": {"subject": "c", "predicate": "free", "object": 1},
    "refuted": {"subject": "d", "predicate": "ruled", "object": 1},
}
PROVED = [word for word in STATEMENTS if word != "not checked"]


def asking_for(word: str) -> dict[str, bool]:
    """Whether an assertion asks for a proof."""
    return {"requireProof": True} if word in PROVED else {}


@dataclass(frozen=True)
class Setting:
    """A server, with the ids of the statements and of their proofs by word."""

    running: Running
    root: Path
    ids: dict[str, str]
    proofs: dict[str, str]

    @property
    def plugin(self) -> Plugin:
        return self.running.plugin


@pytest.fixture(scope="module")
def setting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Setting]:
    root = tmp_path_factory.mktemp("verdicts")
    (root / "shapes.ttl").write_text(ONE)
    write_skill(root / "probe", permissions=PERMISSIONS, assertions=[{"predicate": "ruled"}, {"predicate": "free"}])
    settings = config(
        store=str(root / "store"),
        proofs={"keys": str(root / "keys"), "shapes": {"mayros": str(root / "shapes.ttl")}},
        cortex={"tokenFile": str(root / "tokens.json")},
        skillSandbox={"maxCallsPerMinute": 1000, "proofTimeoutMs": 60_000},
    )
    (root / "store").mkdir()
    plugin = Plugin.open(settings)
    plugin.load(root / "probe")
    ids, proofs = {}, {}
    for word, statement in STATEMENTS.items():
        details = plugin.call("skill_assert", {**statement, **asking_for(word)}).details
        ids[word], proofs[word] = details["tripleHash"], details.get("proofHash", "")
    plugin.graph.create_triple({"subject": "d", "predicate": "ruled", "object": 2})  # its rule does not hold any more
    with served(root, plugin=plugin) as running:
        yield Setting(running, root, ids, proofs)


# --- the interfaces: each returns the words that it gives for the statement of a word


def by_assert(setting: Setting, word: str) -> list[str]:
    asked = {**STATEMENTS[word], **asking_for(word)}
    result = setting.plugin.call("skill_assert", asked)
    if result.is_error:
        assert result.code == "proof_failed"
        return [result.details["details"]["verdict"]]
    assert result.details["verified"] is (word == "verified")
    (several,) = setting.plugin.call("skill_assert", {"statements": [asked]}).details["statements"]
    stated = [line.partition(", ")[2].partition(" (")[0] for line in result.text.splitlines() if "proof " in line]
    return [result.details["verdict"], several["verdict"], *stated]


def by_query(setting: Setting, word: str) -> list[str]:
    asked = {**STATEMENTS[word], "scope": "namespace", "prove": "pol"}
    result = setting.plugin.call("skill_graph_query", asked)
    return [result.details["proofs"][0]["verdict"], result.text.rpartition("\nproofs: 1 ")[2]]


def by_verify(setting: Setting, word: str) -> list[str]:
    result = setting.plugin.call("skill_verify_assertion", STATEMENTS[word])
    line = result.text.splitlines()[1]
    stated = "verified" if line.startswith("VERIFIED: ") else line.partition("(")[2].partition(")")[0]
    return [result.details["verdict"], stated]


def by_rest(setting: Setting, word: str) -> list[str]:
    client = setting.running.client(setting.running.token("reader"))
    (row,) = client.post("/api/v1/assertions/verify-batch", json={"assertions": [STATEMENTS[word]]}).json()["results"]
    assert row["verified"] is (word == "verified")
    if word not in PROVED:
        return [row["verdict"]]
    proof = client.get(f"/api/v1/proofs/{setting.proofs[word]}/verify").json()
    batch = client.post("/api/v1/proofs/verify/batch", json={"proof_ids": [setting.proofs[word]]}).json()
    rules = client.post("/api/v1/validate", json={"triples": [STATEMENTS[word]]}).json()
    assert {each["valid"] for each in (proof, *batch["verifications"], rules)} == {word != "refuted"}
    return [row["verdict"], proof["verdict"], batch["verifications"][0]["verdict"], rules["verdict"]]


def by_page(setting: Setting, word: str) -> list[str]:
    browser = signed_in(setting.running, setting.running.token("reader"))
    path = f"/explore/mayros/t/{setting.ids[word]}"
    pages = [browser.get(path).text]
    documents = [browser.get(path, params={"format": "json"}).json()["verdict"]]
    if word in PROVED:
        pages.append(browser.get(f"/explore/mayros/proofs/{setting.proofs[word]}").text)
        found = browser.get("/explore/mayros/proofs", params={"verdict": word, "format": "json"}).json()["proofs"]
        assert [each["id"] for each in found] == [setting.proofs[word]]
        documents += [each["status"] for each in found]
    before = [page.partition(" for you, now.")[0] for page in pages]
    shown = [text.rpartition("</")[0].rpartition(">")[2] for text in before]
    assert all(text == word.capitalize() for text in shown)  # a label begins with a capital letter
    return [*documents, *map(str.lower, shown)]


@pytest.mark.parametrize("word", STATEMENTS)
@pytest.mark.parametrize("door", [by_assert, by_query, by_verify, by_rest, by_page])
def test_every_interface_gives_the_same_word(
    setting: Setting, door: Callable[[Setting, str], list[str]], word: str
) -> None:
    assert set(door(setting, word)) == {word}


@pytest.mark.parametrize("word", PROVED)
def test_the_command_gives_the_same_word_and_ends_well_only_for_verified(
    setting: Setting, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"STORE": setting.root / "store", "PROOFS__KEYS": setting.root / "keys"}.items():
        monkeypatch.setenv(f"CORTEX_{name}", str(value))
    monkeypatch.setenv("CORTEX_PROOFS__SHAPES", json.dumps({"mayros": str(setting.root / "shapes.ttl")}))
    done = CliRunner().invoke(program, ["proof", "verify", setting.proofs[word]])
    assert done.stdout.splitlines()[0] == f"{word.upper()} (pol)"
    assert done.exit_code == (0 if word == "verified" else 1)
    if done.exit_code:
        assert f"not verified ({word})" in done.stderr


def test_the_weakest_part_decides_and_a_verified_proof_adds_to_one_of_the_form() -> None:
    verified, formed, unchecked, refuted = Verdict.VERIFIED, Verdict.WELL_FORMED, Verdict.NOT_CHECKED, Verdict.REFUTED
    assert Verdict.of_all([]) is unchecked
    assert Verdict.of_all([verified, formed]) is formed
    assert Verdict.of_all([formed, unchecked]) is unchecked
    assert Verdict.of_all([unchecked, refuted]) is refuted
    assert Verdict.of_proofs([verified, formed]) is verified
    assert Verdict.of_proofs([verified, formed, unchecked]) is unchecked
    assert Verdict.of_proofs([formed, refuted]) is refuted
