"""Rule sets: the rules of proofs as versioned data.

Rules kept here:
- a proof identifies a rule set by the SHA-256 of its text, so a changed rule set is another one;
- shapes are SHACL in Turtle: a file for a namespace (`proofs.shapes` in the configuration), and `shapes.ttl` in a
  skill's folder. They are untrusted data: they are parsed, bounded and checked here, and never evaluated in this
  process;
- no rule is silently ignored: terms that SHACL Core and SHACL-SPARQL (W3C, 2017) do not define, and imports of other
  files, are refused. So are queries to another server, and declared prefixes that are not one prefix: pySHACL inserts
  them into queries as text.
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

from cortex_graph.exceptions import GraphError
from cortex_graph.sparql.tokens import read_tokens
from cortex_skills.errors import CortexError
from cortex_skills.safe_io.display import one_line

MAX_BYTES = 64 << 10
MAX_TRIPLES = 4_000
_MAX_VERSION = 64
_MAX_DEPTH = 64  # of brackets in a query
_SH = "http://www.w3.org/ns/shacl#"
_OWL = "http://www.w3.org/2002/07/owl#"
_QUERIES = frozenset({f"{_SH}select", f"{_SH}ask"})
_ELSEWHERE = frozenset({"SERVICE", "FROM", "LOAD", "GRAPH"})
_TARGETS = frozenset(f"{_SH}{name}" for name in ("targetClass", "targetSubjectsOf", "targetObjectsOf"))
# The common part of PN_PREFIX and IRIREF (SPARQL 1.1, §19.8); a prefix may be empty.
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


class RuleSetId(NamedTuple):
    """The identity of a rule set.

    Attributes:
        name: `core`, `namespace:NS` or `skill:NAME`.
        version: the version that its author states; may be empty.
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
        version: its `owl:versionInfo`, else the version of the skill.
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
    def named(self) -> RuleSetId:
        """The identity of the rule set."""
        return RuleSetId(self.name, self.version, self.digest)


def read_rules(text: str, name: str, version: str = "") -> RuleSet:
    """Read a rule set.

    Args:
        text: SHACL shapes in Turtle.
        name: `namespace:NS` or `skill:NAME`.
        version: the version when the text does not state one.

    Raises:
        CortexError: `manifest_invalid`: it is too large, does not parse, or has unsupported terms.
    """
    if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise _refused(name, f"have more than {MAX_BYTES >> 10} KiB", "split the skill, or remove shapes")
    if "\ufffd" in text:
        raise _refused(name, "are not UTF-8", "write them as UTF-8")
    try:
        triples = list(parse(text.encode(), RdfFormat.TURTLE))
    except SyntaxError as error:
        raise _refused(name, f"are not Turtle: {error}", "correct the named line") from None
    except UnicodeEncodeError:
        raise _refused(name, "have a lone surrogate", "write them as UTF-8") from None
    if len(triples) > MAX_TRIPLES:
        raise _refused(name, f"have more than {MAX_TRIPLES} statements", "remove shapes")
    _check_terms(name, triples)
    return RuleSet(name, _version(triples) or version[:_MAX_VERSION], text)


def read_rules_file(path: Path, name: str, version: str = "") -> RuleSet | None:
    """Read the rule set in a file; None when the file does not exist.

    Raises:
        CortexError: `manifest_invalid`, as `read_rules`; also when the file cannot be read, or is a symbolic link.
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
        raise _refused(name, f"cannot be read: {error.strerror}", "check the owner and the mode of the file") from error


def _check_terms(name: str, triples: Iterable[Quad]) -> None:
    severities: dict[object, object] = {}
    for quad in triples:
        if quad.predicate.value == f"{_SH}severity" and severities.setdefault(quad.subject, quad.object) != quad.object:
            raise _refused(name, "have a shape with two severities", "give it one severity")
        for term in (quad.subject, quad.predicate, quad.object):
            if isinstance(term, Triple):
                raise _refused(name, "have a triple term", "SHACL does not use triple terms")
            if isinstance(term, NamedNode) and term.value.startswith(_SH) and term.value not in _KNOWN:
                hint = "SHACL Core and SHACL-SPARQL are supported; not its advanced features, rules or JavaScript"
                raise _refused(name, f"use sh:{term.value.removeprefix(_SH)[:80]}, which is not supported", hint)
        if quad.predicate.value == f"{_OWL}imports":
            raise _refused(name, "import another file", "write all shapes to one file: imports are not fetched")
        if quad.predicate.value in _QUERIES:
            _check_query(name, quad.object)
        if quad.predicate.value in _TARGETS and not isinstance(quad.object, NamedNode):
            what = quad.predicate.value.removeprefix(_SH)
            raise _refused(name, f"have a sh:{what} that is not an IRI", "no statement would be its target")
        form = _DECLARED.get(quad.predicate.value)
        if form is not None and not (isinstance(quad.object, Literal) and form.fullmatch(quad.object.value)):
            what = quad.predicate.value.removeprefix(_SH)
            raise _refused(name, f"declare an invalid {what}", "give a name for sh:prefix, an IRI for sh:namespace")


def _check_query(name: str, query: NamedNode | BlankNode | Literal | Triple) -> None:
    if not isinstance(query, Literal):
        raise _refused(name, "have a query that is not text", "give sh:select or sh:ask a string")
    try:
        words = {token.text.upper() for token in read_tokens(query.value, _MAX_DEPTH) if token.kind == "word"}
    except GraphError as error:
        raise _refused(name, f"have a query that cannot be read: {error.message}", error.hint) from None
    if reached := words & _ELSEWHERE:
        raise _refused(name, f"have a query with {min(reached)}", "a rule can read only the namespace's graph")


def _version(triples: Iterable[Quad]) -> str:
    found = sorted(
        quad.object.value
        for quad in triples
        if quad.predicate.value == f"{_OWL}versionInfo" and isinstance(quad.object, Literal)
    )
    return one_line(found[0])[:_MAX_VERSION] if found else ""


def _refused(name: str, problem: str, hint: str) -> CortexError:
    return CortexError("manifest_invalid", one_line(f"the shapes of {name} {problem}"), hint=hint)
