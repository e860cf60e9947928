"""A process of the soak: `python -m fuzz.soak_worker FOLDER SCRATCH NAME SEED`, or `… --read FOLDER`.

Rules kept here:
- it works on the store of a folder through a plugin of its own, until its standard input ends;
- it writes one JSON list a line: `["begin", KEY]` before each change, then what was acknowledged: `["there", KEY,
  SIZE]` or `["gone", KEY]`. An error, and nothing else, leaves open whether the change was made;
- KEY is the subject of SIZE triples, which are written together, and which only this process changes;
- an error is `["error", CODE, MESSAGE]`, an answer without an acknowledged triple `["missing", KEY]`, any exception
  that is no error of the library `["unexpected", TEXT]`;
- with `--read` it reads everything, in the order of two indexes, and tries to write: what it finds is `["found", KEY,
  SIZE]` for each subject, and `["read"]` at the end.
"""

from __future__ import annotations

import json
import random
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from pyoxigraph import Literal, NamedNode, Quad

from cortex_graph import GraphError, Pattern, open_store
from cortex_graph.transfer import import_file
from cortex_graph.transfer.backup import back_up
from cortex_skills import Config, CortexError, Plugin

from .soak_ledger import BATCH, FILE, SINGLE

GRAPH = "urn:cortex:mayros"
KEPT = f"{GRAPH}:kept"
_PAUSE_S = 0.08  # between two operations: a skill may be called 1000 times in a minute
_MANIFEST = """\
---
name: keeper
description: Keeps numbers.
type: semantic
semantic:
  version: 1
  permissions: {graph: [read, write]}
  assertions: [{predicate: kept}]
  queries: [{predicate: kept, scope: namespace}]
  skillVersion: "1.0.0"
---
# Keep
"""
_LIMITS = {"maxCallsPerMinute": 1000, "maxGraphQueries": 100_000, "maxAssertions": 100_000, "maxWrites": 100_000}


def say(*words: object) -> None:
    """Write one line."""
    sys.stdout.write(json.dumps(words) + "\n")
    sys.stdout.flush()


class Worker:
    """The operations of one process."""

    def __init__(self, folder: Path, scratch: Path, name: str, dice: random.Random) -> None:
        self._name, self._dice, self._scratch = name, dice, scratch
        self._backups = folder.with_name("backups")
        self._skill = scratch / "keeper"
        self._skill.mkdir(exist_ok=True)
        self._write_skill()
        config = Config(store=str(folder), verification={"requireSignature": False}, skillSandbox=_LIMITS)
        self._plugin = Plugin.open(config, agent=name)
        try:
            self._plugin.load(self._skill)
        except CortexError:
            self._plugin.close()
            raise
        self._keys: dict[str, int] = {}
        self._made = 0

    def run(self, ended: threading.Event) -> None:
        """Do operations until `ended` is set."""
        operations: list[tuple[Callable[[], None], int]] = [
            (self._assert, 300),
            (self._batch, 60),
            (self._query, 200),
            (self._delete, 30),
            (self._reload, 6),
            (self._import, 12),
            (self._back_up, 2),
        ]
        some, weights = zip(*operations, strict=True)
        while not ended.wait(self._dice.uniform(0, 2 * _PAUSE_S)):
            (operation,) = self._dice.choices(some, weights)
            try:
                operation()
            except (GraphError, CortexError) as error:
                say("error", error.code, f"{operation.__name__}: {error}")
            except Exception:
                say("unexpected", traceback.format_exc())
        self._plugin.close()

    def _new_key(self) -> str:
        self._made += 1
        key = f"{self._name}-{self._made}"
        say("begin", key)
        return key

    def _there(self, key: str, size: int) -> None:
        self._keys[key] = size
        say("there", key, size)

    def _call(self, tool: str, **arguments: object) -> dict[str, object]:
        result = self._plugin.call(tool, arguments)
        if result.is_error:
            raise CortexError(str(result.details["code"]), result.text)
        return dict(result.details)

    def _assert(self) -> None:
        key = self._new_key()
        self._call("skill_assert", subject=key, predicate="kept", object=0)
        self._there(key, SINGLE)

    def _batch(self) -> None:
        key = self._new_key()
        rows = [{"subject": key, "predicate": "kept", "object": number} for number in range(BATCH)]
        self._plugin.graph.create_triples(rows)
        self._there(key, BATCH)

    def _import(self) -> None:
        key = self._new_key()
        file = self._scratch / "some.nt"
        file.write_text("".join(f'<{GRAPH}:{key}> <{KEPT}> "{number}" .\n' for number in range(FILE)))
        import_file(self._plugin.graph, file)
        self._there(key, FILE)

    def _delete(self) -> None:
        single = [key for key, size in self._keys.items() if size == SINGLE]
        if not single:
            return
        key = self._dice.choice(single)
        say("begin", key)
        del self._keys[key]
        rows = self._plugin.graph.list_triples({"subject": key})["triples"]
        if not rows:
            say("missing", key)
            return
        self._plugin.graph.delete_triple(rows[0]["id"])
        say("gone", key)

    def _query(self) -> None:
        if not self._keys:
            return
        key = self._dice.choice(list(self._keys))
        found = self._call("skill_graph_query", subject=key, predicate="kept", scope="namespace", limit=1)
        if found["total"] != self._keys[key] and (found["totalIsExact"] or not found["total"]):
            say("missing", key)
        say("asked")

    def _reload(self) -> None:
        self._write_skill()
        report = self._plugin.reload()
        say(*(("unexpected", str(report)) if report.rejected or not report.reloaded else ("reloaded",)))

    def _write_skill(self) -> None:
        (self._skill / "SKILL.md").write_text(_MANIFEST)
        (self._skill / "skill.ts").write_text(
            f'export default {{ name: "keeper", onQuery() {{ return {{ version: {self._dice.random()} }}; }} }};\n'
        )

    def _back_up(self) -> None:
        self._made += 1
        target = self._backups / f"{self._name}-{self._made}"
        say("backing up", target.name)
        back_up(self._plugin.graph.store, target)
        say("backed up", target.name)


def read(folder: Path) -> None:
    """Read everything, and try to write."""
    graph = NamedNode(GRAPH)
    with closing(open_store(folder)) as store:
        found = Counter(str(quad.subject) for quad in store.quads(Pattern(graph)))
        again = Counter(str(quad.subject) for quad in store.quads(Pattern(graph, predicate=NamedNode(KEPT))))
        if found != again:
            say("differs", len(found - again), len(again - found))
        probe = Quad(NamedNode(f"{GRAPH}:probe"), NamedNode(KEPT), Literal(time.time()), graph)
        store.insert([[probe]])
        store.remove(probe)
    for subject, size in found.items():
        say("found", subject[len(GRAPH) + 2 : -1], size)
    say("read")


def main() -> None:
    """The command line."""
    if sys.argv[1] == "--read":
        try:
            read(Path(sys.argv[2]))
        except GraphError as error:
            say("error", error.code, str(error))
        return
    folder, scratch, name, seed = sys.argv[1:]
    ended = threading.Event()

    def wait_for_the_end() -> None:
        sys.stdin.read()
        ended.set()

    threading.Thread(target=wait_for_the_end, daemon=True).start()
    while not ended.is_set():
        try:
            worker = Worker(Path(folder), Path(scratch), name, random.Random(seed))
        except (GraphError, CortexError) as error:  # a stopped owner, a full disk
            say("error", error.code, f"open: {error}")
            ended.wait(0.5)
        else:
            say("opened")
            worker.run(ended)


if __name__ == "__main__":
    main()
