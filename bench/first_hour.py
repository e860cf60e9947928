"""From nothing to the first answer of a memory: ours beside two public memory servers.

    python -m bench.first_hour [--python PATH] [--wheel FILE]

Rules kept here:
- each is installed into an empty environment, as its own page says, and is started with an empty home by one client;
- an answer is that of a fact which was written in the same session, so that it shows that writing works;
- processor time counts, not the clock: that of the installer with all that it starts, and that of the server with all
  that it starts, until it has answered and ended. Downloads are in neither;
- a start is measured twice: the first one compiles what the installer did not.

`basic-memory` needs Python 3.12 or newer: `--python` names one, for both Python packages.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from build_steps.tools import ROOT

_HEAD = """\
| | steps | packages | installed | installing | first answer | at the next start |
|---|---|---|---|---|---|---|"""
Calls = Sequence[tuple[str, Mapping[str, Any]]]


@dataclass(frozen=True)
class Subject:
    """A memory server.

    Attributes:
        name: as the table has it.
        steps: what a person types or writes until an agent has it.
        package: what is installed.
        command: of the server, below the environment.
        calls: the tool that writes a fact, and the one that finds it.
        found: what the answer has.
    """

    name: str
    steps: tuple[str, ...]
    package: str
    command: tuple[str, ...]
    calls: Calls
    found: str


def subjects(wheel: Path) -> tuple[Subject, ...]:
    """The three, ours first."""
    note = {"title": "Ada", "content": "Ada works with Grace", "directory": "people"}
    entity = {"name": "ada", "entityType": "person", "observations": ["works with Grace"]}
    return (
        Subject(
            "`cortex-skills`",
            ("build a wheel", "the configuration"),
            str(wheel),
            ("bin/cortex-skills", "mcp"),
            (
                ("skill_assert", {"subject": "ada", "predicate": "worksWith", "object": "Grace"}),
                ("skill_graph_query", {"subject": "ada"}),
            ),
            "Grace",
        ),
        Subject(
            "`@modelcontextprotocol/server-memory`",
            ("the configuration",),
            "@modelcontextprotocol/server-memory@2026.8.31",
            ("node_modules/.bin/mcp-server-memory",),
            (("create_entities", {"entities": [entity]}), ("search_nodes", {"query": "ada"})),
            "Grace",
        ),
        Subject(
            "`basic-memory`",
            ("the configuration",),
            "basic-memory==0.24.1",
            ("bin/basic-memory", "mcp"),
            (("write_note", note), ("search_notes", {"query": "Grace"})),
            "Ada",
        ),
    )


def processor_s() -> float:
    """Processor seconds of the processes that this one started and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def install(subject: Subject, place: Path, python: str) -> None:
    """Install it into a folder; a package of npm begins with `@`."""
    if subject.package.startswith("@"):
        place.mkdir()
        command = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(place), subject.package]
        subprocess.run(command, check=True)
        return
    uv = [sys.executable, "-m", "uv", "--quiet"]
    subprocess.run([*uv, "venv", "--python", python, str(place)], check=True)
    subprocess.run([*uv, "pip", "install", "--python", str(place / "bin/python"), subject.package], check=True)


def packages(place: Path) -> int:
    """How many packages are in an environment."""
    of_python = sum(1 for _ in place.glob("lib/python*/site-packages/*.dist-info"))
    return of_python or sum(1 for each in place.glob("node_modules/**/package.json") if _is_package(each.parent))


def _is_package(folder: Path) -> bool:
    above = folder.parent.parent if folder.parent.name.startswith("@") else folder.parent
    return above.name == "node_modules"


def megabytes(place: Path) -> float:
    """The size of the files of an environment, without links."""
    return sum(each.lstat().st_size for each in _files(place)) / 1e6


def _files(place: Path) -> Iterator[Path]:
    return (each for each in place.rglob("*") if each.is_file() and not each.is_symlink())


async def answer(subject: Subject, place: Path, home: Path) -> None:
    """Start the server, write a fact and find it.

    Raises:
        RuntimeError: it was not found.
    """
    from mcp import Client, StdioServerParameters

    command = [str(place / subject.command[0]), *subject.command[1:]]
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    environment["MEMORY_FILE_PATH"] = str(home / "memory.jsonl")
    server = StdioServerParameters(command=command[0], args=command[1:], env=environment, cwd=str(home))
    async with Client(server, mode="legacy") as client:  # the handshake that all three know
        texts = []
        for tool, arguments in subject.calls:
            result = await client.call_tool(tool, dict(arguments))
            texts.append("".join(getattr(part, "text", "") for part in result.content))
            if result.is_error:
                raise RuntimeError(f"{subject.name}: {tool}: {texts[-1]}")
    if subject.found not in texts[-1]:
        raise RuntimeError(f"{subject.name} does not find the fact: {texts[-1]!r}")


def row(subject: Subject, scratch: Path, python: str) -> str:
    """The row of the table."""
    place = scratch / subject.name.strip("`").rpartition("/")[2]
    begin = processor_s()
    install(subject, place, python)
    installed = processor_s() - begin
    size, count = megabytes(place), packages(place)
    starts = []
    for number in (1, 2):
        home = scratch / f"{place.name}-home-{number}"
        home.mkdir()
        begin = processor_s()
        asyncio.run(answer(subject, place, home))
        starts.append(processor_s() - begin)
    figures = f"{count} | {size:.0f} MB | {installed:.1f} s | {starts[0]:.1f} s | {starts[1]:.1f} s"
    return f"| {subject.name} | {len(subject.steps)}: {', '.join(subject.steps)} | {figures} |"


def wheel_of(folder: Path) -> Path:
    """A wheel of this checkout."""
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return next(folder.glob("*.whl"))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.first_hour", description=__doc__)
    parser.add_argument("--python", default=sys.executable, help="the interpreter for the two packages of Python")
    parser.add_argument("--wheel", type=Path, help="instead of one that is built now")
    options = parser.parse_args()
    print(_HEAD)  # noqa: T201
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for subject in subjects(options.wheel or wheel_of(folder / "dist")):
            print(row(subject, folder, options.python), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
