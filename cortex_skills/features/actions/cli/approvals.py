"""`approvals list|show|wait|watch|approve|edit|reject`: decide about what agents want to do.

Rules kept here:
- the user of the command line is the owner of the store: no permission is asked for, and the name of the user is
  recorded with the decision;
- an approved action runs in this process, with the skills of `--skills` and the actions of the configuration; without
  them the request still waits. What was asked for on another host, or in another workspace, runs there;
- inputs and previews are shown whole, and escaped like every other text from outside.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cortex_skills.doors.cli.commands import Command, Group
from cortex_skills.doors.cli.options import Choice, Common, user_name
from cortex_skills.doors.cli.path_types import GivenPath
from cortex_skills.doors.cli.standard_input import given_text
from cortex_skills.errors import CortexError
from cortex_skills.safe_io.display import one_line

if TYPE_CHECKING:
    from cortex_skills.features.actions.approvals.approval_types import Approval
    from cortex_skills.plugin import Plugin

STATES = ("pending", "approved", "rejected", "expired", "running", "done", "failed", "interrupted")
_COLUMNS = ("id", "state", "action", "risk", "agent", "created", "expires")
_EVERY_S = 1.0
_RISKS = {"high": "bold red", "medium": "yellow", "low": ""}
_ID = click.argument("approval_id", metavar="ID")
_REASON = click.option("--reason", metavar="TEXT", default="", help="Why; the agent reads it.")
_BY = click.option("--by", metavar="NAME", default="", help="Who decides; your user name by default.")


@click.command("list", cls=Command)
@click.option("--state", type=Choice(STATES), help="Only requests in this state [pending].")
@click.option("--all", "everything", is_flag=True, help="Requests in all states.")
@click.option("--limit", type=click.IntRange(1, 1000), default=100, show_default=True, help="How many at most.")
@click.pass_obj
def list_(common: Common, state: str | None, everything: bool, limit: int) -> None:
    """List the requests that wait, the newest first."""
    wanted: Any = None if everything else state or "pending"
    from cortex_skills.features.actions.action_operations import list_requests

    with common.plugin(reads=True) as plugin:
        found = plugin.operate(list_requests, door="command", state=wanted, limit=limit)
    views = found["approvals"]

    def show() -> None:
        if views:
            common.out.table(_COLUMNS, _rows(views))
        else:
            common.out.line("no request waits" if wanted == "pending" else "there is no such request")

    common.out.answer({"approvals": views, "changed": found["changed"]}, show)
    if not common.out.as_json:
        for approval_id in found["changed"]:
            common.out.note(f"the request {approval_id} was changed in the store, and is never approved")


@click.command(cls=Command)
@_ID
@click.pass_obj
def show(common: Common, approval_id: str) -> None:
    """Show a request with its exact inputs, what it would change, and what came of it."""
    from cortex_skills.features.actions.action_operations import show_request

    with common.plugin(reads=True) as plugin:
        view = plugin.operate(show_request, door="command", approval=approval_id)
    common.out.answer(view, lambda: _show(common, view))


@click.command(cls=Command)
@_ID
@_REASON
@_BY
@click.pass_context
def approve(ctx: click.Context, approval_id: str, reason: str, by: str) -> None:
    """Approve a request, and run its action.

    --skills names the skill that the agent acts with, and --config the settings of the action: it runs in this process,
    and everything is checked again. What was asked for on another host, or in another workspace, runs there.
    """
    from cortex_skills.features.actions.action_operations import approve_request

    common: Common = ctx.obj
    with common.plugin() as plugin:
        if common.names_skills:
            common.load_all(plugin)
        operate = partial(plugin.operate, approve_request, door="command", by=by or user_name())
        view = _decided(lambda: operate(approval=approval_id, reason=reason))

    def done() -> None:
        if view["state"] == "approved":
            common.out.line(f"{view['action']} was approved, and runs on {view['host']} when that host next looks")
            return
        common.out.line(f"{view['action']} was approved, and {'ran' if view['state'] == 'done' else 'failed'}")
        common.out.text(view["result"]["text"] if view["result"] else "")

    common.out.answer(view, done)
    if view["state"] not in ("done", "approved"):
        ctx.exit(1)


@click.command(cls=Command)
@_ID
@_REASON
@_BY
@click.pass_obj
def reject(common: Common, approval_id: str, reason: str, by: str) -> None:
    """Reject a request: its action never runs."""
    from cortex_skills.features.actions.action_operations import reject_request

    with common.plugin() as plugin:
        operate = partial(plugin.operate, reject_request, door="command", by=by or user_name())
        view = operate(approval=approval_id, reason=reason)
    common.out.answer(view, lambda: common.out.line(f"{view['action']} was rejected"))


@click.command(cls=Command)
@_ID
@click.option(
    "--inputs",
    required=True,
    type=GivenPath(exists=True, dir_okay=False, allow_dash=True, path_type=Path),
    help="A JSON object; - for standard input.",
)
@_BY
@click.pass_obj
def edit(common: Common, approval_id: str, inputs: Path, by: str) -> None:
    """Reject a request, and keep one with other inputs in its place, which waits for its own decision."""
    from cortex_skills.features.actions.action_operations import edit_request
    from cortex_skills.safe_io.strict_json import read_json

    try:
        given = read_json(given_text(inputs))
    except ValueError as error:
        raise CortexError("invalid_arguments", f"the inputs are not JSON: {error}", hint="give one object") from None
    with common.plugin() as plugin:
        if common.names_skills:
            common.load_all(plugin)
        operate = partial(plugin.operate, edit_request, door="command", by=by or user_name())
        view = operate(approval=approval_id, inputs=given)
    common.out.answer(view, lambda: _show(common, view))


@click.command(cls=Command)
@_ID
@click.option("--seconds", type=click.FloatRange(0, 3_600), default=60.0, show_default=True, help="How long at most.")
@click.pass_obj
def wait(common: Common, approval_id: str, seconds: float) -> None:
    """Wait until a request was rejected, has expired, or its action has ended."""
    from cortex_skills.features.actions.action_operations import wait_for_request

    with common.plugin(reads=True) as plugin:
        view = plugin.operate(wait_for_request, door="command", approval=approval_id, seconds=seconds)
    common.out.answer(view, lambda: common.out.line(f"{view['action']}: {view['state']}"))


@click.command(cls=Command)
@click.pass_obj
def watch(common: Common) -> None:
    """Show the requests that wait, until you press Ctrl-C: a live table; in a pipe a line for each change."""
    with common.plugin(reads=True) as plugin:
        if common.out.is_terminal and not common.out.as_json:
            _live(plugin)
        _lines(common, plugin)


def _live(plugin: Plugin) -> None:
    from rich.live import Live
    from rich.table import Table
    from rich.text import Text

    from cortex_skills.features.actions.agent_actions import AgentActions

    approvals = plugin.part(AgentActions).approvals

    def table() -> Table:
        shown = Table(box=None, pad_edge=False, header_style="bold", caption="waiting for approval; Ctrl-C ends")
        for column in _COLUMNS:
            shown.add_column(column, overflow="fold")
        views = [approvals.view(record) for record in approvals.list("pending").records]
        for view, row in zip(views, _rows(views), strict=True):
            shown.add_row(*(Text(one_line(cell), style=_RISKS.get(view["risk"], "")) for cell in row))
        return shown

    with Live(table(), auto_refresh=False) as live:
        while True:
            time.sleep(_EVERY_S)
            live.update(table(), refresh=True)


def _lines(common: Common, plugin: Plugin) -> None:
    from cortex_skills.features.actions.agent_actions import AgentActions

    approvals = plugin.part(AgentActions).approvals
    seen: dict[str, str] = {}
    while True:
        for view in reversed([approvals.view(each) for each in approvals.list().records]):
            before = seen.get(view["id"])
            is_new = before is None and view["state"] == "pending"
            seen[view["id"]] = view["state"]
            if is_new or before not in (None, view["state"]):
                _changed(common, view)
        time.sleep(_EVERY_S)


def _changed(common: Common, view: Mapping[str, Any]) -> None:
    if common.out.as_json:
        common.out.document(view)
    else:
        common.out.line("\t".join([view["id"], view["state"], view["action"], view["risk"], view["agent"]]))


def _decided(decide: Callable[[], Approval]) -> Approval:
    """A decision; an error that another skill or configuration avoids has a hint that says so.

    Raises:
        CortexError: the request was not decided.
    """
    try:
        return decide()
    except CortexError as error:
        if error.code not in ("skill_not_found", "skill_ambiguous", "tool_not_found"):
            raise
        hint = "name the skill with --skills FOLDER, and the settings of the action with --config FILE; it still waits"
        raise CortexError(error.code, f"the request cannot run here: {error.message}", hint=hint) from None


def _rows(views: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    return [[str(view[column]) for column in _COLUMNS] for view in views]


def _show(common: Common, view: Mapping[str, Any]) -> None:
    result = view["result"]
    for name in ("id", "state", "action", "risk", "reason", "agent", "skill", "namespace", "created", "expires"):
        common.out.line(f"{name}: {view[name]}")
    for name in ("askedBy", "host", "workspace", "resolvedBy", "resolvedAt", "resolvedReason", "started", "ended"):
        if view[name]:
            common.out.line(f"{name}: {view[name]}")
    common.out.line(f"digest: {view['digest']}")
    common.out.line("inputs:")
    _indented(common, json.dumps(view["inputs"], indent=2, ensure_ascii=False))
    if view["preview"]:
        common.out.line("it would change:")
        _indented(common, view["preview"])
    if result:
        common.out.line(f"result: {result['code'] or 'ok'}")
        _indented(common, result["text"])


def _indented(common: Common, text: str) -> None:
    for line in text.split("\n"):
        common.out.line(f"  {line}")


approvals = Group(
    "approvals",
    help="Approve and reject what agents want to do.",
    sections={"See": [list_, show, wait, watch], "Decide": [approve, edit, reject]},
)
