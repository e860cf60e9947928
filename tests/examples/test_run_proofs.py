"""The proof chain of verify-kyc: made by separate parties, verified by another, and refused when changed."""

from __future__ import annotations

import json
import re
import shutil
from base64 import b64decode
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import run_proofs
from click.testing import Result
from run_proofs import ALICE, BREAKS, NONCE, PUBLISHER, Bundle, Party, World

from cortex_graph import NamespacedGraph, open_store
from cortex_graph.index.triple_index import hash_line
from cortex_skills import Config, CortexError
from cortex_skills.features.proofs.bundle import Link, Requirement, Trusted, check_bundle, read_bundle, read_requirement
from cortex_skills.features.proofs.kinds import CheckContext
from cortex_skills.features.proofs.verdict import Verdict
from cortex_skills.signatures import Publisher, Trust
from cortex_skills.signatures.trust import Seen
from tests.proofs.zk import curve

from .conftest import EXAMPLES

LINKS = ["issuer", "issuer", "proof", "anchor", "proof", "anchor", "requirement", "requirement"]
LINKS += ["skill", "logic", "assertion"]


@dataclass(frozen=True)
class Story:
    """The result of the script up to the bundle."""

    world: World
    skill: Path
    triple: str
    bundle: Path
    others: dict[str, Any]
    reported: list[str]

    def document(self) -> Bundle:
        document: Bundle = json.loads(self.bundle.read_text())
        return document

    def verify(self, document: Bundle, folder: Path, *more: str) -> Result:
        """Verify a bundle as the verifier."""
        path = folder / "bundle.json"
        path.write_text(json.dumps(document))
        return self.world.verify(path, *more)


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    folder = tmp_path_factory.mktemp("kyc")
    reported: list[str] = []
    run_proofs.run(folder, reported.append)
    world, skill, bundle = World.at(folder), folder / "publisher" / "verify-kyc", folder / "holder" / "bundle.json"
    triple = hash_line(json.loads(bundle.read_text())["statement"].removesuffix(" ."))
    others = {"statement": proved(world.holder, skill, "false")}
    newer = tmp_path_factory.mktemp("newer") / "verify-kyc"
    shutil.copytree(skill, newer)
    (newer / "SKILL.md").write_text((skill / "SKILL.md").read_text().replace('"1.0.0"', '"1.0.1"'))
    world.publisher.run("sign", str(newer), "--key", "releases", "--publisher", PUBLISHER)
    others["version"] = proved(world.holder, newer, "true")
    return Story(world, skill, triple, bundle, others, reported)


def proved(holder: Party, skill: Path, value: str) -> Any:
    """A proof by the holder, for a skill, that Alice is verified or not."""
    of = ("--commitment", ALICE, "birthYear", "--minimum", "1900", "--maximum", "2008", "--nonce", NONCE)
    words = ("proof", "request", "range", ALICE, "isVerified", "--object", value, *of, "--skills", str(skill))
    return json.loads(holder.run(*words))


def refusal(done: Result) -> str:
    """The error output of a command that exited with 1."""
    assert done.exit_code == 1
    assert "Traceback" not in done.stderr
    return done.stderr


def test_one_command_verifies_the_whole_chain(story):
    done = story.world.verify(story.bundle, "--json")

    assert (done.exit_code, done.stderr) == (0, "")
    reported = json.loads(done.stdout)
    assert (reported["verdict"], reported["kind"]) == ("verified", "bundle")
    assert [link["link"] for link in reported["links"]] == LINKS
    for link in reported["links"]:
        assert link["verdict"] == "verified"
        assert all(check["establishes"] and check["doesNotEstablish"] for check in link["checks"])


def test_the_report_explains_each_link(story):
    shown = story.world.verify(story.bundle).stdout

    assert shown.startswith("VERIFIED (bundle)\n")
    assert "means: the committed number lies between 1900 and 2008, both included\n" in shown
    assert "means: the committed value is one of the 3 members of the set\n" in shown
    assert f"means: {PUBLISHER}, whom you trust, published it\n" in shown
    assert shown.count("does not mean: ") == shown.count(" means: ")


def test_the_bundle_holds_no_secret_and_needs_no_graph(story):
    def leaves(value: Any) -> Iterator[Any]:
        if isinstance(value, dict | list):
            for each in value.values() if isinstance(value, dict) else value:
                yield from leaves(each)
        else:
            yield value

    story.world.verify(story.bundle)

    assert not (story.world.verifier.folder / "graph").exists()
    assert not {1990, "1990"} & set(leaves(story.document()))


EXPECTED = {
    "the issuer's credential is changed": "breaks at issuer (birthYear): signature: the signature is not valid",
    "the credential of a commitment is left out": "breaks at anchor (birthYear): anchor: unanchored: ",
    "the commitment of a proof is swapped": "breaks at proof (range of birthYear): proof: the proof is not valid",
    "a letter of a proof is changed": "breaks at proof (range of birthYear): proof: the proof is not valid",
    "a file of the skill is changed": "breaks at skill (verify-kyc 1.0.0): signature: verify-kyc is not as it was",
    "the Proof of Logic is changed": "breaks at logic (the rules of the skill): signature: did:key:",
    "a premise is withdrawn": "breaks at logic (the rules of the skill): premises: the premise ",
    "the assertion is changed": "breaks at assertion (by did:key:",
}


@pytest.mark.parametrize("name", BREAKS)
def test_each_broken_link_is_refused_by_name(story, name):
    assert EXPECTED[name] in refusal(story.world.verify(run_proofs.broken(story.bundle, BREAKS[name])))


def test_the_credential_of_another_issuer_is_refused(story, tmp_path):
    other = Party(tmp_path / "other")
    signed = run_proofs.commit(other)
    graph = NamespacedGraph(open_store(str(other.folder / "graph")), "mayros")
    credentials = [json.loads(proof.content) for proof in graph.proofs.page(10)[0]]
    graph.store.close()
    assert (signed.exists(), len(credentials)) == (True, 2)

    said = refusal(story.verify(story.document() | {"credentials": credentials}, tmp_path))

    assert "breaks at issuer" in said
    assert f"it is issued by {other.did('office')}, who is not among the issuers whom you trust" in said


def test_a_proof_for_another_statement_is_refused(story, tmp_path):
    document = story.document()
    document["proofs"][0] = story.others["statement"]

    said = refusal(story.verify(document, tmp_path))

    assert "breaks at proof (range of birthYear): statement: it is about the statement " in said


def test_a_proof_for_another_version_of_the_skill_is_refused(story, tmp_path):
    document = story.document()
    document["proofs"][0] = story.others["version"]

    said = refusal(story.verify(document, tmp_path))

    assert "skill: it was made for verify-kyc 1.0.1, and verify-kyc 1.0.0 asserted" in said


def test_a_proof_with_another_nonce_is_refused(story):
    said = refusal(story.world.verify(story.bundle, "--nonce", "order 4712"))

    assert "breaks at proof (range of birthYear): nonce: it was made with another nonce, or without one" in said


@pytest.mark.parametrize("required", ["birthYear=1900..1980", "residence=BE,DE", "height=1..3", "birthYear=1990,1991"])
def test_a_requirement_without_a_proof_is_refused(story, required):
    said = refusal(story.world.verify(story.bundle, "--require", required))

    assert f"breaks at requirement ({required}): requirement: no verified proof shows this about the subject" in said


def test_a_skill_of_an_unknown_publisher_is_not_verified(story, tmp_path):
    stranger = replace(story.world, verifier=Party(tmp_path / "stranger"))

    done = stranger.verify(story.bundle)

    assert done.stdout.startswith("NOT CHECKED (bundle)\n")
    signed = f"publisher: verify-kyc is signed by {PUBLISHER}, whom you do not trust"
    assert f"the chain is not fully verified, at skill (verify-kyc 1.0.0): {signed}" in refusal(done)


def test_a_skill_that_was_seen_from_another_publisher_is_refused(story):
    statement = json.loads(story.document()["skill"]["signature"])
    seen = Seen("verify-kyc", "another.example", statement["version"], statement["signed"], "00")
    found = links(
        story, story.document(), trusted=Trusted({story.world.issuer.did("office")}, Trust({}, {seen.skill: seen}))
    )

    assert found["skill"].verdict is Verdict.REFUTED


def test_a_skill_signed_by_another_key_is_refused(story, tmp_path):
    skill = run_proofs.publish(Party(tmp_path))
    document = story.document()
    document["skill"]["signature"] = (skill / "SKILL.sig").read_text()

    said = refusal(story.verify(document, tmp_path))

    assert f"publisher: {PUBLISHER} signs with another key than the trusted one" in said


def test_deleting_a_premise_breaks_the_next_bundle(story, tmp_path):
    holder = Party(tmp_path / "holder")
    shutil.copytree(story.world.holder.folder, holder.folder)
    store = open_store(str(holder.folder / "graph"))
    graph = NamespacedGraph(store, "mayros")
    [status] = graph.list_triples({"subject": ALICE, "predicate": "hasStatus"})["triples"]
    graph.delete_triple(status["id"])
    store.close()

    said = refusal(story.world.verify(run_proofs.hand_on(holder, story.triple, story.skill)))

    assert f"breaks at logic (the rules of the skill): premises: the premise {status['id']} was withdrawn" in said


@pytest.mark.slow
def test_any_change_of_a_bundle_is_detected(story):
    """Changes each text and number in turn. The rules are not replayed, which would take longer."""

    def verdicts(document: Bundle) -> list[tuple[str, str]] | str:
        try:
            found = check_bundle(read_bundle(json.dumps(document)), trusted, asked)
        except CortexError as error:
            return error.code
        return [(check.part, check.verdict) for link in found for check in link.checks]

    trusted, asked = trusted_by(story), CheckContext(datetime.now(UTC), Config(), nonce=NONCE, replay=False)
    document = story.document()
    as_it_is = verdicts(document)
    assert [each for each in as_it_is if each[1] is not Verdict.VERIFIED] == [("logic", Verdict.NOT_CHECKED)]
    changed = 0
    for holder, key in list(places(document)):
        value = holder[key]
        holder[key] = f"{value[:-1]}{'x' if value[-1:] != 'x' else 'y'}" if isinstance(value, str) else value + 1
        assert verdicts(document) != as_it_is, (key, value)
        holder[key] = value
        changed += 1
    assert changed > 80


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """The containers and keys of all texts and numbers of a document."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(inner, dict | list):
            yield from places(inner)
        else:
            yield value, key


def trusted_by(story: Story) -> Trusted:
    """The trust of the verifier."""
    issuer, publisher = story.world.issuer.did("office"), story.world.publisher.did("releases")
    listed = Publisher(PUBLISHER, publisher, "listed", "2026-01-01T00:00:00.000Z")
    return Trusted({issuer}, Trust({PUBLISHER: listed}))


def links(
    story: Story, document: Bundle, now: datetime | None = None, trusted: Trusted | None = None
) -> dict[str, Link]:
    """The last link of each name, as checked by the verifier."""
    asked = CheckContext(now or datetime.now(UTC), Config(), nonce=NONCE)
    found = check_bundle(read_bundle(json.dumps(document)), trusted or trusted_by(story), asked)
    return {link.name: link for link in found}


def test_a_proof_that_has_expired_is_refused(story):
    found = links(story, story.document(), datetime.now(UTC) + timedelta(days=2))

    assert found["proof"].verdict is Verdict.REFUTED
    assert found["proof"].why().startswith("expiry: it expired at ")
    assert found["issuer"].verdict is found["skill"].verdict is Verdict.VERIFIED


def test_a_missing_part_is_not_verified(story):
    found = links(story, story.document() | {"proofs": [], "credentials": [], "premises": []})

    assert found["proof"].why() == "presence: the bundle has no zero-knowledge proof"
    assert found["issuer"].why() == "presence: the bundle has no credential"
    assert found["proof"].verdict is found["issuer"].verdict is Verdict.NOT_CHECKED
    assert "was withdrawn" in found["logic"].why()
    assert found["logic"].verdict is Verdict.REFUTED


def test_without_commitments_nothing_is_missing_for_a_verifier_who_expects_none(story):
    bare = read_bundle(json.dumps(story.document() | {"proofs": [], "credentials": []}))
    publishers, required = trusted_by(story).publishers, [read_requirement("birthYear=1900..2008")]

    def verdicts(trusted: Trusted, nonce: str | None = None, required: Sequence[Requirement] = ()) -> dict[str, str]:
        asked = CheckContext(datetime.now(UTC), Config(), nonce=nonce)
        return {link.name: link.verdict.value for link in check_bundle(bare, trusted, asked, required)}

    held = {"skill": "verified", "logic": "verified", "assertion": "verified"}
    missing = {"issuer": "not checked", "proof": "not checked", **held}
    assert verdicts(Trusted(publishers=publishers)) == held
    assert verdicts(Trusted(publishers=publishers), nonce=NONCE) == missing
    assert verdicts(trusted_by(story)) == missing
    assert verdicts(Trusted(publishers=publishers), required=required) == {**missing, "requirement": "refuted"}
    only = read_bundle(json.dumps(story.document() | {"proofs": []}))
    asked = CheckContext(datetime.now(UTC), Config(), replay=False)
    found = {link.name: link.verdict.value for link in check_bundle(only, Trusted(publishers=publishers), asked)}
    assert (found["issuer"], found["proof"]) == ("refuted", "not checked")


def test_rules_that_the_publisher_did_not_sign_are_refused(story):
    document = story.document()
    document["rules"] = [(EXAMPLES / "verify-kyc" / "shapes.ttl").read_text()]
    document["skill"]["files"]["shapes.ttl"] = document["skill"]["files"]["skill.ts"]

    found = links(story, document)

    assert found["skill"].verdict is Verdict.REFUTED
    assert found["logic"].why() == "rules: the rules that the publisher signed are not among the rules of the proof"


def test_the_sample_of_the_proofs_page_verifies_the_bundle(story, monkeypatch, capsys):
    page = (EXAMPLES.parent / "docs" / "proofs.md").read_text(encoding="utf-8")
    [code] = re.findall(r"^```python\n(.*?)^```", page.partition("\n## A whole chain\n")[2], re.MULTILINE | re.DOTALL)
    dids = f'"{story.world.issuer.did("office")}", "{story.world.publisher.did("releases")}"'
    code, count = re.subn(r'"did:key:z6Mk…", "did:key:z6Mk…"', dids, code)
    monkeypatch.chdir(story.bundle.parent)

    exec(compile(code, "proofs.md", "exec"), {})

    lines = capsys.readouterr().out.splitlines()
    assert (count, [line.split()[:2] for line in lines]) == (1, [["verified", link] for link in LINKS])


def test_a_second_implementation_verifies_a_bundle(story):
    """Follows docs/proofs.md, "Checking without this software": hashes, and proofs with a second implementation."""
    bundle = story.document()
    said = [each["credentialSubject"] for each in bundle["credentials"]]
    for proof in bundle["proofs"]:
        assert curve.verify(proof)
        assert proof["statement"]["tripleHash"] == line_hash(bundle["statement"])
        assert proof["statement"]["nonce"] == NONCE
        place = proof["claim"]["commitment"]
        assert {"id": place["subject"], place["predicate"]: place["commitment"]} in said
    signature, files = json.loads(bundle["skill"]["signature"]), bundle["skill"]["files"]
    hashes = {path: sha256(b64decode(text)).hexdigest() for path, text in files.items()}
    assert hashes == {each["path"]: each["sha256"] for each in signature["files"]}
    assert hashes["shapes.ttl"] in [each["digest"] for each in bundle["logic"]["rules"]]
    listed = {triple for read in bundle["logic"]["premises"]["reads"] for triple in read["triples"]}
    assert {line_hash(line) for line in bundle["premises"]} == listed
    assert len(listed) == 3


def line_hash(line: str) -> str:
    return sha256(line.encode() + b"\n").hexdigest()


def without(key: str) -> Callable[[Bundle], Any]:
    return lambda document: {name: value for name, value in document.items() if name != key}


MALFORMED: dict[str, Callable[[Bundle], Any]] = {
    "a key too many": lambda document: document | {"openings": []},
    "a key too few": without("premises"),
    "another version": lambda document: document | {"version": 2},
    "a statement that is none": lambda document: document | {"statement": "alice is verified"},
    "a statement with a line feed": lambda document: document | {"statement": document["statement"] + "\n"},
    "a statement about nothing that has a name": lambda document: document | {"statement": "_:a <a:b> <a:c> <a:g> ."},
    "a statement of no graph": lambda document: document | {"statement": "<a:a> <a:b> <a:c> ."},
    "a premise of another graph": lambda document: document | {"premises": ["<a:a> <a:b> <a:c> <a:g> ."]},
    "a file that is not in base64": lambda d: d | {"skill": d["skill"] | {"files": {"SKILL.md": "!"}}},
    "a number that readers differ in": lambda document: document | {"assertion": {"n": 2**60}},
    "half a character": lambda document: document | {"assertion": {"n": "\ud800"}},
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_bundle_is_refused(story, name):
    with pytest.raises(CortexError, match="this is not a bundle: ") as refused:
        read_bundle(json.dumps(MALFORMED[name](story.document())))
    assert refused.value.code == "proof_failed"


def test_a_duplicate_key_is_refused(story):
    text = story.bundle.read_text()

    with pytest.raises(CortexError, match="a key is given twice"):
        read_bundle(text.replace('{"type"', '{"version": 1, "type"', 1))


@pytest.mark.parametrize("base", ["urn:other:shop", "urn:other:mayros/x"])
def test_a_bundle_of_another_namespace_than_its_proof_of_logic_is_refused(story, tmp_path, base):
    document = story.document()
    for key in ("statement", "premises"):
        text = json.dumps(document[key]).replace("<urn:cortex:mayros> .", f"<{base}> .")
        document[key] = json.loads(text)

    assert "the namespace of the bundle is not valid" in refusal(story.verify(document, tmp_path))


@pytest.mark.parametrize("text", ["", "birthYear", "=1..2", "birthYear=", "birthYear=2..1", "residence=NL,", "a=,b"])
def test_a_malformed_requirement_is_refused(text):
    with pytest.raises(CortexError, match="is not a requirement"):
        read_requirement(text)


def test_a_requirement_needs_a_bundle(story, tmp_path):
    path = tmp_path / "credential.json"
    path.write_text(json.dumps(story.document()["assertion"]))
    done = story.world.verifier.try_to("proof", "verify", str(path), "--require", "birthYear=1900..2008")

    assert done.exit_code == 2
    assert "--require needs the file of a bundle" in done.stderr


def test_a_bundle_needs_a_skill_signed_by_its_publisher(story, tmp_path):
    unsigned = tmp_path / "verify-kyc"
    shutil.copytree(story.skill, unsigned)
    (unsigned / "SKILL.sig").unlink()
    done = story.world.holder.try_to("proof", "bundle", story.triple, "--skills", str(unsigned))

    assert "verify-kyc has no signature of a publisher" in refusal(done)


def test_the_script_prints_six_steps_and_names_each_broken_link(story):
    reported = "\n".join(story.reported)

    assert [line[:2] for line in reported.splitlines() if line[:1].isdigit()] == ["1.", "2.", "3.", "4.", "5.", "6."]
    assert "\nVERIFIED (bundle)\n" in reported
    assert reported.count("error[proof_failed]: the chain breaks at ") == len(BREAKS)


def test_the_script_removes_its_folder(monkeypatch, tmp_path):
    monkeypatch.setattr(run_proofs, "run", lambda folder: (folder / "there").write_text("a file"))
    monkeypatch.setattr("sys.argv", ["run_proofs.py"])
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    run_proofs.main()

    assert list(tmp_path.iterdir()) == []
