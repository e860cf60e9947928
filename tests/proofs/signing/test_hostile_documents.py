"""Documents that were made to do harm: to be read in two ways, to fetch, to hide."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import NamedNode

from cortex_skills.features.proofs.signing import MalformedError, UnsupportedError, check_credential, read_document
from cortex_skills.features.proofs.signing.contexts import pinned
from cortex_skills.features.proofs.signing.documents import MAX_CHARACTERS, MAX_DEPTH, MAX_VALUES
from cortex_skills.features.proofs.signing.jsonld import to_rdf
from cortex_skills.features.proofs.signing.suite import sign
from cortex_skills.features.proofs.verdict import Verdict
from cortex_skills.keys import Key
from tests.proofs.signing.conftest import NOW

V2 = "https://www.w3.org/ns/credentials/v2"
P = NamedNode("urn:x:p")


def document(**members: Any) -> dict[str, Any]:
    return {"@context": [V2], "id": "urn:x:s", **members}


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any, **__: Any) -> None:
        raise AssertionError("something was looked up on the network")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)


# --- the text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not JSON"),
        ("[]", "not a JSON object"),
        ('"x"', "not a JSON object"),
        ('{"a": 1, "a": 2}', "given twice"),
        ('{"a": {"b": 1, "\\u0062": 2}}', "given twice"),
        ('{"a": NaN}', "not JSON"),
        ('{"a": Infinity}', "not JSON"),
        ('{"a": 1e999}', "too large"),
        ('{"a": null}', "has null"),
        ('{"a": 9007199254740993}', "not every reader"),
        ('{"a": ' + "9" * 5000 + "}", "not JSON"),
        ('{"a": "\\ud800"}', "lone surrogate"),
        ('{"\\udfff": 1}', "lone surrogate"),
        (b'{"a": "\xff"}', "not JSON"),
        ("\ufeff{}", "not JSON"),
        ('{"a":' * 50_000, "nested"),
        ('{"a":' * (MAX_DEPTH + 1) + "1" + "}" * (MAX_DEPTH + 1), "nested"),
        ('{"a": [' + ",".join("1" * (MAX_VALUES + 1)) + "]}", "values"),
        ('{"a": "' + "x" * MAX_CHARACTERS + '"}', "characters"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_text_that_readers_interpret_differently_is_refused(text: str | bytes, reason: str) -> None:
    with pytest.raises(MalformedError, match=reason):
        read_document(text)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["@id", "@type", "@value", "@list", "@set", "@language", "@context", "id", "type", "proof"])
            | st.text(max_size=6),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(members=st.dictionaries(st.sampled_from(["id", "type", "issuer", "proof", "name", "urn:x:p"]), JSON, max_size=5))
def test_malformed_documents_are_refused_without_a_failure(members: dict[str, Any]) -> None:
    shown = {"@context": [V2], **members}
    checks = check_credential(shown, NOW)
    assert all(check.verdict is not Verdict.VERIFIED for check in checks if check.part == "signature")


@given(shown=JSON)
def test_any_text_is_a_document_or_refused(shown: Any) -> None:
    try:
        read = read_document(json.dumps(shown))
    except MalformedError:
        return
    assert read == shown


# --- contexts


@pytest.mark.parametrize(
    "context",
    [
        None,
        [],
        "https://example.org/evil",
        "https://www.w3.org/ns/credentials/v2#",
        "http://www.w3.org/ns/credentials/v2",
        "https://www.w3.org/ns/credentials/examples/v2",
        "file:///etc/passwd",
        "/etc/passwd",
        {"name": "urn:evil"},
        [V2, {"@vocab": "urn:evil#"}],
        [V2, {"issuer": "urn:evil"}],
        [V2, {"@import": "https://example.org/evil"}],
        [V2, "http://169.254.169.254/latest/meta-data"],
        [V2, [V2]],
        [V2, 1],
        {"@context": V2},
    ],
    ids=str,
)
def test_only_pinned_contexts_are_used_and_none_is_fetched(context: Any) -> None:
    with pytest.raises((UnsupportedError, MalformedError)):
        to_rdf({"@context": context, "id": "urn:x:s", "name": "x"})


def test_a_repeated_context_is_refused() -> None:
    """PyLD would apply it each time, for four milliseconds."""
    with pytest.raises(MalformedError, match="an address twice"):
        to_rdf({"@context": [V2] * 3000, "id": "urn:x:s", "name": "x"})


@pytest.mark.parametrize("at", ["credentialSubject", "issuer", "proof", "urn:x:p"])
@pytest.mark.parametrize("context", [V2, {"name": "urn:evil"}, "https://example.org/evil", []])
def test_a_nested_context_is_refused(at: str, context: Any) -> None:
    with pytest.raises(MalformedError, match="@context"):
        to_rdf(document(**{at: {"@context": context, "id": "urn:x:o", "name": "x"}}))


def test_the_pinned_contexts_name_no_keyword_but_id_and_type() -> None:
    """The rules match the keywords as spelt; an alias of a keyword would bypass them."""

    def aliases(value: Any) -> Iterator[str]:
        if isinstance(value, dict):
            for name, meaning in value.items():
                target = meaning.get("@id") if isinstance(meaning, dict) else meaning
                if isinstance(target, str) and target.startswith("@") and not name.startswith("@"):
                    yield target
                yield from aliases(meaning)

    assert {target for context in pinned().values() for target in aliases(context)} <= {"@id", "@type", "@value"}


# --- what would be lost


@pytest.mark.parametrize(
    "members",
    [
        {"salary": 1},
        {"credentialSubject": {"id": "urn:x:o", "alumniOf": "x"}},
        {"type": ["Unknown"]},
        {"credentialSubject": {"id": "relative"}},
        {"credentialSubject": {"id": ""}},
        {"issuer": "relative"},
        {"issuer": {"id": "relative", "name": "x"}},
        {"type": ["VerifiableCredential", "relative"]},
        {"credentialSubject": {"id": "urn:x:o", "type": "relative"}},
        {"credentialSubject": {"id": "//example.org/x", "name": "x"}},
        {"credentialSubject": {"id": "?x", "name": "x"}},
        {"issuer": "#fragment"},
        {"_:p": "x"},
        {"@index": "x"},
        {"@graph": []},
        {"@included": []},
        {"@reverse": {"urn:x:p": {"id": "urn:x:o"}}},
        {"@nest": {"urn:x:p": "x"}},
        {"@base": "urn:evil:"},
        {"@foo": "x"},
        {"urn:x:p": {"@language": "de"}},
        {"urn:x:p": {"@value": "x", "@direction": "rtl"}},
        {"urn:x:p": {"@value": "x", "@index": "y"}},
        {"urn:x:p": {"@value": "x", "@language": "not a tag!"}},
        {"urn:x:p": {"@value": "x", "@type": "relative"}},
        {"urn:x:p": {"@value": "x", "@type": "urn:t", "@language": "de"}},
        {"urn:x:p": {"@value": {"a": 1}, "@type": "@json"}},
        {"urn:x:p": {"@value": ["x"]}},
        {"urn:x:p": {"@list": ["x"], "id": "urn:x:o"}},
        {"urn:x:p": {"@set": ["x"], "urn:x:q": "y"}},
        {"urn:x:bad iri": "x"},
        {"urn:x:p": {"id": "urn:x:bad iri"}},
        {"urn:x:p": {"id": ["urn:x:o"]}},
        {"id": "urn:x:s", "@id": "urn:x:t"},
        {"urn:x:p": {"id": "urn:x:o", "@id": "urn:x:o"}},
    ],
    ids=str,
)
def test_a_part_that_the_signature_would_not_cover_is_refused(members: dict[str, Any]) -> None:
    with pytest.raises(MalformedError):
        to_rdf(document(**members))
    with pytest.raises(MalformedError):
        sign(document(**members), Key("k", bytes(32)), "urn:x:m", "2026-01-01T00:00:00Z")


def test_a_double_that_some_readers_rewrite_is_not_evaluated() -> None:
    value = {"@value": "0.5", "@type": "http://www.w3.org/2001/XMLSchema#double"}
    with pytest.raises(UnsupportedError, match="some readers"):
        to_rdf(document(**{"urn:x:p": value}))


@pytest.mark.parametrize("items", [[["a"]], ["a", {"@list": ["b"]}], ["a", {"@set": ["b"]}], {"@set": ["a"]}])
def test_a_collection_within_a_list_is_not_evaluated(items: Any) -> None:
    with pytest.raises(UnsupportedError, match="interpret differently"):
        to_rdf(document(**{"urn:x:p": {"@list": items}}))


def test_a_document_about_nothing_is_refused() -> None:
    for empty in ({"@context": [V2]}, {"@context": [V2], "id": "urn:x:s"}, {"@context": [V2], "@value": "x"}):
        with pytest.raises(MalformedError, match=r"not one object|not JSON-LD"):
            to_rdf(empty)


def test_lists_and_sets_are_converted_completely() -> None:
    found = to_rdf(document(**{"urn:x:p": {"@list": ["a", 1, {"id": "urn:x:o"}]}, "urn:x:q": ["a", "b"]}))
    assert len(list(found.dataset)) == 2 * 3 + 1 + 2
    assert len(list(to_rdf(document(**{"urn:x:p": {"@list": []}})).dataset)) == 1
