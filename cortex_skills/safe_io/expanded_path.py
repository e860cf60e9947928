"""`expanded_path`: a path as its user means it, also where no shell has read it.

A host starts the server from JSON, and a setting is in a file: without this, `~/graph` would be a folder called `~`.

Rules kept here:
- `~` and `~NAME` at the beginning are home folders; `$NAME` and `${NAME}` are environment variables; `$$` is a dollar
  sign. On Windows `%NAME%` is a variable too; elsewhere a path that begins with one is refused, since it is meant for
  Windows;
- a line end behind the value of a variable is no part of it: files and secret stores of services add one;
- a user that does not exist, and a variable that is not set or empty, is an error: never a part of the path. So is what
  only a shell would read: blanks and quotes around a path, `$(COMMAND)`, `${NAME:-DEFAULT}`;
- in a `file:` URL the same is expanded, percent-encoded; any other address is unchanged. `file:///~/graph` is an error:
  it is in a folder `~` at the root.

>>> expanded_path("$DATA/graph", {"DATA": "/data"})
'/data/graph'
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

_VARIABLE = re.compile(r"\$(?:(\$)|\{([^}]*)\}|([A-Za-z_][A-Za-z0-9_]*))")
_OF_WINDOWS = re.compile(r"%([A-Za-z_][A-Za-z0-9_()]*)%")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_QUOTED = re.compile(r"""(["']).*\1""", re.DOTALL)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]+:", re.IGNORECASE)  # two letters or more: `C:\data` is a path
_FILE = re.compile(r"file:(?://(?:localhost(?=/))?)?", re.IGNORECASE)


def expanded_path(path: str, env: Mapping[str, str] = os.environ, *, may_be_address: bool = False) -> str:
    """A path with its home folder and its variables.

    Args:
        path: as it was given.
        env: the environment.
        may_be_address: whether it may be a URL, or a name with a scheme such as `memory:`.

    Raises:
        ValueError: a variable is not set, there is no such user, or it is written for a shell; the message is a whole
            sentence without the path.
    """
    if path != path.strip():
        raise ValueError("the path begins or ends with a blank: write it without")
    if _QUOTED.fullmatch(path):
        raise ValueError("the path is in quotes: write it without")
    if not may_be_address or not _SCHEME.match(path):
        return _expanded(path, env)
    file = _FILE.match(path)
    if file is None:
        return path
    from urllib.parse import quote, unquote

    inner = unquote(path[file.end() :])
    if inner.startswith("/~"):
        raise ValueError(
            f"it is a folder at the root of the disk: write file:{inner[1:].partition('/')[0]} for a home folder"
        )
    return f"{file[0]}{quote(_expanded(inner, env))}" if "$" in path or inner.startswith("~") else path


def _expanded(path: str, env: Mapping[str, str]) -> str:
    if os.name == "nt":
        path = _OF_WINDOWS.sub(lambda match: _value(match[1], env), path)
    elif found := _OF_WINDOWS.match(path):
        raise ValueError(f"%{found[1]}% is a variable on Windows only: write ${found[1]}")
    if "$(" in path.replace("$$", ""):
        raise ValueError("$(...) is a command, which only a shell runs: write the path")
    if path.startswith("~"):
        user, *_ = re.split(r"[/\\]" if os.name == "nt" else "/", path, maxsplit=1)
        home = env.get("HOME") if user == "~" and os.name != "nt" else None
        home = home or os.path.expanduser(user)  # noqa: PTH111 - pathlib drops the "./" that protects a leading ~
        if home == user:
            whose = user.removeprefix("~") or "this user"
            raise ValueError(f"there is no home folder of {whose}: write ./{user} if it is a name")
        path = home.replace("$", "$$") + path[len(user) :]
    return _VARIABLE.sub(lambda match: match[1] or _value(match[2] if match[3] is None else match[3], env), path)


def variable(name: str, env: Mapping[str, str]) -> str:
    """The value of an environment variable without a line end behind it; empty if it is not set."""
    return env.get(name, "").rstrip("\r\n")


def _value(name: str, env: Mapping[str, str]) -> str:
    if not (value := variable(name, env)):
        if not _NAME.fullmatch(name):
            raise ValueError(f"${{{name}}} is no environment variable: write ${{NAME}}")
        raise ValueError(f"the environment variable {name} is not set")
    return value
