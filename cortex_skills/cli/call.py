"""`call` and `query`: the tools, as an agent calls them.

Rules kept here:
- every call passes `Plugin.call`, and what it answers is printed as it is: a model's text, or the whole result as JSON;
- a call that was refused is an answer too (`--json` prints it), and an error with its code on standard error;
- a value is read as JSON where it is JSON, and as text where it is not.
"""

from __future__ import annotations

import json
import sys
from typing import Any, NoReturn

import click

from cortex_skills.cli.commands import Command
from cortex_skills.cli.options import SKILL, Choice, Common
from cortex_skills.errors import CortexError


def _tools_like(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """What a shell offers in the place of a tool's name."""
    from cortex_skills.tools import TOOLS

    return [name for name in TOOLS if name.startswith(incomplete)]


@click.command(cls=Command)
@click.argument("tool", shell_complete=_tools_like)
@click.argument("arguments", metavar="[JSON|-]", required=False)
@click.option("--arg", "pairs", metavar="KEY=VALUE", multiple=True, help="One argument; may be given again.")
@SKILL
@click.pass_obj
def call(common: Common, tool: str, arguments: str | None, pairs: tuple[str, ...], skill: str | None) -> None:
    """Call a tool on behalf of a skill.

    The arguments are a JSON object, or - for one from standard input; --arg adds to them or takes their place. The
    skills to load are named by --skills.
    """
    _call(common, tool, _arguments(arguments, pairs), skill)


@click.command(cls=Command)
@click.option("--subject", metavar="NAME", help="Only triples about this name.")
@click.option("--predicate", metavar="NAME", help="Only triples with this predicate.")
@click.option("--object", "object_", metavar="VALUE", help='Only triples with this value, or node: {"node": "b"}.')
@click.option(
    "--scope",
    type=Choice(["agent", "namespace", "global"]),
    help="agent [the default]: about the agent itself; namespace, global: about anything in the namespace.",
)
@click.option("--limit", type=int, metavar="N", help="At most so many triples [20].")
@click.option("--cursor", metavar="CURSOR", help="The next page, as the page before names it.")
@SKILL
@click.pass_obj
def query(common: Common, /, object_: str | None, skill: str | None, **given: Any) -> None:
    """Ask the graph, and print triples and what the skill adds.

    The same as `call skill_graph_query`. The skills to load are named by --skills.
    """
    if object_ is not None:
        given["object"] = read_value(object_)
    arguments = {key: value for key, value in given.items() if value is not None}
    details = _call(common, "skill_graph_query", arguments, skill)
    of_the_agent = given["scope"] in (None, "agent")
    if of_the_agent and (given["subject"] or not details["total"]) and not common.out.as_json:
        common.out.note("only what is said about the agent itself was asked for: --scope namespace asks for everything")
    said = details["enrichment"]
    if said["status"] == "failed" and not common.out.as_json:
        failure = CortexError(said["code"], f"the skill has nothing to say: {said['message']}", details=said)
        common.out.error(failure)
    if details["nextCursor"] and not common.out.as_json:
        common.out.note(f"there are more: --cursor {details['nextCursor']}")


def _call(common: Common, tool: str, arguments: Any, skill: str | None) -> dict[str, Any]:
    """Call a tool and print what it answers; the details of the answer.

    Raises:
        CortexError: the call was refused, or failed.

    """
    with common.loaded() as plugin:
        result = plugin.call(tool, arguments, skill=skill)
    if result.is_error:
        common.out.answer(result.to_json(), lambda: None)
        error = result.details
        raise CortexError(error["code"], error["message"], hint=error["hint"], details=error["details"])
    common.out.answer(result.to_json(), lambda: common.out.text(result.text))
    return result.details


def _arguments(text: str | None, pairs: tuple[str, ...]) -> Any:
    """The arguments of a call; anything but an object is the tool's to refuse.

    Raises:
        click.UsageError: they are no JSON, or a pair is none.

    """
    if text == "-":
        try:
            text = sys.stdin.buffer.read().decode("utf-8-sig")
        except UnicodeDecodeError:
            raise click.UsageError("the arguments on standard input are not UTF-8") from None
    try:
        arguments = {} if text is None else _json(text)
    except (ValueError, RecursionError) as error:
        way = """give one object in quotes, '{"key": "value"}', or --arg KEY=VALUE"""
        raise click.UsageError(f"the arguments are no JSON ({error}): {way}") from None
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not key or not equals or not isinstance(arguments, dict):
            raise click.UsageError(f"--arg {pair}: give KEY=VALUE, to be added to an object")
        arguments[key] = read_value(value)
    return arguments


def read_value(text: str) -> Any:
    """A value as it is given on a command line: JSON where it is JSON, else the text.

    >>> read_value("5"), read_value("five"), read_value('{"node": "b"}')
    (5, 'five', {'node': 'b'})
    """
    try:
        return _json(text)
    except (ValueError, RecursionError):
        return text


def _json(text: str) -> Any:
    """JSON as RFC 8259 has it: without NaN and Infinity.

    Raises:
        ValueError: it is none.

    """

    def refuse(constant: str) -> NoReturn:
        raise ValueError(f"{constant} is no JSON")

    return json.loads(text, parse_constant=refuse)
