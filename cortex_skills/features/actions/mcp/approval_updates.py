"""Requests for approval over MCP: resources, `cortex://approvals/ID`, notifications when they end, and questions.

Rules kept here:
- an agent reads and subscribes to its own requests; another agent's is answered like one that does not exist;
- a subscriber is notified once, when the request is rejected, has expired, or its action has ended, by whichever
  process: over the handshake protocols, or on the streams of `subscriptions/listen` (2026-07-28).
"""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import InMemorySubscriptionBus, ResourceUpdated

from cortex_graph import GraphError
from cortex_skills.cancellation import CancelToken
from cortex_skills.doors.mcp.caller import SessionCaller
from cortex_skills.doors.mcp.extension import Work
from cortex_skills.doors.mcp.resources import ResourceNotFoundError
from cortex_skills.errors import CortexError, as_ours
from cortex_skills.features.actions.action_settings import ApprovalSettings
from cortex_skills.features.actions.agent_actions import AgentActions
from cortex_skills.features.actions.approvals.record import ApprovalRecord
from cortex_skills.features.actions.approvals.request_text import OwnRequest, answer_of
from cortex_skills.features.actions.mcp import elicitation
from cortex_skills.gate.result import Result, failed
from cortex_skills.operations.caller import Caller
from cortex_skills.operations.run import run

if TYPE_CHECKING:
    from mcp.server.connection import Connection

    from cortex_skills.plugin import Plugin

PREFIX = "cortex://approvals/"
_MOST = 100  # subscriptions of a connection
_SEND_S = 5.0


class ApprovalUpdates:
    """The requests of a plugin as resources.

    Args:
        plugin: the plugin.
        bus: reaches the streams of `subscriptions/listen`.
    """

    prefix = PREFIX

    def __init__(self, plugin: Plugin, bus: InMemorySubscriptionBus) -> None:
        self._plugin = plugin
        self._bus = bus
        self._subscribers: dict[Connection, set[str]] = {}

    def read(self, uri: str, agent: str) -> types.TextResourceContents:
        """A request, as the agent that made it sees it.

        Raises:
            ResourceNotFoundError: it has none with that id.
        """
        text = json.dumps(self._own(uri, agent).document())
        return types.TextResourceContents(uri=uri, mime_type="application/json", text=text)

    def watch_own(self, uri: str, agent: str) -> None:
        """Notice the end of a request of an agent, also of one that another process has kept; reads from the store.

        Raises:
            ResourceNotFoundError: the agent has none with that id.
        """
        self._plugin.part(AgentActions).approvals.watch(self._own(uri, agent).record.id)

    def subscribe(self, ctx: ServerRequestContext[Any, Any], uri: str) -> None:
        """Notify a connection when a request ends that `watch_own` has checked.

        Raises:
            ResourceNotFoundError: it subscribes to too many.
        """
        connection = ctx.session._connection  # the SDK has no public name for it
        if connection not in self._subscribers:
            self._subscribers[connection] = set()
            connection.exit_stack.callback(self._subscribers.pop, connection, None)
        if len(self._subscribers[connection]) >= _MOST:
            raise ResourceNotFoundError("too many subscriptions")
        self._subscribers[connection].add(uri)

    def unsubscribe(self, ctx: ServerRequestContext[Any, Any], uri: str) -> None:
        """Notify a connection no more."""
        self._subscribers.get(ctx.session._connection, set()).discard(uri)

    async def watch(self) -> None:
        """Notify until cancelled."""
        loop, sending = asyncio.get_running_loop(), set[asyncio.Task[None]]()

        def send(record: ApprovalRecord) -> None:
            task = loop.create_task(self._notify(f"{PREFIX}{record.id}"))
            sending.add(task)
            task.add_done_callback(sending.discard)

        def ended(record: ApprovalRecord) -> None:
            try:
                loop.call_soon_threadsafe(send, record)
            except RuntimeError:  # the loop is closed
                return

        take_back = self._plugin.on("approval_resolved", ended)
        try:
            await asyncio.Event().wait()
        finally:
            take_back()

    async def answered(
        self, ctx: ServerRequestContext[Any, Any], result: Result, caller: SessionCaller, work: Work
    ) -> Result:
        """The result after the user of the client, who is the owner, was asked about the request that waits."""
        approvals, approval_id = self._plugin.part(AgentActions).approvals, result.details.get("approval")
        waits = result.details.get("status") == "pending_approval" and caller.is_owners
        if not waits or self._plugin.config.section(ApprovalSettings).ask != "client" or not elicitation.can_ask(ctx):
            return result
        try:
            record = await work(lambda _: approvals.show(str(approval_id)), "asking")
        except (CortexError, GraphError):  # changed or removed meanwhile
            return result
        decision = await elicitation.ask(ctx, record)
        if decision is None:
            return result
        word, reason = decision
        from cortex_skills.doors.cli.options import user_name
        from cortex_skills.features.actions.action_operations import approve_request, reject_request

        def decide(_: CancelToken) -> Result:
            operation = approve_request if word == "approve" else reject_request
            with suppress(CortexError):  # another person was faster
                self._plugin.operate(operation, door="mcp", by=user_name(), approval=record.id, reason=reason)
            now = approvals.show(record.id)
            outcome = answer_of(now, approvals.state_of(now))
            return Result(outcome.text, outcome.details)

        try:
            decided: Result = await work(decide, "approving")
        except (CortexError, GraphError) as error:
            return failed(as_ours("approving", error))
        return decided

    async def _notify(self, uri: str) -> None:
        await self._bus.publish(ResourceUpdated(uri=uri))
        for connection, uris in tuple(self._subscribers.items()):
            if uri in uris:
                uris.discard(uri)
                try:
                    async with asyncio.timeout(_SEND_S):
                        await connection.notify("notifications/resources/updated", {"uri": uri})
                except TimeoutError:  # a client that does not read
                    continue

    def _own(self, uri: str, agent: str) -> OwnRequest:
        from cortex_skills.features.actions.action_operations import own_request

        graph = self._plugin.graph
        caller = Caller(agent, "agent", "mcp", namespace=graph.namespace)
        try:
            return run(own_request, caller, {"approval": uri.removeprefix(PREFIX)}, self._plugin.host_of(graph))
        except CortexError:
            raise ResourceNotFoundError("there is no such request for approval") from None
