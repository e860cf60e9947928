"""`/explore/{namespace}/t/{id}`: one assertion and its thread of evidence.

Rules kept here:
- everything is checked for this reader now, within the time limit of the proofs of a request; what was not checked is
  shown as missing, and never as verified;
- the page shows what is established and what is not, in the words of the checks;
- as of a moment the page says whether the triple was in the graph then; its proofs are checked now;
- a withdrawn assertion has its page and its forms, with its own record and proofs, and who withdrew it; it cannot be
  withdrawn again. An unknown id is not found.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from pyoxigraph import NamedNode, Quad

from cortex_graph.assertion_records.proofs import StoredProof
from cortex_graph.assertions import Assertion, AssertionHistory, history_of
from cortex_graph.exceptions import invalid
from cortex_graph.store import Pattern, triple_of
from cortex_skills.doors.explorer.addresses import ROOT, Addresses
from cortex_skills.doors.explorer.display import (
    LINES,
    OF_HEADING,
    OF_LINE,
    ShownName,
    ShownTerm,
    ShownText,
    shown_name,
    shown_text,
)
from cortex_skills.doors.explorer.exports import nanopublication
from cortex_skills.doors.explorer.page import Action, ExplorerPage, Form, PageCall, Repeated, not_found
from cortex_skills.doors.explorer.page_queries import AsOfQuery
from cortex_skills.doors.http.bodies import to_json
from cortex_skills.features.explorer.evidence import EvidenceLink, checked_thread
from cortex_skills.features.explorer.reading import AsOfField, Reading, TakeAway, TextLink, skill_page
from cortex_skills.features.explorer.triple_rows import ShownOrigin, TripleRow, moment, shown_origin, triple_rows
from cortex_skills.features.graph.rest.overview import assertion_document
from cortex_skills.features.graph.statement_changes import withdraw
from cortex_skills.features.proofs.assertions import Part, check_assertion, proofs_of, verdict_of
from cortex_skills.features.proofs.kinds.base import PRESENCE
from cortex_skills.features.proofs.logic.document import KIND as LOGIC
from cortex_skills.features.proofs.rest.proof_checks import asked_of
from cortex_skills.features.proofs.verdict import Check, Verdict
from cortex_skills.skill_folder.snapshot import SIGNATURE

_ASSERTED = "What it asserted"
_PREMISES = 50
_SHORT = 80  # characters
_RECORD = 100  # quads of a record
_HEX = frozenset("0123456789abcdef")


@dataclass(frozen=True, slots=True)
class ChainLink:
    """One link of the thread: its title, its state, remarks, and a page about it."""

    title: ShownText
    link: EvidenceLink
    remarks: tuple[ShownText, ...]
    href: TextLink | None = None


@dataclass(frozen=True, slots=True)
class ShownCheck:
    """The result of one check, as sentences."""

    verdict: str
    establishes: ShownText
    not_established: ShownText
    reasons: tuple[ShownText, ...]
    proof: TextLink | None = None

    @classmethod
    def of(cls, check: Check, proof: TextLink | None = None) -> ShownCheck:
        """The finding of a check, with the proof that was checked."""
        texts = (check.establishes, check.does_not_establish, *check.reasons)
        establishes, not_established, *reasons = (shown_text(text) for text in texts)
        return cls(check.verdict.value, establishes, not_established, tuple(reasons), proof)


@dataclass(frozen=True, slots=True)
class AssertionView:
    """One assertion.

    Attributes:
        triple_id: its id.
        subject, predicate, object: the triple.
        is_short: whether the object fits into a heading.
        whole: the address of the whole text of a long literal.
        was_there: whether the triple was in the graph at the moment that was asked for; None for now.
        verdict: of all checks, made now.
        chain: the five links.
        findings: each check.
        origin: who asserted it.
        is_present: whether it is in the graph now.
        withdrawals: who withdrew it, and when; the latest first.
        record: the record in PROV-O.
        premises: the triples that its Proofs of Logic rest on.
        resting: the proofs that rest on it.
        bundle: the address of the bundle; None if there is none, with the reason in `without_bundle`.
        correct: the page that corrects it.
    """

    triple_id: str
    subject: ShownTerm
    predicate: ShownName
    object: ShownTerm
    is_short: bool
    whole: str | None
    was_there: bool | None
    verdict: str
    is_present: bool
    chain: tuple[ChainLink, ...]
    findings: tuple[ShownCheck, ...]
    origin: ShownOrigin
    withdrawals: tuple[ShownOrigin, ...]
    record: tuple[tuple[ShownName, ShownTerm], ...]
    premises: tuple[TripleRow, ...]
    resting: tuple[TextLink, ...]
    bundle: str | None
    without_bundle: str
    correct: str
    as_of: AsOfField
    away: TakeAway


@dataclass(frozen=True, slots=True)
class _Read:
    """What was read of an assertion."""

    reading: Reading
    triple_id: str
    history: AssertionHistory

    @property
    def quad(self) -> Quad:
        return self.history.quad

    @property
    def assertion(self) -> Assertion | None:
        return self.history.assertion


def view(call: PageCall) -> AssertionView:
    """One assertion, checked now.

    Raises:
        HttpError: `not_found`.
    """
    read = _read(call)
    reading, graph, quad = read.reading, read.reading.graph, read.quad
    then = Reading.of(call, "").graph if reading.addresses.as_of else None
    context = replace(asked_of(call.api()), cancel=call.cancel, triple=quad)
    parts = check_assertion(graph, quad, context)
    proofs = proofs_of(graph, read.triple_id, read.assertion)
    shown = reading.display.term(quad.object, LINES * OF_LINE, lines=LINES)
    bundle, why = _bundle_address(read, proofs)
    text = shown.text if not isinstance(shown, ShownName) else None
    return AssertionView(
        read.triple_id,
        reading.display.term(quad.subject, OF_HEADING),
        reading.display.iri(quad.predicate.value, OF_HEADING),
        shown,
        len(shown.plain) <= _SHORT and "\n" not in shown.plain,
        reading.address(format="text") if text is not None and text.is_clipped else None,
        None if then is None else then.store.contains(quad),
        verdict_of(parts).value,
        read.history.is_present,
        tuple(_chain(call, read, parts, proofs)),
        tuple(_finding(reading, part) for part in parts),
        shown_origin(read.assertion),
        tuple(_withdrawn(each.withdrawn) for each in read.history.withdrawn if each.withdrawn),
        _record(read),
        _premises(reading, proofs),
        tuple(_proof_link(reading, each) for each in graph.proofs.resting_on(read.triple_id)[:_PREMISES]),
        bundle,
        why,
        Addresses(graph.namespace).page("write", triple=read.triple_id),
        reading.as_of_field(),
        reading.take_away(
            {name: form for name, form in FORMS.items() if bundle or name != "bundle"},
            f"SELECT ?p ?o {{ {quad.subject} ?p ?o }}",
        ),
    )


def _proof_link(reading: Reading, proof_id: str, kind: str = "") -> TextLink:
    return TextLink(f"{kind} {proof_id[:12]}…".strip(), reading.addresses.proof(proof_id))


def _read(call: PageCall) -> _Read:
    triple_id = call.path["id"]
    reading = Reading.of(call, f"t/{triple_id}", past=False)
    graph = reading.graph
    if len(triple_id) != 64 or not set(triple_id) <= _HEX:
        raise not_found("an assertion is named by 64 hexadecimal digits")
    history = history_of(graph, triple_id)
    if history is None:
        raise not_found("this namespace has no assertion with this id")
    return _Read(reading, triple_id, history)


def _chain(call: PageCall, read: _Read, parts: Sequence[Part], proofs: list[StoredProof]) -> Iterator[ChainLink]:
    thread, assertion, to = checked_thread(read.assertion, parts), read.assertion, read.reading.addresses
    agent, skill, rules, proof, signature = thread.links
    names = read.reading.graph.names

    def text(given: str) -> ShownText:
        return shown_text(given, OF_HEADING)

    if assertion is None or assertion.agent is None:
        yield ChainLink(text("No agent"), agent, (text("imported, or written without a record"),))
    else:
        name = names.name(names.agent(assertion.agent).value)
        remarks = (text("the agent on whose behalf"), text(name))
        href = TextLink(_ASSERTED, to.triples(agent=assertion.agent))
        yield ChainLink(text(assertion.agent), agent, remarks, href)
    if assertion is None or assertion.skill is None:
        yield ChainLink(text("No skill"), skill, (text("asserted without a skill"),))
    else:
        title = f"{assertion.skill} {assertion.skill_version or ''}".strip()
        own = skill_page(call, assertion.skill)
        href = TextLink("Its page", own) if own else TextLink(_ASSERTED, to.triples(skill=assertion.skill))
        yield ChainLink(text(title), skill, tuple(map(text, _skill_remarks(call, assertion))), href)
    logic = [each for each in proofs if each.kind == LOGIC]
    sets = rule_sets(logic[0]) if logic else []
    applied = [f"{name} {version}, digest {digest[:8]}…{digest[-4:]}" for name, version, digest in sets]
    yield ChainLink(text(sets[-1][0] if sets else "No rules"), rules, tuple(map(text, [*applied, rules.words])))
    others = [each for each in proofs if each.kind != "credential"]
    page = TextLink("The proof", to.proof(others[0].id)) if others else None
    yield ChainLink(text("Proof of Logic" if logic else "Proof"), proof, (text(proof.words),), page)
    credentials = [each for each in proofs if each.kind == "credential"]
    page = TextLink("The credential", to.proof(credentials[0].id)) if credentials else None
    yield ChainLink(text("Signature of an issuer"), signature, (text(signature.words),), page)


def _skill_remarks(call: PageCall, assertion: Assertion) -> Iterator[str]:
    loaded = call.service.plugin.skills.get(assertion.skill or "")
    if loaded is None:
        yield "not loaded here: its signature was not checked"
    elif loaded.semantic.skill_version != assertion.skill_version:
        yield f"version {loaded.semantic.skill_version} is loaded here; the signature of this version was not checked"
    elif loaded.signed is None:
        yield "loaded here without a signature: the configuration requires none"
    else:
        yield f"this version is loaded here; its signature over {len(loaded.signed)} files was verified then"


def rule_sets(proof: StoredProof) -> list[tuple[str, str, str]]:
    """The rule sets that a Proof of Logic names: name, version, digest."""
    try:
        sets = json.loads(proof.content)["rules"]
        return [(str(each["name"]), str(each["version"]), str(each["digest"])) for each in sets]
    except (ValueError, KeyError, TypeError):
        return []


def _finding(reading: Reading, part: Part) -> ShownCheck:
    if part.proof is None:
        shown, is_gone = (
            ShownCheck.of(part.check),
            part.check.part == PRESENCE and part.check.verdict is Verdict.REFUTED,
        )
        return replace(shown, verdict="withdrawn") if is_gone else shown  # what was never there has no page
    return ShownCheck.of(part.check, _proof_link(reading, part.proof, part.kind or ""))


def _withdrawn(origin: dict[str, str | None]) -> ShownOrigin:
    texts = (origin["skill"], origin["skillVersion"], origin["agent"])
    skill, version, agent = (None if text is None else shown_name(text, 60) for text in texts)
    return ShownOrigin(skill, version, agent, origin["time"], moment(origin["time"]), is_recorded=True)


def _record(read: _Read) -> tuple[tuple[ShownName, ShownTerm], ...]:
    quads = list(islice(_record_quads(read), _RECORD))
    return tuple(_stated(read.reading, quad) for quad in quads)


def _stated(reading: Reading, quad: Quad) -> tuple[ShownName, ShownTerm]:
    """A statement of a record; a name is a link where it has a page."""
    value = reading.display.term(quad.object)
    if isinstance(value, ShownName) and isinstance(quad.object, NamedNode):
        value = replace(value, href=reading.page_of(quad.object))
    return replace(reading.display.iri(quad.predicate.value), href=None), value


def _record_quads(read: _Read) -> Iterator[Quad]:
    graph, assertion = read.reading.graph, read.assertion
    node = graph.names.record(read.triple_id) if assertion is None else assertion.record
    return graph.store.quads(Pattern(graph.names.provenance_graph, node))


def _premises(reading: Reading, proofs: list[StoredProof]) -> tuple[TripleRow, ...]:
    ids = dict.fromkeys(each for proof in proofs if proof.kind == LOGIC for each in proof.premises)
    found = [(each, quad) for each in list(ids)[:_PREMISES] if (quad := reading.graph.index.find(each)) is not None]
    return triple_rows(reading, [(each, triple_of(quad)) for each, quad in found])


def _bundle_address(read: _Read, proofs: list[StoredProof]) -> tuple[str | None, str]:
    kinds = {proof.kind for proof in proofs}
    if not read.history.is_present:
        return None, "It was withdrawn: a bundle is of an assertion in the graph."
    if read.assertion is None or LOGIC not in kinds:
        return None, "A bundle needs a Proof of Logic: assert it with a proof."
    if "credential" not in kinds:
        return None, "A bundle needs a signature: cortex-skills proof sign"
    loaded = read.reading.call.service.plugin.skills.get(read.assertion.skill or "")
    if loaded is None:
        return None, "A bundle has the files of the skill, which is not loaded here: cortex-skills proof bundle"
    if not (loaded.folder / SIGNATURE).is_file():
        return None, "A bundle needs the signature of the skill's publisher: cortex-skills sign"
    return read.reading.address(format="bundle"), ""


def _bundle(call: PageCall) -> bytes:
    """The bundle for `cortex-skills proof verify`.

    Raises:
        CortexError: a part of the chain is missing.
    """
    from cortex_skills.features.proofs import proof_operations as proofs

    folders = proofs.Folders(skill.folder for skill in call.service.plugin.skills.values())
    return to_json(call.api().operate(proofs.bundle, assertion=_read(call).triple_id, folders=folders))


def _trig(call: PageCall) -> bytes:
    read = _read(call)
    records = [] if read.assertion is None else [read.assertion.record]
    return nanopublication(read.reading.graph, [read.quad], records)


def _document(call: PageCall) -> bytes:
    read = _read(call)
    graph = read.reading.graph
    parts = check_assertion(graph, read.quad, replace(asked_of(call.api()), cancel=call.cancel, triple=read.quad))
    assertion = None if read.assertion is None else assertion_document(read.assertion, graph.names)
    checks = [part.to_json() for part in parts]
    triple = graph.as_json(read.quad)
    withdrawn = [each.withdrawn for each in read.history.withdrawn]
    document = {"triple": triple, "present": read.history.is_present, "assertion": assertion, "withdrawals": withdrawn}
    return to_json({**document, "verdict": verdict_of(parts).value, "checks": checks})


def _text(call: PageCall) -> bytes:
    """The whole text of the object."""
    term = _read(call).quad.object
    return (term.value if isinstance(term, NamedNode) else str(getattr(term, "value", term))).encode()


FORMS = {
    "trig": Form("application/trig", _trig, "trig"),
    "json": Form("application/json", _document),
    "bundle": Form("application/vnd.cortex.bundle+json", _bundle, "bundle.json"),
    "text": Form("text/plain", _text),
}


def remove(call: PageCall, fields: Mapping[str, str]) -> str:
    """Withdraw the assertion, for the reason that was typed.

    Raises:
        CortexError: `invalid_arguments`, `not_found` or `permission_denied`.
    """
    triple_id, reason = call.path["id"], fields.get("reason", "").strip()
    if not reason:
        raise invalid("reason", "is missing", hint="state why the assertion is withdrawn")
    call.api().operate(withdraw, triple=triple_id, reason=reason)
    return Addresses(call.graph.namespace).assertion(triple_id)


def _repeated(call: PageCall, _: Mapping[str, str]) -> Repeated:
    """The triple, for the page that asks for the token again."""
    read = _read(call)
    terms = read.reading.display.terms(triple_of(read.quad))
    words = [term.called if isinstance(term, ShownName) else term.plain for term in terms]
    return Repeated(shown_text(" ".join(words), OF_HEADING))


PAGE = ExplorerPage(
    f"{ROOT}/{{namespace}}/t/{{id}}",
    "assertion",
    "assertion.html",
    view,
    query=AsOfQuery,
    forms=FORMS,
    actions={"remove": Action("Withdraw", "write", remove, takes_away=True, repeats=_repeated)},
    pool="slow",
    place=90,
)
