"""`call` and `query`: call a tool as an agent does.

Rules kept here:
- every call passes `Plugin.call`; the text for a model, or with `--json` the whole result, is printed unchanged;
- a refused call is printed as a result with `--json`, and as an error with its code on standard error;
- a tool that only reads creates no store; an action does, since what waits for a person is kept there;
- a value that is valid JSON is parsed as JSON, any other value is text.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from cortex_skills.doors.cli.commands import Command
from cortex_skills.doors.cli.options import SKILL, Choice, Common, reads_as_of
from cortex_skills.doors.cli.standard_input import given_text
from cortex_skills.errors import CortexError
from cortex_skills.safe_io.strict_json import read_json

_SHOWN_REASONS = 3
_READING = frozenset({"graph:read", "memory:recall", "proofs:verify"})


def _tools_like(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """Completion candidates for the name of a tool."""
    from cortex_skills.tools import all_tools

    return [name for name in all_tools() if name.startswith(incomplete)]


@click.command(cls=Command)
@click.argument("tool", shell_complete=_tools_like)
@click.argument("arguments", metavar="[JSON|-]", required=False)
@click.option("--arg", "pairs", metavar="KEY=VALUE", multiple=True, help="One argument. Repeatable.")
@SKILL
@click.pass_obj
def call(common: Common, tool: str, arguments: str | None, pairs: tuple[str, ...], skill: str | None) -> None:
    """Call a tool on behalf of a skill.

    The arguments are a JSON object, or - to read it from standard input; --arg adds or replaces one. --skills names the
    skills to load, notebook if none is named; a tool of an installed artifact needs none.
    """
    _call(common, tool, _arguments(arguments, pairs), skill)


@click.command(cls=Command)
@click.option("--subject", metavar="NAME", help="Only triples about this name.")
@click.option("--predicate", metavar="NAME", help="Only triples with this predicate.")
@click.option("--object", "object_", metavar="VALUE", help='Only triples with this value, or node: {"node": "b"}.')
@click.option(
    "--scope",
    type=Choice(["agent", "namespace", "global"]),
    help="agent: triples about the agent [without --subject]; namespace, global: all of the namespace [with it].",
)
@click.option("--limit", type=int, metavar="N", help="Maximum number of triples [20].")
@click.option("--cursor", metavar="CURSOR", help="The cursor of the next page, from the answer before.")
@SKILL
@reads_as_of
@click.pass_obj
def query(common: Common, /, object_: str | None, skill: str | None, **given: Any) -> None:
    """Query the graph, and print the triples and the enrichment of the skill.

    The same as `call skill_graph_query`. --skills names the skills to load; notebook if none is named.
    """
    if object_ is not None:
        given["object"] = read_value(object_)
    arguments = {key: value for key, value in given.items() if value is not None}
    details = _call(common, "skill_graph_query", arguments, skill)
    enrichment = details["enrichment"]
    if (note := removed_note(enrichment)) and not common.out.as_json:
        common.out.note(note)
    if enrichment["status"] == "failed" and not common.out.as_json:
        failure = CortexError(
            enrichment["code"], f"the skill's onQuery failed: {enrichment['message']}", details=enrichment
        )
        common.out.error(failure)
    if details["nextCursor"] and not common.out.as_json:
        common.out.note(f"more triples: --cursor {details['nextCursor']}")


def _call(common: Common, tool: str, arguments: Any, skill: str | None) -> dict[str, Any]:
    """Call a tool and print its answer. Returns the details of the answer.

    Raises:
        CortexError: the call was refused, or failed.
    """
    from cortex_skills.audit.call_records import DEFAULT_AGENT
    from cortex_skills.config.open_graph import open_graph
    from cortex_skills.plugin import Plugin
    from cortex_skills.skill_folder.builtin import NOTEBOOK, builtin_skill
    from cortex_skills.tools import tool_named
    from cortex_skills.tools.model_names import tool_id

    known = tool_named(tool)
    is_installed = known is None and "." in tool_id(tool)  # which acts as itself, without a loaded skill
    if known is None and not is_installed:
        settings = common.settings(store="memory:", audit={"journal": "off"})
        with Plugin(settings, open_graph(settings), DEFAULT_AGENT, registers=False) as unstored:
            known = tool_named(tool, unstored.tool_sources)
    reads = not is_installed and (known is None or (known.steps is None and _READING.issuperset(known.permissions)))
    if not is_installed and not common.names_skills:
        common.skills = [builtin_skill(NOTEBOOK)]
    opened = common.plugin() if is_installed and not common.names_skills else common.loaded(reads=reads)
    with opened as plugin:
        result = common.call(plugin, tool, arguments, skill)
    if result.is_error:
        common.out.answer(result.to_json(), lambda: None)
        error = result.details
        raise CortexError(error["code"], error["message"], hint=error["hint"], details=error["details"])
    common.out.answer(result.to_json(), lambda: common.out.text(result.text))
    return result.details


def removed_note(enrichment: Mapping[str, Any]) -> str:
    """A note for the author of a skill about what was removed from, or ignored in, an answer; empty without such.

    >>> removed_note({"strippedCount": 1, "reasons": [{"reason": "key_not_declared", "path": "/n", "count": 1}]})
    '1 value of the enrichment was removed: key_not_declared at /n (declare it: semantic.enrichment.fields in SKILL.md)'
    """
    count, reasons = enrichment.get("strippedCount", 0), enrichment.get("reasons", ())
    notes = []
    if ignored := enrichment.get("ignoredResults", 0):
        rows = "1 row of results names" if ignored == 1 else f"{ignored} rows of results name"
        notes.append(f"{rows} no triple that the skill received, so that all triples are shown")
    if count:
        places = [f"{each['reason']} at {each['path'] or '/'}" for each in reasons[:_SHOWN_REASONS]]
        more = ", …" if len(reasons) > _SHOWN_REASONS else ""
        undeclared = any(each["reason"].endswith("_not_declared") for each in reasons)
        hint = " (declare it: semantic.enrichment.fields in SKILL.md)" if undeclared else ""
        were = "value of the enrichment was" if count == 1 else "values of the enrichment were"
        notes.append(f"{count} {were} removed: {', '.join(places)}{more}{hint}")
    return "; ".join(notes)


def _arguments(text: str | None, pairs: tuple[str, ...]) -> Any:
    """The arguments of a call. The tool refuses arguments that are not an object.

    Raises:
        click.UsageError: they are not JSON, or a pair is not KEY=VALUE.
    """
    if text == "-":
        text = given_text(Path("-"))
    try:
        arguments = {} if text is None else read_json(text)
    except ValueError as error:
        way = """give one object in quotes, '{"key": "value"}', or --arg KEY=VALUE"""
        raise click.UsageError(f"the arguments are not JSON ({error}): {way}") from None
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not key or not equals or not isinstance(arguments, dict):
            raise click.UsageError(f"--arg {pair}: give KEY=VALUE, with arguments that are an object")
        arguments[key] = read_value(value)
    return arguments


def read_value(text: str) -> Any:
    """A value of the command line: parsed when it is JSON, else the text.

    >>> read_value("5"), read_value("five"), read_value('{"node": "b"}')
    (5, 'five', {'node': 'b'})
    """
    try:
        return read_json(text)
    except ValueError:
        return text
