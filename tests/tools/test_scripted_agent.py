"""An agent that has never seen a graph answers questions with the tools alone: overview, find, describe, SPARQL.

Rules kept here:
- the script knows words of the questions, and nothing of the graph: names of classes, predicates and things are taken
  from the texts that the tools return;
- what it reads stays within a budget.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest

from cortex_skills import Plugin
from cortex_skills.skill_folder.builtin import NOTEBOOK, builtin_skill
from cortex_skills.tools.token_estimate import tokens_of
from tests.configs import config
from tests.tools.shop_graph import fill

OF_QUESTION = 1_500  # tokens of tool output


class Agent:
    """Asks the tools, and reads their texts."""

    def __init__(self, plugin: Plugin) -> None:
        self._plugin = plugin
        self.tokens = 0
        self.overview = self.ask("graph_overview").splitlines()

    def ask(self, tool: str, **arguments: str | int) -> str:
        result = self._plugin.call(tool, arguments)
        assert not result.is_error, result.text
        self.tokens += tokens_of(result.text)
        return result.text

    def class_like(self, word: str) -> str:
        return next(line.split()[0] for line in self.overview if not line.startswith(" ") and word in line.split()[0])

    def predicate(self, of_class: str, word: str) -> str:
        """The predicate of a class with a word in its name or its label."""
        begin = next(place for place, line in enumerate(self.overview) if line.split()[0] == of_class)
        for line in self.overview[begin + 1 :]:
            if not line.startswith(" "):
                break
            if word in line:
                return line.split()[0]
        raise AssertionError(f"{of_class} has no predicate like {word}")

    def thing(self, words: str) -> str:
        return self.ask("graph_find", text=words, limit=3).splitlines()[1].split()[0]

    def rows(self, query: str) -> list[str]:
        return self.ask("graph_sparql", query=query).splitlines()[2:]


def products(agent: Agent) -> str:
    return agent.class_like("Product")


def price(agent: Agent) -> str:
    return agent.predicate(products(agent), "price")


def supplier(agent: Agent) -> str:
    return agent.predicate(products(agent), "Supplier")


def how_many_products(agent: Agent) -> list[str]:
    return agent.rows(f"SELECT (COUNT(*) AS ?n) {{ ?p a {products(agent)} }}")


def price_of_the_hammer(agent: Agent) -> list[str]:
    return agent.rows(f"SELECT ?p {{ {agent.thing('hammer')} {price(agent)} ?p }}")


def the_dearest_product(agent: Agent) -> list[str]:
    where = f"?p {price(agent)} ?price ; rdfs:label ?name"
    return agent.rows(f"SELECT ?name {{ {where} }} ORDER BY DESC(?price) LIMIT 1")


def suppliers_of_nails(agent: Agent) -> list[str]:
    where = f"{agent.thing('nail')} {supplier(agent)} ?s . ?s rdfs:label ?name"
    return agent.rows(f"SELECT ?name {{ {where} }} ORDER BY ?name")


def what_comes_from_sweden(agent: Agent) -> list[str]:
    country = agent.predicate(agent.class_like("Supplier"), "country")
    where = f"?p {supplier(agent)} ?s ; rdfs:label ?name . ?s {country} {agent.thing('sverige')}"
    return agent.rows(f"SELECT ?name {{ {where} FILTER(LANG(?name) = 'en') }} ORDER BY ?name")


def what_runs_low(agent: Agent) -> list[str]:
    stock = agent.predicate(products(agent), "stock")
    return agent.rows(f"SELECT ?name {{ ?p {stock} ?n ; rdfs:label ?name FILTER(?n < 5) }} ORDER BY ?name")


def phone_of_muller(agent: Agent) -> list[str]:
    phone = agent.predicate(agent.class_like("Supplier"), "phone number")
    return agent.rows(f"SELECT ?t {{ {agent.thing('Muller Sohne')} {phone} ?t }}")


def mail_of_zoe(agent: Agent) -> list[str]:
    text = agent.ask("graph_describe", name=agent.thing("zoe"))
    return re.findall(r'"\S+@\S+"', text)


def who_buys_screws(agent: Agent) -> list[str]:
    text = agent.ask("graph_describe", name=agent.thing("screw m4"))
    return re.findall(r'v:buys \S+ ("[^"]+")', text)


def suppliers_without_a_country(agent: Agent) -> list[str]:
    of_class = agent.class_like("Supplier")
    country = agent.predicate(of_class, "country")
    where = f"?s a {of_class} ; rdfs:label ?name FILTER NOT EXISTS {{ ?s {country} ?c }}"
    return agent.rows(f"SELECT ?name {{ {where} }}")


def value_of_the_stock(agent: Agent) -> list[str]:
    stock = agent.predicate(products(agent), "stock")
    return agent.rows(f"SELECT (SUM(?n * ?p) AS ?value) {{ ?x {stock} ?n ; {price(agent)} ?p }}")


def what_was_added_in_december(agent: Agent) -> list[str]:
    added = agent.predicate(products(agent), "date")
    return agent.rows(f"SELECT ?name {{ ?p {added} ?d ; rdfs:label ?name FILTER(MONTH(?d) = 12) }}")


def who_said_that_nails_run_low(agent: Agent) -> list[str]:
    return re.findall(r"agent (\w+)", agent.ask("graph_describe", name=agent.thing("runs low")))


QUESTIONS: dict[Callable[[Agent], list[str]], list[str]] = {
    how_many_products: ["4"],
    price_of_the_hammer: ["19.9"],
    the_dearest_product: ['"Hammer"@en'],
    suppliers_of_nails: ['"Müller \\u0026 Söhne"', '"Nordisk Skruv"'],
    what_comes_from_sweden: ['"Nail 20 mm"@en', '"Washer"@en'],
    what_runs_low: ['"Nail 20 mm"@en', '"Washer"@en'],
    phone_of_muller: ['"+49-30-1"'],
    mail_of_zoe: ['"zoe@shop.example"'],
    who_buys_screws: ['"Ada Berg"'],
    suppliers_without_a_country: ['"Acme"'],
    value_of_the_stock: ["314.1"],
    what_was_added_in_december: ['"Washer"@en'],
    who_said_that_nails_run_low: ["a2"],
}


@pytest.fixture(scope="module")
def plugin() -> Iterator[Plugin]:
    with Plugin.open(config(skillSandbox={"maxCallsPerMinute": 1000})) as plugin:
        plugin.load(builtin_skill(NOTEBOOK))
        fill(plugin.graph)
        yield plugin


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda each: each.__name__)
def test_a_question_is_answered_with_the_tools_alone(plugin: Plugin, question: Callable[[Agent], list[str]]) -> None:
    agent = Agent(plugin)
    assert question(agent) == QUESTIONS[question]
    assert agent.tokens <= OF_QUESTION
