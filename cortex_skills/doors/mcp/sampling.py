"""The model of a connected client (MCP, `sampling/createMessage`), as a tool asks it from its thread.

Rules kept here:
- only a client that declares the capability is asked, within the deadline of the tool;
- a client that refuses, fails, answers with something else than text, or that cannot be reached on its transport is
  `learning_failed`.
"""

from __future__ import annotations

import asyncio
import warnings
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext

from cortex_skills.tools.wording import MAX_TOKENS, Wording, not_worded

_Context = ServerRequestContext[Any, Any]


def sampler_of(ctx: _Context, loop: asyncio.AbstractEventLoop, timeout_s: float) -> Wording | None:
    """Asks the model of the client of a request; None when the client has none.

    Args:
        ctx: of the request.
        loop: the event loop of its session; the model is asked from other threads.
        timeout_s: how long an answer may take, in seconds.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # sampling is deprecated as of 2026-07-28, and what clients have
        able = types.ClientCapabilities(sampling=types.SamplingCapability())
        if not ctx.session.check_client_capability(able):
            return None

    def ask(instructions: str, text: str) -> str:
        asking = asyncio.run_coroutine_threadsafe(_asked(ctx, instructions, text), loop)
        try:
            return asking.result(timeout_s)
        except FutureTimeoutError:
            asking.cancel()
            raise not_worded(f"the client has not answered in {timeout_s:g} s") from None

    return ask


async def _asked(ctx: _Context, instructions: str, text: str) -> str:
    message = types.SamplingMessage(role="user", content=types.TextContent(text=text))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answer = await ctx.session.create_message(
                [message], max_tokens=MAX_TOKENS, system_prompt=instructions, related_request_id=ctx.request_id
            )
    except Exception as error:  # any answer of a client, and a transport without a way back
        raise not_worded(f"the client answers {type(error).__name__}") from None
    if not isinstance(answer.content, types.TextContent):
        raise not_worded("the client answers with something else than text")
    return answer.content.text
