"""`make bench`: runs every row and prints one table.

`--full` adds the graphs of 10 million quads; `--write FILE` puts the table between the marks of a Markdown file;
`--clean` removes the stores that were kept for the next run, and runs nothing.
"""

from __future__ import annotations

import argparse
import datetime as dt
import os
import platform
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from tests.bench import (
    cleaning_rows,
    logic_rows,
    mcp_rows,
    memory_rows,
    plugin_rows,
    reload_rows,
    sandbox_rows,
    scale_rows,
    stores,
    transfer_rows,
    zk_rows,
)
from tests.bench.measure import table

START, END = "<!-- bench:start -->", "<!-- bench:end -->"


def main() -> int:
    """Run the benchmarks."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--full", action="store_true", help="also 10 million quads")
    parser.add_argument("--clean", action="store_true", help="remove the stores that were kept, and no more")
    parser.add_argument("--write", type=Path, help="a Markdown file whose table is replaced")
    options = parser.parse_args()
    if options.clean:
        stores.clean()
        return 0
    sizes = [1_000_000] + ([10_000_000] if options.full else [])
    shapes = [stores.Shape(10_000), *(stores.Shape(size, spaces) for size in sizes for spaces in (1, 1000))]
    imports = [200_000, 1_000_000] + ([5_000_000] if options.full else [])
    groups = [
        sandbox_rows.rows,
        partial(scale_rows.rows, shapes),
        plugin_rows.rows,
        cleaning_rows.rows,
        partial(transfer_rows.rows, imports),
        reload_rows.rows,
        mcp_rows.rows,
        memory_rows.rows,
        logic_rows.rows,
        zk_rows.rows,
    ]
    # As a server's worker would: guests never run on the main thread, which costs it a change of threads a call.
    with ThreadPoolExecutor(1) as worker:
        rows = [row for group in groups for row in worker.submit(group).result()]
    text = table(rows)
    sys.stdout.write(text + "\n")
    if options.write:
        written(options.write, text, f"make bench{' BENCH=--full' if options.full else ''}")
    return 0


def written(file: Path, text: str, command: str) -> None:
    """Put a table between the marks of a file, with the machine and the command that it comes from."""
    before, _, rest = file.read_text(encoding="utf-8").partition(START)
    after = rest.partition(END)[2]
    today = dt.datetime.now(dt.UTC).date()
    machine = f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, Python {platform.python_version()}"
    stamp = f"Last run: {today}, {machine}, by `{command}`."
    file.write_text(f"{before}{START}\n{stamp}\n\n{text}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    raise SystemExit(main())
