"""`make bench`: measure every row, or those of the named groups, and print how long that takes, then one table.

`--full` adds graphs of 10 million quads; `--write FILE` replaces the table in a Markdown file; `--clean` removes the
cached stores and measures nothing.
"""

from __future__ import annotations

import argparse
import datetime as dt
import os
import platform
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from bench import (
    artifact_rows,
    audit_rows,
    cleaning_rows,
    explorer_rows,
    find_rows,
    finder_rows,
    first_start_rows,
    growth_rows,
    listing_rows,
    logic_rows,
    many_clients_rows,
    mcp_rows,
    memory_rows,
    memory_server_rows,
    plugin_rows,
    query_rows,
    reload_rows,
    sandbox_rows,
    scale_rows,
    server_rows,
    stores,
    transfer_rows,
    wasm_rows,
    zk_rows,
)
from bench.measure import table

START, END = "<!-- bench:start -->", "<!-- bench:end -->"
# Of each group on two cores that do nothing else, with the stores built; change them with the rows.
SECONDS = {
    "artifacts": 20,
    "sandbox": 25,
    "scale": 10,
    "listing": 10,
    "plugin": 8,
    "growth": 15,
    "audit": 5,
    "query": 20,
    "explorer": 20,
    "cleaning": 25,
    "transfer": 50,
    "reload": 12,
    "mcp": 18,
    "first-start": 30,
    "many-clients": 20,
    "memory": 50,
    "memory-server": 25,
    "finder": 120,
    "find": 60,
    "server": 6,
    "logic": 15,
    "wasm": 3,
    "zk": 18,
}


def main() -> int:
    """Run the benchmarks."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("groups", nargs="*", metavar="GROUP", help="a group of rows; without one, all")
    parser.add_argument("--full", action="store_true", help="also 10 million quads")
    parser.add_argument("--clean", action="store_true", help="remove the cached stores and exit")
    parser.add_argument("--write", type=Path, help="a Markdown file whose table is replaced")
    options = parser.parse_args()
    if options.clean:
        stores.clean()
        return 0
    sizes = [1_000_000] + ([10_000_000] if options.full else [])
    shapes = [stores.Shape(10_000), *(stores.Shape(size, spaces) for size in sizes for spaces in (1, 1000))]
    imports = [200_000, 1_000_000] + ([5_000_000] if options.full else [])
    groups = {
        "artifacts": artifact_rows.rows,
        "sandbox": sandbox_rows.rows,
        "scale": partial(scale_rows.rows, shapes),
        "listing": partial(listing_rows.rows, shapes),
        "plugin": plugin_rows.rows,
        "growth": growth_rows.rows,
        "audit": audit_rows.rows,
        "query": query_rows.rows,
        "explorer": partial(explorer_rows.rows, shapes),
        "cleaning": cleaning_rows.rows,
        "transfer": partial(transfer_rows.rows, imports),
        "reload": reload_rows.rows,
        "mcp": mcp_rows.rows,
        "first-start": first_start_rows.rows,
        "many-clients": many_clients_rows.rows,
        "memory": memory_rows.rows,
        "memory-server": memory_server_rows.rows,
        "finder": finder_rows.rows,
        "find": find_rows.rows,
        "server": server_rows.rows,
        "logic": logic_rows.rows,
        "wasm": wasm_rows.rows,
        "zk": zk_rows.rows,
    }
    if missing := groups.keys() ^ SECONDS.keys():
        raise RuntimeError(f"SECONDS and the groups differ: {', '.join(sorted(missing))}")
    if unknown := [name for name in options.groups if name not in groups]:
        parser.error(f"there is no group {unknown[0]!r}; known: {', '.join(groups)}")
    if options.groups and options.write:
        parser.error("--write replaces the whole table, so it measures all groups")
    # As in a server: on the main thread each call of a guest would switch threads.
    with ThreadPoolExecutor(1) as worker:
        names = options.groups or list(groups)
        expected = sum(SECONDS[name] for name in names)
        sys.stdout.write(f"about {minutes(expected)} on two cores that do nothing else\n")
        sys.stdout.flush()
        began = time.monotonic()
        rows = [row for name in names for row in worker.submit(groups[name]).result()]
    text = table(rows)
    sys.stdout.write(f"{text}\nmeasured in {minutes(time.monotonic() - began)}\n")
    if options.write:
        written(options.write, text, f"make bench{' BENCH=--full' if options.full else ''}")
    return 0


def minutes(seconds: float) -> str:
    """A duration as whole minutes."""
    count = max(1, round(seconds / 60))
    return f"{count} minute{'' if count == 1 else 's'}"


def written(file: Path, text: str, command: str) -> None:
    """Replace the table in a file, with the date, the machine and the command."""
    before, _, rest = file.read_text(encoding="utf-8").partition(START)
    after = rest.partition(END)[2]
    today = dt.datetime.now(dt.UTC).date()
    machine = f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}"
    stamp = f"Last run: {today}, {machine}, by `{command}`."
    file.write_text(f"{before}{START}\n{stamp}\n\n{text}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    raise SystemExit(main())
