"""`graph stats` and `graph recent`: what a namespace has, and what is new.

Rules kept here:
- each is one call of a bounded function of `cortex_graph`; a number that is not exact is shown as a lower bound;
- with `--json` the answer is that of the REST API (`/api/v1/counts`, `/assertions`);
- nothing here verifies a proof: `proofs` names the kinds that an assertion has, and `proof verify` checks them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cortex_skills.doors.cli.commands import Command
from cortex_skills.doors.cli.options import Common, reads_as_of
from cortex_skills.doors.cli.output import Output, counted

if TYPE_CHECKING:
    from cortex_graph import NamespacedGraph
    from cortex_graph.assertions import Assertion, AssertionPage
    from cortex_graph.index.counting import NamespaceCounts
    from cortex_graph.naming.turtle_terms import TurtleTerms

_WAIT_S = 600.0
_ID_SHOWN = 12  # digits, of which six are enough as an argument


@click.command("stats", cls=Command)
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="Predicates and asserters.")
@reads_as_of
@click.pass_obj
def stats(common: Common, limit: int) -> None:
    """Count what the namespace has: triples, resources, predicates, assertions by agent and skill, proofs."""
    with common.plugin(reads=True) as plugin, common.out.working("counting"):
        graph = plugin.graph
        counts, terms = graph.counts.latest(wait_s=_WAIT_S), graph.prefixes.terms()
    if common.out.as_json:
        from cortex_skills.features.graph.rest.overview import counts_document

        common.out.answer(counts_document(counts, graph.names, limit), lambda: None)
        return
    _show_counts(common.out, counts, graph, terms, limit)


def _show_counts(out: Output, counts: NamespaceCounts, graph: NamespacedGraph, terms: TurtleTerms, limit: int) -> None:
    least = "" if counts.is_exact else "at least "
    out.line(f"namespace   {graph.namespace}, {least}{counted(counts.triples, 'triple')}")
    out.line(f"resources   {least}{counts.resources}")
    withdrawn = f", and {counts.withdrawn} withdrawn" if counts.withdrawn else ""
    out.line(f"assertions  {least}{counts.assertions}{withdrawn}; {counts.undated} triples without a record")
    out.line(f"proofs      {counts.proofs}")
    out.line(f"predicates  {least}{counts.predicate_total}")
    predicates = sorted(counts.predicates, key=lambda each: (-each.triples, each.predicate.value))
    asserters = sorted(counts.asserters, key=lambda each: (-each.assertions, each.node.value))
    if predicates:
        rows = [(terms.node(each.predicate.value), str(each.triples)) for each in predicates[:limit]]
        out.table(("predicate", "triples"), rows)
    if asserters:
        of = asserters[:limit]
        rows3 = [(graph.names.name(each.node.value), str(each.assertions), str(each.withdrawn)) for each in of]
        out.table(("asserted by", "assertions", "withdrawn"), rows3)


@click.command("recent", cls=Command)
@click.option("--subject", metavar="NAME", help="Only of this subject.")
@click.option("--predicate", metavar="NAME", help="Only with this predicate.")
@click.option("--by", "agent", metavar="AGENT", help="Only of this agent.")
@click.option("--skill", metavar="NAME", help="Only through this skill; NAME@VERSION for one version.")
@click.option("--since", metavar="TIME", help="Only from then on: 2026-01-31T12:00:00Z, a date, yesterday, 24h.")
@click.option("--withdrawn", is_flag=True, help="Also those that were withdrawn.")
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="Assertions of a page.")
@click.option("--cursor", metavar="TEXT", help="The next page: the cursor that the page before ended with.")
@reads_as_of
@click.pass_obj
def recent(common: Common, /, limit: int, cursor: str | None, **given: Any) -> None:
    """List the latest assertions: when, by whom, through which skill, with which kinds of proofs.

    Triples without a record, such as imported ones, are not listed.
    """
    from cortex_graph.assertions import AssertionFilter, list_assertions

    with common.plugin(reads=True) as plugin:
        graph = plugin.graph
        page = list_assertions(graph, AssertionFilter(**given), limit=limit, cursor=cursor)
        terms, rows = graph.prefixes.terms(), []
        if not common.out.as_json:
            rows = [_assertion_row(assertion, graph, terms) for assertion in page.assertions]
    if common.out.as_json:
        from cortex_skills.features.graph.rest.overview import assertion_document

        listed = [assertion_document(assertion, graph.names) for assertion in page.assertions]
        common.out.answer({"assertions": listed, "nextCursor": page.cursor}, lambda: None)
        return
    _show_assertions(common.out, page, rows)


def _assertion_row(assertion: Assertion, graph: NamespacedGraph, terms: TurtleTerms) -> tuple[str, ...]:
    proofs = [graph.proofs.get(proof_id) for proof_id in assertion.proofs]
    kinds = ", ".join(sorted({proof.kind for proof in proofs if proof is not None}))
    state = kinds or "none"
    if assertion.withdrawn is not None:
        state = f"withdrawn; {state}"
    elif not assertion.is_present:
        state = f"not in the graph; {state}"
    skill = " ".join(filter(None, (assertion.skill, assertion.skill_version)))
    triple = map(terms.written, assertion.triple)
    return (assertion.time or "", assertion.agent or "", skill, *triple, state, assertion.triple_id[:_ID_SHOWN])


def _show_assertions(out: Output, page: AssertionPage, rows: list[tuple[str, ...]]) -> None:
    out.table(("time", "agent", "skill", "subject", "predicate", "object", "proofs", "id"), rows)
    if page.cursor is not None:
        out.note(f"older ones follow: --cursor {page.cursor}")
    elif not rows:
        out.note("no assertions")
