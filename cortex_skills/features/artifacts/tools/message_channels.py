"""Channels that components send messages to.

Rules kept here:
- a channel exists when the owner configured it (`artifacts.channels`): a folder, in which each message becomes a
  private file, or an https address, to which it is posted; an address on this machine may be http. One that an artifact
  delivers (`artifact:SKILL_ID`) is not handled here (`contract_calls`);
- a message is there whole or not at all; a folder with `MAX_WAITING` messages takes no more.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from uuid import uuid4

import httpx

from cortex_sandbox.wasm import HostRefusal
from cortex_skills.cancellation import CancelToken
from cortex_skills.features.artifacts.tools.http_requests import send
from cortex_skills.safe_io.private_files import write_private
from cortex_skills.safe_io.schemas import shown

MAX_WAITING = 10_000
_ACCEPTED = range(200, 300)


def send_message(channel: str, message: bytes, channels: Mapping[str, str], cancel: CancelToken | None = None) -> None:
    """Send a message.

    Args:
        channel: its name.
        message: any bytes.
        channels: where messages go, by the name of the channel.
        cancel: cancels the call.

    Raises:
        HostRefusal: `channel_not_configured`, `channel_full` or `channel_failed`.
    """
    target = channels.get(channel)
    if target is None:
        raise HostRefusal("channel_not_configured", f"the owner has not configured the channel {shown(channel)}")
    if target.startswith(("https://", "http://")):
        _post(channel, target, message, cancel)
    else:
        _keep(channel, Path(target), message)


def _post(channel: str, target: str, message: bytes, cancel: CancelToken | None) -> None:
    headers = [("Content-Type", "application/octet-stream")]
    try:
        response = send(httpx.URL(target), "POST", headers, message, is_own=True, cancel=cancel)
    except HostRefusal as error:
        raise HostRefusal("channel_failed", f"{shown(channel)}: {error}") from None
    if response.status not in _ACCEPTED:
        raise HostRefusal("channel_failed", f"{shown(channel)} answered with the status {response.status}")


def _keep(channel: str, folder: Path, message: bytes) -> None:
    try:
        if folder.exists() and sum(1 for _ in folder.iterdir()) >= MAX_WAITING:
            raise HostRefusal("channel_full", f"{MAX_WAITING:,} messages wait in {shown(channel)}")
        write_private(folder / f"{time.time_ns():020d}-{uuid4().hex}.message", message)
    except OSError as error:
        raise HostRefusal("channel_failed", f"{shown(channel)} cannot be written: {error.strerror}") from None
