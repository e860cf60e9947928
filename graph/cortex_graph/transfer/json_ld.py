"""Finds what the parser of JSON-LD leaves out of a file without an error.

Rules kept here:
- a statement with an IRI, a blank node or a language tag that is invalid, or with a blank node as its property, is an
  error, as in the other formats (JSON-LD 1.1 API §8.2 leaves such statements out);
- a relative IRI that no base resolves is an error, too;
- a member without a meaning in its context has no statement (JSON-LD 1.1 API §5.1.2): it is counted by its name; so is
  a name of the form of a keyword that is none, such as `@id: "@home"`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import Any

from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, RdfFormat, Triple, parse

from cortex_graph.exceptions import InvalidArguments
from cortex_graph.transfer.references import json_place, relative_iri, text_of, with_place

MOST_MEMBERS = 100  # names that are returned
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_AT_MEMBER = re.compile(r'"(@[A-Za-z]+)"\s*:')
_AT_VALUE = re.compile(r'"@(?:id|type)"\s*:\s*"(@[A-Za-z]+)"')
_KEYWORDS = """
@base @container @context @default @direction @embed @explicit @graph @id @import @included @index @json @language @list
@nest @none @omitDefault @prefix @preserve @propagate @protected @requireAll @reverse @set @type @value @version @vocab
"""
_KNOWN = frozenset(_KEYWORDS.split())
_STEP = 1000  # statements


def ignored_members(file: Path, base: str, step: Callable[[], None]) -> dict[str, int]:
    """Return the members of a file that have no meaning, with the number of their values.

    Args:
        file: JSON-LD, in UTF-8.
        base: resolves relative IRIs.
        step: called regularly, as a sign of progress.

    Raises:
        InvalidArguments: the parser would leave out a statement.
        SyntaxError: it is no JSON-LD.
    """
    found: dict[str, int] = {}
    text = text_of(file)
    for name in chain(_AT_MEMBER.findall(text), _AT_VALUE.findall(text)):
        if name not in _KNOWN:
            found[name] = found.get(name, 0) + 1
    with file.open("rb") as opened:
        for number, quad in enumerate(parse(opened, RdfFormat.JSON_LD, base_iri=base, lenient=True)):
            if not number % _STEP:
                step()
            predicate = quad.predicate.value
            if not _ABSOLUTE.match(predicate) and not predicate.startswith("_:"):
                found[predicate] = found.get(predicate, 0) + 1
                continue
            for term in (quad.subject, quad.predicate, quad.object, quad.graph_name):
                if not _is_valid(term):
                    raise _left_out(term, file, base)
    return dict(islice(found.items(), MOST_MEMBERS))


def _is_valid(term: NamedNode | BlankNode | Literal | Triple | DefaultGraph) -> bool:
    if isinstance(term, NamedNode):
        return _is_iri(term.value)
    if isinstance(term, Literal):
        return _is_iri(term.datatype.value) and (term.language is None or _is_language(term.language))
    return not isinstance(term, BlankNode) or _made(BlankNode, term.value)


@lru_cache(4096)
def _is_iri(iri: str) -> bool:
    return _made(NamedNode, iri)


@lru_cache(256)
def _is_language(tag: str) -> bool:
    return _made(Literal, "", language=tag)


def _made(kind: Callable[..., Any], *args: str, **how: str) -> bool:
    try:
        kind(*args, **how)
    except ValueError:
        return False
    return True


def _left_out(term: Any, file: Path, base: str) -> InvalidArguments:
    if isinstance(term, BlankNode):
        value, problem, hint = f"_:{term.value}", "the blank node", "letters, digits, `_` and `-` after `_:`"
    elif isinstance(term, Literal) and term.language is not None and not _is_language(term.language):
        value, problem, hint = term.language, "the language tag", "a BCP 47 tag such as `en`"
    else:
        value = term.datatype.value if isinstance(term, Literal) else term.value
        if value.startswith("_:"):
            problem, hint = "the property", "a property is an IRI, and no blank node"
        elif not _ABSOLUTE.match(value) or value.startswith(base):
            return relative_iri(value.removeprefix(base), file, RdfFormat.JSON_LD)
        else:
            problem, hint = "the IRI", "percent-encode the characters that an IRI cannot contain"
    return with_place(f"has {problem} {value!a}", json_place(file, value), hint)
