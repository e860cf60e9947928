"""Names of any kind are returned unchanged or refused with an error; none reaches another namespace."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cortex_graph import NamespacedGraph
from cortex_skills import CortexError, Plugin
from tests.configs import config
from tests.plugin.skills import write_skill

Written = Callable[..., Path]

ANY = "export default { name: 'probe', onQuery: ({ results }) => ({ results: results.map((t) => ({ ...t })) }) };"

TRICKY = [
    "a b", " a ", '"', "'", "<", ">", "<a>", "\\", "\x00", "\x1b[2J", "\n", "\r\n", "\t", "\x7f", "\x85", "\u2028",
    "\u200e", "\u200f", "\u202e", "\u2066x\u2069", "\u200b", "\ufeff", "\ufffe", "\uffff", "\U0010ffff", "\U000e0041",
    "..", "../x", "../../other:x", "/", "//", "a/../b", "?", "#", "a#b", "%", "%41", "%2e%2e", "%zz", "other:x",
    "other", "mayros:x", "mayros:mayros:x", "mayros", "Mayros:x", "may:x", "mayros/provenance", "mayros:triple/x",
    "triple/x",
    "urn:cortex:mayros:x", "urn:cortex:other:x", "urn:cortex:other/provenance", "<urn:cortex:other:x>", "urn:x",
    "https://example.org/a b", "https://example.org/x", "http://", "file:///etc/passwd", "mailto:a@b", "did:x:y",
    "<tag:example.org,2024:x>", "<a b>", "_:b0", "?s", "$s", "{x}", "x . } } ; DROP ALL #", "rdf:type", "é", "e\u0301",
    "\u00c5", "\u212b", "ſ", "K", "x" * 4096, "é" * 4096,
    "\ud800", "a\udfff",
]  # fmt: skip

PLAIN = ("other", "mayros", "..", "é", "e\u0301", "ſ")  # valid names of a folder, or of another folder

texts = st.one_of(st.sampled_from(TRICKY), st.text(max_size=12), st.text("mayros:other/<>.%# \x00\u202e", max_size=12))
values = st.one_of(texts, st.integers(), st.floats(), st.booleans(), st.fixed_dictionaries({"node": texts}))


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plugin]:
    """One plugin for all examples, with another namespace on its store that must not change."""
    limits = {"maxCallsPerMinute": 1000, "maxAssertions": 10**6, "maxGraphQueries": 10**6, "maxWrites": 10**6}
    with Plugin.open(config(skillSandbox=limits, strictDeclarations=False), agent="a1") as plugin:
        other = NamespacedGraph(plugin.graph.store, "other")
        other.create_triple({"subject": "x", "predicate": "p", "object": "theirs"})
        plugin._host.limits.own.rate.max_calls = 10**9
        plugin.load(write_skill(tmp_path_factory.mktemp("names") / "probe", ANY, maxQueries=10**6))
        yield plugin
        assert [(t["subject"], t["object"]) for t in other.list_triples()["triples"]] == [("other:x", "theirs")]


@settings(max_examples=400)
@given(texts, texts, values, texts)
@example("other:x", "other:p", "theirs", "other:x")
@example("urn:cortex:other:x", "urn:cortex:other:p", {"node": "urn:cortex:other:x"}, "../other:x")
def test_an_assertion_is_found_again_unchanged_or_refused(
    shared: Plugin, subject: str, predicate: str, object_: Any, agent: str
) -> None:
    statement = {"subject": subject, "predicate": predicate, "object": object_}
    asserted = shared.call("skill_assert", statement, agent=agent)
    json.dumps(asserted.to_json(), ensure_ascii=False, allow_nan=False).encode()
    if asserted.is_error:
        assert asserted.code in ("invalid_arguments", "proof_required")
        assert asserted.text.replace("\n", "").isprintable()
        return
    details = asserted.details
    assert shared.graph.get_triple(details["tripleHash"]) is not None
    record = shared.graph.provenance_of(details["tripleHash"])
    assert record is not None
    assert details["created"] is False or record["agent"] == agent
    by_subject = shared.call("skill_graph_query", {"subject": subject, "scope": "namespace", "limit": 1000})
    wanted = {"id": details["tripleHash"], **{key: details[key] for key in ("subject", "predicate", "object")}}
    if "objectLength" in details:  # the answer has a beginning of it
        assert [m for m in by_subject.details["matches"] if m["id"] == wanted["id"]] or by_subject.details["nextCursor"]
    else:
        assert wanted in by_subject.details["matches"] or by_subject.details["nextCursor"]
    exact = shared.call("skill_graph_query", {**statement, "scope": "namespace"}, agent=agent)
    assert (exact.details["matches"], exact.details["enrichment"]["status"]) == ([wanted], "ok")
    read_back = {key: wanted[key] for key in ("subject", "predicate", "object")}
    if max(len(details["subject"]), len(details["predicate"]), len(str(details["object"]))) > 4096:
        return  # with its prefix, the name is longer than the limit
    again = shared.call("skill_assert", read_back)
    assert (again.details["created"], again.details["tripleHash"]) == (False, details["tripleHash"])


@given(texts)
def test_an_agent_of_any_name_sees_only_its_own_subject(shared: Plugin, agent: str) -> None:
    written = shared.call(
        "skill_assert", {"subject": f"mayros:agent:{agent}", "predicate": "note", "object": agent}, agent=agent
    )
    found = shared.call("skill_graph_query", {"predicate": "note"}, agent=agent)
    assert written.is_error == found.is_error
    if written.is_error:
        assert {written.code, found.code} == {"invalid_arguments"}
    else:
        assert [match["object"] for match in found.details["matches"]] == [agent]


@pytest.mark.parametrize("name", [n for n in TRICKY if n not in ("\ud800", "a\udfff") and len(n) < 200])
def test_an_invalid_skill_name_is_refused(plugin: Plugin, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "probe"
    write_skill(folder, ANY)
    text = (folder / "SKILL.md").read_text().replace("name: probe", f"name: {json.dumps(name)}", 1)
    (folder / "SKILL.md").write_text(text, encoding="utf-8")
    with pytest.raises(CortexError) as refused:
        plugin.load(folder)
    assert refused.value.code == "manifest_invalid"
    assert str(refused.value).replace("\n", "").isprintable()
    assert plugin.call("skill_graph_query", {}, skill=name).code == "skill_not_found"


@pytest.mark.parametrize("name", [n for n in TRICKY if not {"\0", "/"} & set(n) and n not in PLAIN and len(n) < 50])
def test_a_folder_with_an_invalid_name_is_refused(plugin: Plugin, tmp_path: Path, name: str) -> None:
    try:
        folder = write_skill(tmp_path / name, ANY)
    except UnicodeEncodeError:
        return  # no file system has such a name
    with pytest.raises(CortexError) as refused:
        plugin.load(folder)
    assert refused.value.code == "manifest_invalid"


def test_a_skill_with_a_name_of_any_script_writes_under_its_name(opened: Callable[..., Plugin], skill: Written) -> None:
    """The folder's name is decomposed, as some file systems write it."""
    plugin = opened()
    plugin.load(skill("mu\u0308sli-погода", "export default { name: 'm\u00fcsli-погода' };"))
    arguments = {"subject": "s", "predicate": "note", "object": "v"}
    made = plugin.call("skill_assert", arguments, skill="m\u00fcsli-погода")
    assert not made.is_error, made.text
    (triple,) = plugin.graph.pattern_query({"predicate": "note"})["matches"]
    found = plugin.graph.provenance_of(triple["id"])
    assert found is not None
    assert found["skill"] == "m\u00fcsli-погода"
