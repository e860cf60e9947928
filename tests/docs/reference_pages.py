"""Everything that is generated and committed: `python -m tests.docs.reference_pages` writes what is not current.

Rules kept here:
- what a page states comes from what the program itself uses; the same program gives the same page, byte for byte;
- `make docs` makes three more, which are not committed: commands, settings and REST (`build_steps/site.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyoxigraph as ox

from build_steps import typed_calls
from build_steps.tools import ROOT
from cortex_graph.naming.ontology import ontology
from cortex_skills.doors.http.http_errors import HTTP_CODES, STATUS
from cortex_skills.errors import CODES
from cortex_skills.operations.operation import all_operations
from cortex_skills.scanner.page import page as scanner_page
from cortex_skills.scanner.rules import RULES
from cortex_skills.scanner.whole_files import RULES as WHOLE_FILES
from cortex_skills.tools import own_tools
from tests.docs.operations_page import page as operations_page
from tests.docs.tools_page import page as tools_page

_ERRORS = """\
# Errors

Generated from the table of codes by `python -m tests.docs.reference_pages`. Every error of the plugin, through any
interface, has one of these codes: `code` of a [result](../python.md#calls) or of a `CortexError`, of a body over
[HTTP](../server.md) and of `structuredContent` over MCP; the [audit](../audit.md) has it as the outcome. A code
is never renamed or reused. The message says what happened to what, and the hint what to do in that case.

| code | HTTP | meaning | what to do |
|---|---|---|---|
"""
_HTTP_ERRORS = """
## Of HTTP alone

What is wrong with a request before anything is called:

| code | status |
|---|---|
"""
_TERMS = """\
# Terms of the ontology

Generated from `graph/ontology/cortex.ttl` by `python -m tests.docs.reference_pages`. The prefix `cortex:` is
`urn:cortex-graph:ontology#`. [The ontology](../ontology.md) explains how the terms are used.

| term | is a | of | value | |
|---|---|---|---|---|
"""
_PREFIXES = {
    "urn:cortex-graph:ontology#": "cortex:",
    "http://www.w3.org/ns/prov#": "prov:",
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#": "rdf:",
    "http://www.w3.org/2000/01/rdf-schema#": "rdfs:",
    "http://www.w3.org/2001/XMLSchema#": "xsd:",
    "http://www.w3.org/2002/07/owl#": "owl:",
    "https://schema.org/": "schema:",
}
_QUERY = """
PREFIX owl: <http://www.w3.org/2002/07/owl#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
SELECT ?term (SAMPLE(?kind) AS ?is) (GROUP_CONCAT(DISTINCT STR(?parent)) AS ?parents) (SAMPLE(?domain) AS ?of)
       (SAMPLE(?range) AS ?value) (SAMPLE(?comment) AS ?about)
WHERE {
  ?term a ?kind ; rdfs:comment ?comment .
  FILTER(?kind != owl:FunctionalProperty)
  OPTIONAL { ?term rdfs:subClassOf|rdfs:subPropertyOf ?parent }
  OPTIONAL { ?term rdfs:domain ?domain }
  OPTIONAL { ?term rdfs:range ?range }
} GROUP BY ?term ORDER BY ?term"""


def errors() -> str:
    """The page of the codes."""
    rows = (f"| `{code}` | {STATUS[code]} | {meaning} | {remedy} |\n" for code, (meaning, remedy) in CODES.items())
    of_http = (f"| `{code}` | {status} |\n" for code, status in HTTP_CODES.items())
    return "".join([_ERRORS, *rows, _HTTP_ERRORS, *of_http])


def terms() -> str:
    """The page of the terms that the ontology defines."""
    store = ox.Store()
    store.load(ontology().encode(), format=ox.RdfFormat.TURTLE)
    rows = []
    for term, kind, parents, of, value, about in store.query(_QUERY):
        kinds = " ".join(
            f"`{_short(each)}`" for each in [kind.value, *sorted(parents.value.split() if parents else [])]
        )
        ends = [f"`{_short(each.value)}`" if isinstance(each, ox.NamedNode) else "" for each in (of, value)]
        rows.append(
            f"| `{_short(term.value)}` | {kinds} | {' | '.join(ends)} | {about.value.replace('|', '&#124;')} |\n"
        )
    return "".join([_TERMS, *rows])


def _short(iri: str) -> str:
    for beginning, prefix in _PREFIXES.items():
        if iri.startswith(beginning):
            return iri.replace(beginning, prefix, 1)
    return iri


PAGES: dict[str, Callable[[], str]] = {
    "docs/tools.md": lambda: tools_page(own_tools().values()),
    "docs/scanner.md": lambda: scanner_page(RULES, WHOLE_FILES),
    "docs/reference/operations.md": lambda: operations_page(all_operations().values()),
    "docs/reference/errors.md": errors,
    "docs/reference/terms.md": terms,
    "cortex_skills/features/typed_calls.py": lambda: typed_calls.text(own_tools().values()),
}


def write_all(root: Path = ROOT) -> list[str]:
    """Write what is not current; its names."""
    written = []
    for name, made in PAGES.items():
        text, path = made(), root / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            written.append(name)
    return written


if __name__ == "__main__":
    for name in write_all():
        print(name)  # noqa: T201
