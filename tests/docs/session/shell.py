"""A recorded shell on a pseudo-terminal, driven by typed keys.

Rules kept here:
- the shell does not depend on the user: its home and working directory are empty, its prompt is `$ `, and of the
  environment only the paths of programs and of compiled code are kept;
- the time of an event is the time at which its output was read.
"""

from __future__ import annotations

import os
import re
import selectors
import sys
import time
from pathlib import Path

from platformdirs import user_cache_path

from tests.docs.session.cast import COLUMNS, ROWS, Cast, Event
from tests.terminal import started

_PROMPT = re.compile(r"(?:^|\n)\$ $")
_WAIT_S = 90.0


class Shell:
    """A shell and its recording.

    Args:
        folder: an empty folder for the home and the working directory.
        title: title of the session.
        key_s: pause after each key, in seconds.

    """

    def __init__(self, folder: Path, title: str, key_s: float) -> None:
        home, self.folder = folder / "home", folder / "work"
        home.mkdir()
        self.folder.mkdir()
        (home / ".inputrc").write_text("set enable-bracketed-paste off\n", encoding="utf-8")
        environment = {
            "HOME": str(home),
            "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "PS1": "$ ",
            "XDG_CACHE_HOME": str(user_cache_path()),
        }
        self.cast = Cast(title)
        self._key_s = key_s
        self._began = time.monotonic()
        self._unread = ""
        self._rest = b""
        command = ["bash", "--norc", "--noprofile", "-i"]
        self._process, self._terminal = started(command, environment, folder=self.folder, size=(ROWS, COLUMNS))
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._terminal, selectors.EVENT_READ)
        self.until_prompt()

    def begin(self, label: str) -> None:
        """Start a part."""
        self._unread = ""
        self.cast.events.append(Event(self._now(), "m", label))

    def type(self, text: str) -> None:
        """Type on the terminal, one key at a time."""
        for key in text:
            os.write(self._terminal, key.encode())
            self.rest(self._key_s)

    def until(self, pattern: re.Pattern[str]) -> None:
        """Wait until the output of this part matches a pattern.

        Raises:
            TimeoutError: the output did not match within 90 seconds.

        """
        until = self._now() + _WAIT_S
        while not pattern.search(re.sub("\x1b\\[[0-9;?]*[a-zA-Z]|\r", "", self._unread)):
            if self._now() > until or not self._read(until - self._now()):
                raise TimeoutError(f"{pattern.pattern!r} was not written, but {self._unread!r}")

    def rest(self, seconds: float) -> None:
        """Record output for some seconds without typing."""
        until = self._now() + seconds
        while (left := until - self._now()) > 0:
            self._read(left)

    def until_prompt(self) -> None:
        """Wait for the prompt."""
        self.until(_PROMPT)

    def close(self) -> None:
        """Stop the shell and its jobs."""
        self._selector.close()
        os.close(self._terminal)  # the shell passes the hang-up on
        try:
            self._process.wait(20)
        finally:
            self._process.kill()
            self._process.wait()

    def _now(self) -> float:
        return time.monotonic() - self._began

    def _read(self, wait_s: float) -> bool:
        """Record output that arrives within some seconds. Returns whether there was any."""
        if not self._selector.select(max(0.0, wait_s)):
            return False
        try:
            data = self._rest + os.read(self._terminal, 65536)
        except OSError:  # the other end is closed
            return False
        text = data.decode("utf-8", "ignore")
        self._rest = b"" if text.encode() == data else data[len(text.encode()) :]
        if text:
            self.cast.events.append(Event(self._now(), "o", text))
            self._unread += text
        return True
