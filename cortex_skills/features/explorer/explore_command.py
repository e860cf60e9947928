"""`explore`: open the explorer in a browser, signed in.

Rules kept here:
- the code that signs in is in no argument list: the browser is given a private file, which is removed once the code was
  used or is late. `--print` writes the address with the code instead;
- a server that runs for the same store and namespace is asked for a code; otherwise this command is the server, at
  127.0.0.1, until Ctrl-C.
"""

from __future__ import annotations

import os
import secrets
import socket
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cortex_skills.doors.cli.commands import Command
from cortex_skills.doors.cli.options import Common
from cortex_skills.errors import CortexError

if TYPE_CHECKING:
    from cortex_skills.config.settings import Config
    from cortex_skills.doors.explorer.code_socket import Invitation

_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Opening the explorer</title>
<meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0;url={address}">
<p><a href="{address}">Open the explorer</a></p></html>
"""


@click.command(cls=Command)
@click.option("--token", metavar="NAME", help="The token whose rights the session has [reading the namespace].")
@click.option(
    "--port",
    metavar="PORT",
    type=click.IntRange(0, 65535),
    help="The port [19090, or cortex.port; another one if it is in use].",
)
@click.option("--print", "prints", is_flag=True, help="Print the address, which opens one session within a minute.")
@click.option("--no-browser", is_flag=True, help="Print the address without a code; the page asks for a token.")
@click.pass_obj
def explore(common: Common, token: str | None, port: int | None, prints: bool, no_browser: bool) -> None:
    """Show the graph in a browser: what was asserted, by whom, and why to believe it.

    The session reads the namespace, unless --token names a token of `cortex-skills token`. A running `cortex-skills
    serve` of the same store is used; otherwise this command serves until Ctrl-C.
    """
    if prints and no_browser:
        raise click.UsageError("--print and --no-browser exclude each other")
    from cortex_skills.doors.explorer.code_socket import asked, path_for

    settings = common.settings()
    opening = _Opening(common, prints=prints, no_browser=no_browser)
    path = path_for(settings)
    if path is not None and port is None and path.exists():
        with asked(path, token) as found:
            if found is not None:
                invitation, connection = found
                opening.show(invitation, lambda: _until_closed(connection))
                return
    _serve(common, settings, token, port, opening)


def _serve(common: Common, settings: Config, token: str | None, port: int | None, opening: _Opening) -> None:
    """Serve the explorer until Ctrl-C."""
    from cortex_skills.doors.explorer.callers import ExplorerState, now
    from cortex_skills.doors.explorer.code_socket import Invitation, grant_named, path_for
    from cortex_skills.doors.http.auth import AccessControl
    from cortex_skills.doors.server.serve import serve

    explorer = ExplorerState(settings.agent_namespace)
    grant = grant_named(token, AccessControl(settings))

    def ready(url: str) -> None:
        code = explorer.sessions.new_code(grant, now())

        def until_used() -> None:
            while explorer.sessions.is_waiting(code, now()):
                time.sleep(0.1)

        common.out.note(f"serving at {url} (Ctrl-C ends it)")
        opening.show(Invitation(url, code), until_used, in_background=True)

    with ExitStack() as stack:
        reads = not settings.is_user_store  # a folder without a store may be misspelt
        plugin = stack.enter_context(
            common.loaded(settings, strict=False) if common.names_skills else common.plugin(settings, reads=reads)
        )
        wanted = settings.serving.port if port is None else port
        if port is None and not _is_free(wanted):
            wanted = 0
        serve(plugin, "127.0.0.1", wanted, ready, explorer=explorer, codes_at=path_for(settings), for_this_user=True)


class _Opening:
    """How the explorer is shown to the user."""

    def __init__(self, common: Common, *, prints: bool, no_browser: bool) -> None:
        self._common = common
        self._prints = prints
        self._no_browser = no_browser

    def show(self, invitation: Invitation, wait: Callable[[], None], *, in_background: bool = False) -> None:
        """Print the address, or open a browser and wait until its code was used or is late."""
        if self._no_browser:
            self._print(f"{invitation.url}/explore", invitation.url)
        elif self._prints:
            self._print(invitation.address, invitation.url)
        elif in_background:
            threading.Thread(target=self._open, args=(invitation, wait), name="cortex-browser", daemon=True).start()
        else:
            self._open(invitation, wait)

    def _open(self, invitation: Invitation, wait: Callable[[], None]) -> None:
        import webbrowser
        from html import escape

        from cortex_skills.doors.explorer.code_socket import folder_of_user
        from cortex_skills.safe_io.private_files import write_private

        file = folder_of_user() / f"open-{secrets.token_hex(8)}.html"
        try:
            write_private(file, _PAGE.format(address=escape(invitation.address)).encode())
        except OSError as error:
            raise CortexError("config_invalid", f"cannot write {file}: {error.strerror}", hint="use --print") from error
        try:
            if webbrowser.open(file.as_uri()):
                self._print(f"{invitation.url}/explore", invitation.url)
                wait()
            else:
                self._common.out.note("no browser was found: open this address within a minute")
                self._print(invitation.address, invitation.url)
        finally:
            _remove(file)

    def _print(self, address: str, url: str) -> None:
        self._common.out.answer({"address": address, "url": url}, lambda: self._common.out.line(address))


def _remove(file: Path) -> None:
    with suppress(OSError):
        file.unlink()


def _until_closed(connection: socket.socket) -> None:
    with suppress(OSError):
        while connection.recv(1):
            pass


def _is_free(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        if os.name == "posix":
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
