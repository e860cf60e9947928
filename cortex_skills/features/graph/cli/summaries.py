"""`graph stats`, `graph recent` and `graph describe`: what a namespace has, what is new, and what is stated of a name.

Rules kept here:
- each is one call of a bounded function of `cortex_graph`; a number that is not exact is shown as a lower bound;
- with `--json` the answer is that of the REST API (`/api/v1/counts`, `/assertions`, `/neighbourhood`);
- nothing here verifies a proof: `proofs` names the kinds that an assertion has, and `proof verify` checks them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cortex_skills.doors.cli.commands import Command
from cortex_skills.doors.cli.options import Common, reads_as_of
from cortex_skills.doors.cli.output import Output, counted
from cortex_skills.errors import CortexError
from cortex_skills.features.graph.cli.term_text import shown_term, with_prefixes

if TYPE_CHECKING:
    from cortex_graph import Names, NamespacedGraph
    from cortex_graph.assertions import Assertion, AssertionPage
    from cortex_graph.counting import NamespaceCounts
    from cortex_graph.neighbourhood import Direction, Neighbourhood

_WAIT_S = 600.0
_ID_SHOWN = 12  # digits, of which six are enough as an argument
_GROUPS = 100


@click.command("stats", cls=Command)
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="Predicates and asserters.")
@reads_as_of
@click.pass_obj
def stats(common: Common, limit: int) -> None:
    """Count what the namespace has: triples, resources, predicates, assertions by agent and skill, proofs."""
    with common.plugin(reads=True) as plugin, common.out.working("counting"):
        graph = plugin.graph
        counts = graph.counts.latest(wait_s=_WAIT_S)
    if common.out.as_json:
        from cortex_skills.features.graph.rest.overview import counts_document

        common.out.answer(counts_document(counts, graph.names, limit), lambda: None)
        return
    _show_counts(common.out, counts, with_prefixes(graph.names), limit)


def _show_counts(out: Output, counts: NamespaceCounts, names: Names, limit: int) -> None:
    least = "" if counts.is_exact else "at least "
    out.line(f"namespace   {names.namespace}, {least}{counted(counts.triples, 'triple')}")
    out.line(f"resources   {least}{counts.resources}")
    withdrawn = f", and {counts.withdrawn} withdrawn" if counts.withdrawn else ""
    out.line(f"assertions  {least}{counts.assertions}{withdrawn}; {counts.undated} triples without a record")
    out.line(f"proofs      {counts.proofs}")
    out.line(f"predicates  {least}{counts.predicate_total}")
    predicates = sorted(counts.predicates, key=lambda each: (-each.triples, each.predicate.value))
    asserters = sorted(counts.asserters, key=lambda each: (-each.assertions, each.node.value))
    if predicates:
        rows = [(names.name(each.predicate.value), str(each.triples)) for each in predicates[:limit]]
        out.table(("predicate", "triples"), rows)
    if asserters:
        of = asserters[:limit]
        rows3 = [(names.name(each.node.value), str(each.assertions), str(each.withdrawn)) for each in of]
        out.table(("asserted by", "assertions", "withdrawn"), rows3)


@click.command("recent", cls=Command)
@click.option("--subject", metavar="NAME", help="Only of this subject.")
@click.option("--predicate", metavar="NAME", help="Only with this predicate.")
@click.option("--by", "agent", metavar="AGENT", help="Only of this agent.")
@click.option("--skill", metavar="NAME", help="Only through this skill; NAME@VERSION for one version.")
@click.option("--since", metavar="TIME", help="Only from then on: 2026-01-31T12:00:00Z, or a date.")
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
        names, rows = with_prefixes(graph.names), []
        if not common.out.as_json:
            rows = [_assertion_row(assertion, graph, names) for assertion in page.assertions]
    if common.out.as_json:
        from cortex_skills.features.graph.rest.overview import assertion_document

        listed = [assertion_document(assertion, graph.names) for assertion in page.assertions]
        common.out.answer({"assertions": listed, "nextCursor": page.cursor}, lambda: None)
        return
    _show_assertions(common.out, page, rows)


def _assertion_row(assertion: Assertion, graph: NamespacedGraph, names: Names) -> tuple[str, ...]:
    proofs = [graph.proofs.get(proof_id) for proof_id in assertion.proofs]
    kinds = ", ".join(sorted({proof.kind for proof in proofs if proof is not None}))
    state = kinds or "none"
    if assertion.withdrawn is not None:
        state = f"withdrawn; {state}"
    elif not assertion.is_present:
        state = f"not in the graph; {state}"
    skill = " ".join(filter(None, (assertion.skill, assertion.skill_version)))
    triple = (shown_term(term, names) for term in assertion.triple)
    return (assertion.time or "", assertion.agent or "", skill, *triple, state, assertion.triple_id[:_ID_SHOWN])


def _show_assertions(out: Output, page: AssertionPage, rows: list[tuple[str, ...]]) -> None:
    out.table(("time", "agent", "skill", "subject", "predicate", "object", "proofs", "id"), rows)
    if page.cursor is not None:
        out.note(f"older ones follow: --cursor {page.cursor}")
    elif not rows:
        out.note("no assertions")


@click.command("describe", cls=Command)
@click.argument("name", metavar="NAME")
@click.option("--limit", type=click.IntRange(1, 100), default=7, show_default=True, help="Triples of each predicate.")
@reads_as_of
@click.pass_obj
def describe(common: Common, name: str, limit: int) -> None:
    """Show what is stated of NAME, grouped by predicate, and where it is used."""
    from cortex_graph.neighbourhood import COUNTED, neighbourhood
    from cortex_graph.store import Pattern

    with common.plugin(reads=True) as plugin:
        graph = plugin.graph
        found = neighbourhood(graph, name, predicates=_GROUPS, values=limit)
        as_predicate = Pattern(graph.names.graph, None, found.node)
        uses = graph.store.count(as_predicate, COUNTED + 1)
        rows = graph.list_triples({"predicate": name, "limit": limit})["triples"] if uses else []
        triples = graph.store.match(as_predicate, limit).triples if uses else ()
    if not found.is_known and not uses:
        raise CortexError(
            "invalid_arguments",
            f"{graph.namespace} has no triple with {graph.names.name(found.node.value)}",
            hint="check the spelling and the case, or name another --namespace",
        )
    if common.out.as_json:
        from cortex_skills.features.graph.rest.overview import neighbourhood_document

        count = {"count": min(uses, COUNTED), "exact": uses <= COUNTED, "rows": rows}
        document = neighbourhood_document(found, graph.names) | {"asPredicate": count}
        common.out.answer(document, lambda: None)
        return
    names = with_prefixes(graph.names)
    _show_neighbourhood(common.out, found, names)
    if uses:
        common.out.line("as a predicate")
        shown = [(shown_term(subject, names), shown_term(object_, names)) for subject, _, object_ in triples]
        shown += _more(min(uses, COUNTED) - len(shown), is_exact=uses <= COUNTED)
        common.out.table(("subject", "object"), shown)


def _show_neighbourhood(out: Output, found: Neighbourhood, names: Names) -> None:
    out.line(shown_term(found.node, names))
    if found.outgoing.count:
        out.table(("predicate", "object"), _group_rows(found.outgoing, names))
    if found.incoming.count:
        out.line("used by")
        out.table(("predicate", "subject"), _group_rows(found.incoming, names))


def _group_rows(direction: Direction, names: Names) -> list[tuple[str, str]]:
    rows = []
    for group in direction.groups:
        predicate = shown_term(group.predicate, names)
        rows += [(predicate, shown_term(row.term, names)) for row in group.rows]
        more = _more(group.count - len(group.rows), is_exact=group.is_exact)
        rows += [(predicate, text) for text, _ in more]
    hidden = direction.predicates - len(direction.groups)
    if hidden or not direction.is_complete:
        rows.append((f"({hidden} or more other predicates)" if not direction.is_complete else f"({hidden} others)", ""))
    return rows


def _more(count: int, *, is_exact: bool) -> list[tuple[str, str]]:
    """A row for the triples that are not shown."""
    return [(f"({count}{'' if is_exact else ' or more'} others)", "")] if count else []
