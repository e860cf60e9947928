"""A command that is made from an operation.

    HISTORY = command_of(history, show=show_versions)

Rules kept here:
- the arguments of the operation are those of the command: one without a default is named by its place, the others by an
  option. The operation checks the values; one of any type is JSON, or text that is no JSON. One that is called like a
  common option, such as `agent`, is that option;
- the caller is the owner of the store, and the answer is the operation's: with `--json` as it is. For a person a
  statement in it is a line, with the prefixes of the graph.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import MISSING, Field, fields
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import click

from cortex_skills.doors.cli.command import Command
from cortex_skills.doors.cli.options import Common, common_options
from cortex_skills.doors.cli.output import STATEMENT, Output, shown_value
from cortex_skills.operations.operation import Operation, View
from cortex_skills.safe_io.lenient_values import json_or_text

if TYPE_CHECKING:
    from cortex_graph import NamespacedGraph
    from cortex_skills.plugin import Plugin


def command_of(
    operation: Operation[Any, Any],
    name: str = "",
    *,
    show: Callable[[Output, Any], None] | None = None,
    by_place: Collection[str] = (),
    without: Collection[str] = (),
) -> click.Command:
    """A command that runs an operation.

    Args:
        operation: which.
        name: of the command; by default the last part of the name of the operation.
        show: writes the answer, as JSON, for a person; by default its text, a table, or the members by name.
        by_place: arguments with a default that the command needs.
        without: arguments that it does not take.
    """
    types = get_type_hints(operation.given, include_extras=True)
    names = [each.name for each in fields(operation.given) if each.name not in without]
    common_names = {each.name for each in common_options()}.intersection(names)
    of_any_type = [each for each in names if _plain(types[each]) is Any]
    params = [
        _parameter(each, types[each.name], is_needed=each.name in by_place)
        for each in fields(operation.given)
        if each.name in names and each.name not in common_names
    ]

    def run(common: Common, **given: Any) -> None:
        given |= {each: getattr(common, each) for each in common_names}
        given |= {each: json_or_text(given[each]) for each in of_any_type if given[each] is not None}
        with common.plugin(reads=operation.effect == "reads") as plugin:
            answer = plugin.operate(
                operation, door="command", **{k: v for k, v in given.items() if v not in (None, ())}
            )
            document = operation.to_json(answer)
            text = answer.text(None) if isinstance(answer, View) and not common.out.as_json else None
            is_listed = text is None and show is None and not common.out.as_json
            listed = _with_written_statements(document, plugin) if is_listed else document
        shown = (show or _show) if text is None else (lambda out, _: out.text(text))
        common.out.answer(document, lambda: shown(common.out, listed))

    return Command(
        name or operation.name.rpartition(".")[2].replace("_", "-"),
        params=params,
        callback=click.pass_obj(run),
        help=inspect.cleandoc(operation.run.__doc__ or ""),
        operation=operation,
    )


def _parameter(member: Field[Any], type_: Any, *, is_needed: bool) -> click.Parameter:
    about = next((each.description for each in _marks(type_) if getattr(each, "description", None)), None)
    plain = _plain(type_)
    values: Any = click.Choice(get_args(plain)) if get_origin(plain) is Literal else str if plain is Any else plain
    is_list = get_origin(plain) in (tuple, list, Sequence)
    if is_list:
        values = get_args(plain)[0]
    if is_needed or (member.default is MISSING and member.default_factory is MISSING):
        return click.Argument([member.name], type=values, metavar=member.name.upper(), nargs=-1 if is_list else 1)
    option = f"--{member.name.rstrip('_').replace('_', '-')}"
    if plain is bool:
        return click.Option([option, member.name], is_flag=True, default=None, help=about)
    return click.Option([option, member.name], type=values, multiple=is_list, default=None, help=about)


def _plain(type_: Any) -> Any:
    """A type without its limits and without None."""
    if get_origin(type_) is Annotated:
        return _plain(get_args(type_)[0])
    if get_origin(type_) in (Union, UnionType):
        kinds = [part for part in get_args(type_) if part is not NoneType]
        return _plain(kinds[0]) if len(kinds) == 1 else str
    return type_


def _marks(type_: Any) -> tuple[Any, ...]:
    if get_origin(type_) is Annotated:
        return (*get_args(type_)[1:], *_marks(get_args(type_)[0]))
    return tuple(mark for part in get_args(type_) for mark in _marks(part))


def _show(out: Output, document: Any) -> None:
    """Write an answer: a list of objects as a table, an object by its members."""
    if isinstance(document, Mapping):
        for name, value in document.items():
            if isinstance(value, list) and value and isinstance(value[0], Mapping):
                _show(out, value)
            else:
                out.line(f"{name}: {shown_value(value)}")
    elif isinstance(document, list) and document and isinstance(document[0], Mapping):
        out.table(tuple(document[0]), [[shown_value(each.get(name)) for name in document[0]] for each in document])
    elif document is not None:
        out.text(shown_value(document))


def _with_written_statements(document: Any, plugin: Plugin) -> Any:
    """An answer whose statements have terms as in Turtle, with the prefixes of the graph."""
    if isinstance(document, list):
        return [_with_written_statements(each, plugin) for each in document]
    if not isinstance(document, Mapping):
        return document
    if all(part in document for part in STATEMENT):
        return {**document, **_written(document, plugin.graph)}
    return {name: _with_written_statements(value, plugin) for name, value in document.items()}


def _written(statement: Mapping[str, Any], graph: NamespacedGraph) -> dict[str, str]:
    terms, names = graph.prefixes.terms(), graph.names
    return {
        **{part: terms.node(names.node(statement[part], part).value) for part in STATEMENT[:2]},
        "object": terms.written(graph.object_of(statement["object"])),
    }
