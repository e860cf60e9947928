"""Credentials between this implementation and an independent one: `@digitalbazaar/vc` and its cryptosuite."""

from __future__ import annotations

import copy
import json
import subprocess
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode

from cortex_skills.features.proofs.signing import MalformedError, UnsupportedError, check_credential, issue
from cortex_skills.features.proofs.signing.canonical import canonical
from cortex_skills.features.proofs.signing.jsonld import to_rdf
from cortex_skills.keys import Key
from tests.docs.conformance_page import cases_in, counts_of
from tests.proofs.signing.conftest import claim_of
from tests.proofs.signing.published_graphs import GRAPHS, dataset
from tests.proofs.signing.test_credentials import OBJECTS

FOLDER = Path(__file__).parent / "digitalbazaar"
SEED = bytes(range(32))
V2 = "https://www.w3.org/ns/credentials/v2"
Ask = Callable[[dict[str, Any]], dict[str, Any]]

pytestmark = [
    pytest.mark.extended,
    pytest.mark.skipif(
        not (FOLDER / "node_modules" / "@digitalbazaar").is_dir(),
        reason="the libraries are not installed: npm ci --prefix tests/proofs/interop/digitalbazaar",
    ),
]


@pytest.fixture(scope="module")
def ask() -> Iterator[Ask]:
    """Ask the other implementation, which runs as one process for all tests."""
    process = subprocess.Popen(
        ["node", str(FOLDER / "credentials.mjs")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    writer, reader = process.stdin, process.stdout

    def asked(request: dict[str, Any]) -> dict[str, Any]:
        writer.write(json.dumps(request) + "\n")
        writer.flush()
        answer: dict[str, Any] = json.loads(reader.readline())
        return answer

    yield asked
    writer.close()
    process.wait()
    reader.close()


def ours_says(document: dict[str, Any]) -> str:
    """The verdict of this implementation about the signature of a new credential."""
    checks = check_credential(document, datetime.now(UTC) + timedelta(seconds=30))
    assert [check.part for check in checks] == ["signature", "validity"]
    return checks[0].verdict.value


@pytest.mark.parametrize("object_", OBJECTS, ids=str)
def test_they_verify_what_we_sign(object_: NamedNode | Literal, ask: Ask) -> None:
    credential = issue(claim_of(object_), Key("ours", SEED), datetime.now(UTC))
    assert ask({"verify": credential}) == {"verified": True, "why": ""}


THEIRS: list[dict[str, Any]] = [
    {"credentialSubject": {"id": "urn:x:o", "urn:x:p": "text"}},
    {"credentialSubject": {"id": "urn:x:o", "urn:x:p": [1, 2.5, 1e21, 1.5e-7, True, False, 5, 0.1, -0.5, 123456.789]}},
    {"name": 'ünïcödé 😀 " \\ \n \t \u0000', "description": {"@value": "gut", "@language": "de"}},
    {"name": [{"@value": "x", "@language": "en-GB"}, {"@value": "y", "@language": "de"}]},
    {"id": "urn:uuid:58172aac-d8ba-11ed-83dd-0b3aef56cc33", "validFrom": "2020-01-01T00:00:00Z"},
    {"credentialSubject": [{"id": "urn:x:o", "urn:x:p": "x"}, {"urn:x:q": {"id": "urn:x:o"}}]},
    {"credentialSubject": {"id": "urn:x:o", "urn:x:list": {"@list": [1, "two", {"id": "urn:x:three"}]}}},
    {"credentialSubject": {"urn:x:a": {"urn:x:b": {"urn:x:c": [{"urn:x:d": 1}, {"urn:x:d": 2}]}}}},
    {"evidence": {"type": "VerifiableCredential", "urn:x:p": "x"}, "termsOfUse": {"type": "VerifiableCredential"}},
]


@pytest.mark.parametrize("members", THEIRS, ids=str)
def test_we_verify_what_they_sign(members: dict[str, Any], ask: Ask) -> None:
    subject = {"credentialSubject": {"id": "urn:x:o", "urn:x:p": "x"}}
    unsigned = {"@context": [V2], "type": ["VerifiableCredential"], **subject, **members}
    credential = ask({"issue": unsigned, "seed": SEED.hex()})
    assert "proof" in credential, credential
    assert credential["issuer"] == Key("same", SEED).did
    assert ours_says(credential) == "verified"


def changed(credential: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The credential with one thing changed each time."""
    other = Key("other", bytes(range(1, 33))).did

    def one(name: str, change: Callable[[dict[str, Any]], Any]) -> tuple[str, dict[str, Any]]:
        document = copy.deepcopy(credential)
        change(document)
        return name, document

    yield one("value", lambda d: d["credentialSubject"].update({"urn:cortex:may:isVerified": "no"}))
    yield one("subject", lambda d: d["credentialSubject"].update(id="urn:cortex:may:bob"))
    yield one("issuer", lambda d: d.update(issuer=other))
    yield one(
        "both names", lambda d: (d.update(issuer=other), d["proof"].update(verificationMethod=f"{other}#{other[8:]}"))
    )
    yield one("added", lambda d: d.update({"urn:x:p": "x"}))
    yield one("added term", lambda d: d.update(name="x"))
    yield one("unmapped term", lambda d: d.update(salary="x"))
    yield one("time", lambda d: d["proof"].update(created="2020-01-01T00:00:00Z"))
    yield one("purpose", lambda d: d["proof"].update(proofPurpose="authentication"))
    signature = credential["proof"]["proofValue"]
    yield one(
        "signature", lambda d: d["proof"].update(proofValue=signature[:-1] + ("2" if signature[-1] == "1" else "1"))
    )
    yield one("no proof", lambda d: d.pop("proof"))


def test_neither_verifies_a_changed_credential(ask: Ask) -> None:
    key = Key("ours", SEED)
    ours = issue(claim_of(Literal("yes")), key, datetime.now(UTC))
    unsigned = {name: value for name, value in ours.items() if name != "proof"}
    theirs = ask({"issue": unsigned, "seed": SEED.hex()})
    for credential in (ours, theirs):
        assert (ask({"verify": credential})["verified"], ours_says(credential)) == (True, "verified")
        for name, document in changed(credential):
            answer = ask({"verify": document})
            assert not answer.get("verified"), (name, answer)
            assert ours_says(document) != "verified", name


LABELS = st.sampled_from(["_:a", "_:b", "_:c", "_:d"])
LINKS = st.lists(st.tuples(LABELS, st.sampled_from(["urn:x:p", "urn:x:q"]), LABELS), min_size=1, max_size=8)


@settings(max_examples=60)
@given(links=LINKS, names=st.dictionaries(LABELS, st.sampled_from(["x", "y"])))
def test_both_write_the_same_canonical_form(links: list[tuple[str, str, str]], names: dict[str, str], ask: Ask) -> None:
    nodes: list[dict[str, Any]] = [{"id": a, p: {"id": b}} for a, p, b in links]
    nodes += [{"id": label, "name": name} for label, name in names.items()]
    document = {"@context": [V2], "id": "urn:x:s", "urn:x:has": nodes}
    try:
        ours = canonical(to_rdf(document).dataset).decode()
    except (MalformedError, UnsupportedError) as error:
        pytest.fail(str(error))
    assert ask({"canonize": document}) == {"nquads": ours}


@pytest.mark.parametrize("number", sorted(GRAPHS))
def test_both_write_the_graphs_of_the_published_suite_the_same(number: str, ask: Ask) -> None:
    graph = dataset(GRAPHS[number])
    text = "".join(f"{quad} .\n" for quad in graph)
    assert ask({"quads": text}) == {"nquads": canonical(graph).decode()}


IDS = st.sampled_from(["urn:x:a", "urn:x:b", "_:a", "_:b", "http://e/x", "did:key:z6Mk"])
TYPES = st.lists(
    st.sampled_from(["VerifiableCredential", "BitstringStatusListEntry", "urn:x:T", "JsonSchema"]), max_size=2
)
PLAIN = st.booleans() | st.integers(-10, 10**7) | st.sampled_from([0.5, 2.0, 1e22, 123.25]) | st.text(max_size=4)
DATATYPES = st.sampled_from(["urn:x:t", "http://www.w3.org/2001/XMLSchema#integer"])
TYPED = st.fixed_dictionaries({"@value": PLAIN, "@type": DATATYPES})
TAGGED = st.fixed_dictionaries({"@value": st.text(max_size=4), "@language": st.sampled_from(["en", "DE-at"])})
TERMS = ["name", "description", "evidence", "termsOfUse", "credentialSubject", "urn:x:p", "urn:x:q", "statusPurpose"]


def nodes(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Node objects with some of the terms."""
    members = st.dictionaries(st.sampled_from(TERMS), values, max_size=3)
    named = st.fixed_dictionaries({}, optional={"id": IDS, "type": TYPES})
    return st.builds(lambda name, more: {**name, **more}, named, members)


VALUES = st.recursive(
    PLAIN | TYPED | TAGGED | st.fixed_dictionaries({"id": IDS}),
    lambda inner: (
        nodes(inner)
        | st.lists(inner, max_size=3)
        | st.builds(lambda items: {"@list": items}, st.lists(PLAIN | TYPED, min_size=1, max_size=3))
    ),
    max_leaves=8,
)


@settings(max_examples=100)
@given(members=nodes(VALUES))
def test_both_convert_documents_to_the_same_quads(members: dict[str, Any], ask: Ask) -> None:
    """So nothing that they would refuse, or that one of the two would lose, is signed here."""
    document = {"@context": [V2], **members}
    try:
        ours = canonical(to_rdf(document).dataset).decode()
    except (MalformedError, UnsupportedError):
        return
    assert ask({"canonize": document}) == {"nquads": ours}


def test_the_page_of_conformance_counts_these() -> None:
    assert counts_of("@digitalbazaar/vc") == (cases_in(globals()) - 1, 0)
