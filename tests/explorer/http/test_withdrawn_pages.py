"""Every form of every page of data, before an assertion is withdrawn and after."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from pyoxigraph import RdfFormat, parse

from cortex_graph import Provenance
from cortex_graph.naming.vocabulary import ATTRIBUTED_TO, GENERATED_AT, INVALIDATED_AT
from cortex_skills.doors.explorer.page import pages
from cortex_skills.features.proofs.signing.credentials import sign_assertion
from cortex_skills.keys import Key
from cortex_skills.manifest import load_manifest
from cortex_skills.signatures import sign_for_others
from tests.explorer.hostile import check_page
from tests.explorer.http.browsing import CLICKED, signed_in
from tests.explorer.http.test_skill_pages import write_skill
from tests.explorer.page_examples import example_of
from tests.server.serving import Running, served

FORMS = [
    (page, form) for page in pages() if page.path.startswith("/explore/{namespace}") for form in ("html", *page.forms)
]
Answers = dict[tuple[str, str], httpx.Response]


class Withdrawn:
    """An assertion with a Proof of Logic and a signature, its pages while it stood, and those after its withdrawal."""

    def __init__(self, running: Running, folder: Any) -> None:
        self.running, self.graph = running, running.plugin.graph
        running.plugin.load(write_skill(folder, "stock-watch"))
        key = Key("issuer", b"\1" * 32)
        self.graph.create_triples([{"subject": "nails", "predicate": "inStock", "object": {"node": "screws"}}])
        arguments = {"subject": "nails", "predicate": "reorder", "object": True, "proofType": "pol"}
        self.id = running.plugin.call("skill_assert", arguments, skill="stock-watch", agent="a1").details["tripleHash"]
        sign_assertion(self.graph, self.id, key, datetime.now(UTC))
        skill = running.plugin.skills["stock-watch"].folder
        sign_for_others(skill, load_manifest(skill), key, "stock.example", datetime.now(UTC))
        self.proofs = sorted(proof.id for proof in self.graph.current_proofs(self.id))
        permissions = ("read", "write", "memories", "audit")
        self.token = running.token("reads-all", ("mayros",), permissions)
        self.client = running.client(self.token)
        self.path = f"/explore/mayros/t/{self.id}"
        self.before = self._answers()
        assert self.graph.withdraw(self.id, Provenance(agent="a2"))
        self.after = self._answers()

    def _answers(self) -> Answers:
        return {(page.name, form): self._ask(page, form) for page, form in FORMS}

    def _ask(self, page: Any, form: str) -> httpx.Response:
        id_ = self.proofs[0] if page.name == "proof" else self.id
        path = page.path.replace("{namespace}", "mayros").replace("{id}", id_)
        return self.client.get(path, params={**example_of(page, "mayros:nails", form), "format": form})


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Withdrawn]:
    folder = tmp_path_factory.mktemp("withdrawn")
    with served(folder) as server:
        yield Withdrawn(server, folder)


def test_each_form_that_was_there_is_there_after_a_withdrawal(case: Withdrawn) -> None:
    statuses = {key: (case.before[key].status_code, case.after[key].status_code) for key in case.before}
    changed = {key: each for key, each in statuses.items() if each[0] != each[1]}
    assert changed == {("assertion", "bundle"): (200, 400)}
    assert case.after["assertion", "bundle"].text.count("was withdrawn") >= 1
    for (_, form), answer in case.after.items():
        if form == "html":
            check_page(answer.text)


def test_its_page_has_its_record_and_its_proofs(case: Withdrawn) -> None:
    page = case.after["assertion", "html"].text
    for known in ("a1", "stock-watch 1.2.0", "Proof of Logic", "by a2", ">Withdrawn<", "generatedAtTime"):
        assert known in page, known
    for wrong in ("No agent", "imported", "A bundle needs", ">None<"):
        assert wrong not in page, wrong
    assert ">Refuted<" not in page.partition("What it does not")[0]
    words = '<span class="say gone">Withdrawn</span> the statement is in the graph of this namespace.'
    assert words in page.partition("What it does not")[2]
    assert page.count('class="no"') == case.before["assertion", "html"].text.count('class="no"')


def test_its_json_has_what_it_had_and_who_withdrew_it(case: Withdrawn) -> None:
    before, after = (answers["assertion", "json"].json() for answers in (case.before, case.after))
    assert after["triple"] == before["triple"]
    assert (before["present"], after["present"]) == (True, False)
    for member in ("provenance", "proofs"):
        assert after["assertion"][member] == before["assertion"][member]
    assert sorted(after["assertion"]["proofs"]) == case.proofs
    assert [each["agent"] for each in after["withdrawals"]] == ["a2"]
    checked = [{check["proofId"] for check in each["checks"] if "proofId" in check} for each in (before, after)]
    assert checked == [set(case.proofs)] * 2


def test_its_trig_has_who_asserted_it_and_that_it_is_invalid_since(case: Withdrawn) -> None:
    before, after = (
        {(quad.predicate, quad.object) for quad in parse(answers["assertion", "trig"].content, format=RdfFormat.TRIG)}
        for answers in (case.before, case.after)
    )
    kept = [{each for each in quads if each[0] == ATTRIBUTED_TO} for quads in (before, after)]
    assert kept[0]
    assert kept[0] <= kept[1]
    assert GENERATED_AT in {predicate for predicate, _ in after}
    assert INVALIDATED_AT in {predicate for predicate, _ in after} - {predicate for predicate, _ in before}


def test_it_is_not_offered_for_removal_again(case: Withdrawn) -> None:
    page = signed_in(case.running, case.token).get(case.path, headers=CLICKED).text
    assert "withdrawn" in page
    assert 'name="action" value="remove"' not in page


def test_lists_and_resources_have_it_no_more(case: Withdrawn) -> None:
    for name in ("triples", "resource"):
        answers = [each[name, "n-quads"].text for each in (case.before, case.after)]
        assert [text.count("reorder") for text in answers] == [1, 0], name


def test_rest_returns_it_when_asked_for_with_the_same_record(case: Withdrawn) -> None:
    path = f"/api/v1/triples/{case.id}"
    hidden = case.client.get(path)
    assert (hidden.status_code, "withdrawn=true" in hidden.text) == (404, True)
    found = case.client.get(path, params={"withdrawn": True, "provenance": True}).json()
    known = case.after["assertion", "json"].json()
    assert found["provenance"] == known["assertion"]["provenance"]
    assert [found["withdrawn"]] == known["withdrawals"]


def test_after_it_is_asserted_again_its_page_is_of_the_new_assertion(case: Withdrawn) -> None:
    row = {"subject": "screws", "predicate": "inStock", "object": 3}
    (made,) = case.graph.create_triples([row], Provenance(agent="first"))
    case.graph.withdraw(made["id"], Provenance(agent="a2"))
    case.graph.create_triples([row], Provenance(agent="second"))
    document = case.client.get(f"/explore/mayros/t/{made['id']}?format=json").json()
    assert (document["present"], document["assertion"]["provenance"]["agent"]) == (True, "second")
    assert len(document["withdrawals"]) == 1


def test_a_withdrawn_triple_without_a_record_has_none(case: Withdrawn) -> None:
    (made,) = case.graph.create_triples([{"subject": "bolts", "predicate": "inStock", "object": 1}])
    case.graph.withdraw(made["id"], Provenance(agent="a2"))
    document = case.client.get(f"/explore/mayros/t/{made['id']}?format=json").json()
    assert set(document["assertion"]["provenance"].values()) == {None}
    assert {check["part"]: check["verdict"] for check in document["checks"]}["record"] == "not checked"
    assert "No agent" in case.client.get(f"/explore/mayros/t/{made['id']}", headers={"Accept": "text/html"}).text
