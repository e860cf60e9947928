"""Rule sets: the rules that proofs apply, as versioned data.

Rules kept here:
- a rule set is a text with a SHA-256; a proof names the rules by it, so that rules that were changed are other rules;
- shapes are SHACL in Turtle: a file for a namespace (`proofs.shapes` in the configuration), and `shapes.ttl` in a
  skill's folder. They are untrusted data: they are parsed, bounded and looked through here, and never evaluated in
  this process;
- no rule is left out in silence: what SHACL Core and SHACL-SPARQL (W3C, 2017) do not define, or asks for other files,
  is refused by the name of its term. So are queries that would ask another server, and prefixes that are more than
  one: they are put in front of a query as text.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from pyoxigraph import BlankNode, Literal, NamedNode, Quad, RdfFormat, Triple, parse

from cortex_graph.errors import GraphError
from cortex_graph.sparql.text import read_tokens
from cortex_skills.errors import CortexError
from cortex_skills.escaping import one_line

MAX_BYTES = 64 << 10
MAX_TRIPLES = 4_000
_MAX_VERSION = 64
_MAX_DEPTH = 64  # of brackets in a query
_SH = "http://www.w3.org/ns/shacl#"
_OWL = "http://www.w3.org/2002/07/owl#"
_QUERIES = frozenset({f"{_SH}select", f"{_SH}ask"})
_ELSEWHERE = frozenset({"SERVICE", "FROM", "LOAD", "GRAPH"})
_TARGETS = frozenset(f"{_SH}{name}" for name in ("targetClass", "targetSubjectsOf", "targetObjectsOf"))
# What PN_PREFIX and IRIREF (SPARQL 1.1, §19.8) have of what anybody writes; a prefix may be empty.
_DECLARED = {
    f"{_SH}prefix": re.compile(r"(?:[^\W\d_](?:[\w.-]*[\w-])?)?"),
    f"{_SH}namespace": re.compile(r'[^\x00-\x20<>"{}|^`\\]*'),
}

# Of SHACL, W3C Recommendation of 20 July 2017: §2 to §6, and annotations.
_KNOWN = frozenset(
    _SH + name
    for names in (
        "NodeShape PropertyShape Shape ConstraintComponent SPARQLConstraint SPARQLAskValidator SPARQLSelectValidator",
        "Parameter Validator PropertyGroup PrefixDeclaration SPARQLExecutable SPARQLAskExecutable",
        "SPARQLSelectExecutable Severity Violation Warning Info NodeKind IRI BlankNode Literal BlankNodeOrIRI",
        "BlankNodeOrLiteral IRIOrLiteral",
        "targetNode targetClass targetSubjectsOf targetObjectsOf deactivated severity message name description order",
        "group defaultValue path inversePath alternativePath zeroOrMorePath oneOrMorePath zeroOrOnePath",
        "class datatype nodeKind minCount maxCount minExclusive minInclusive maxExclusive maxInclusive minLength",
        "maxLength pattern flags languageIn uniqueLang equals disjoint lessThan lessThanOrEquals not and or xone node",
        "property qualifiedValueShape qualifiedValueShapesDisjoint qualifiedMinCount qualifiedMaxCount closed",
        "ignoredProperties hasValue in sparql select ask prefixes declare prefix namespace parameter optional",
        "validator nodeValidator propertyValidator labelTemplate",
    )
    for name in names.split()
)


class Named(NamedTuple):
    """Which rules a proof applied.

    Attributes:
        name: `core`, `namespace:NS` or `skill:NAME`.
        version: as its author says; empty when nobody does.
        digest: the SHA-256 of its text, in hexadecimal.

    """

    name: str
    version: str
    digest: str


@dataclass(frozen=True)
class RuleSet:
    """Shapes that apply to a namespace's or a skill's statements.

    Attributes:
        name: `namespace:NS` or `skill:NAME`.
        version: its `owl:versionInfo`, else that of what it belongs to.
        text: the Turtle.

    """

    name: str
    version: str
    text: str

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of its text in UTF-8, in hexadecimal."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def named(self) -> Named:
        """How a proof names it."""
        return Named(self.name, self.version, self.digest)


def read_rules(text: str, name: str, version: str = "") -> RuleSet:
    """The rule set of a text.

    Args:
        text: SHACL shapes in Turtle.
        name: `namespace:NS` or `skill:NAME`.
        version: when the text does not say.

    Raises:
        CortexError: `manifest_invalid`: it is too large, does not parse, or holds what is refused.

    """
    if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise _refused(name, f"have more than {MAX_BYTES >> 10} KiB", "split the skill, or say less")
    if "\ufffd" in text:
        raise _refused(name, "are not UTF-8", "write them as UTF-8")
    try:
        triples = list(parse(text.encode(), RdfFormat.TURTLE))
    except SyntaxError as error:
        raise _refused(name, f"are no Turtle: {error}", "check the place that it names") from None
    except UnicodeEncodeError:
        raise _refused(name, "hold a lone surrogate", "write them as UTF-8") from None
    if len(triples) > MAX_TRIPLES:
        raise _refused(name, f"have more than {MAX_TRIPLES} statements", "say less")
    _check_terms(name, triples)
    return RuleSet(name, _version(triples) or version[:_MAX_VERSION], text)


def read_rules_file(path: Path, name: str, version: str = "") -> RuleSet | None:
    """The rule set of a file; None when there is no file.

    Raises:
        CortexError: `manifest_invalid`, as `read_rules`; also when it cannot be read, or is a symbolic link.

    """
    try:
        if path.is_symlink():
            raise _refused(name, f"are a symbolic link: {path.name}", "put the file itself there")
        if not path.exists():
            return None
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        return read_rules(data.decode("utf-8"), name, version)
    except UnicodeDecodeError:
        raise _refused(name, "are not UTF-8", "write them as UTF-8") from None
    except OSError as error:
        raise _refused(name, f"cannot be read: {error.strerror}", "see who owns the file") from error


def _check_terms(name: str, triples: Iterable[Quad]) -> None:
    severities: dict[object, object] = {}
    for quad in triples:
        if quad.predicate.value == f"{_SH}severity" and severities.setdefault(quad.subject, quad.object) != quad.object:
            raise _refused(name, "have a shape of two severities", "give it one: the worst")
        for term in (quad.subject, quad.predicate, quad.object):
            if isinstance(term, Triple):
                raise _refused(name, "hold a triple term", "SHACL has none")
            if isinstance(term, NamedNode) and term.value.startswith(_SH) and term.value not in _KNOWN:
                hint = "SHACL Core and SHACL-SPARQL are supported; not its advanced features, rules or JavaScript"
                raise _refused(name, f"use sh:{term.value.removeprefix(_SH)[:80]}, which is not supported", hint)
        if quad.predicate.value == f"{_OWL}imports":
            raise _refused(name, "import another file", "write all shapes into one file: nothing is fetched")
        if quad.predicate.value in _QUERIES:
            _check_query(name, quad.object)
        if quad.predicate.value in _TARGETS and not isinstance(quad.object, NamedNode):
            what = quad.predicate.value.removeprefix(_SH)
            raise _refused(name, f"have a sh:{what} that is no IRI", "no statement would ever be its target")
        form = _DECLARED.get(quad.predicate.value)
        if form is not None and not (isinstance(quad.object, Literal) and form.fullmatch(quad.object.value)):
            what = quad.predicate.value.removeprefix(_SH)
            raise _refused(name, f"declare a {what} that is none", "a name for sh:prefix, an IRI for sh:namespace")


def _check_query(name: str, query: NamedNode | BlankNode | Literal | Triple) -> None:
    if not isinstance(query, Literal):
        raise _refused(name, "have a query that is no text", "give sh:select or sh:ask a string")
    try:
        words = {token.text.upper() for token in read_tokens(query.value, _MAX_DEPTH) if token.kind == "word"}
    except GraphError as error:
        raise _refused(name, f"have a query that cannot be read: {error.message}", error.hint) from None
    if reached := words & _ELSEWHERE:
        raise _refused(name, f"have a query with {min(reached)}", "a rule sees the namespace's graph alone")


def _version(triples: Iterable[Quad]) -> str:
    found = sorted(
        quad.object.value
        for quad in triples
        if quad.predicate.value == f"{_OWL}versionInfo" and isinstance(quad.object, Literal)
    )
    return one_line(found[0])[:_MAX_VERSION] if found else ""


def _refused(name: str, problem: str, hint: str) -> CortexError:
    return CortexError("manifest_invalid", one_line(f"the shapes of {name} {problem}"), hint=hint)
