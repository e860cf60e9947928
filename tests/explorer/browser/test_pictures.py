"""The pictures of `docs/explorer.md` and the README; `CORTEX_PICTURES=write` writes them again."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tests.explorer.browser.test_access import go
from tests.server.serving import Running

FOLDER = Path(__file__).parents[3] / "docs" / "pictures"
SIZE = (1100, 700)
MAX_BYTES = 200_000
NS = "/explore/mayros"
QUERY = "SELECT ?customer ?status WHERE {\n  ?customer mayros:hasStatus ?status .\n} ORDER BY ?status"


def test_the_pictures_of_the_documentation_can_be_taken_again(signed_in: Callable[..., Any], running: Running) -> None:
    (triple,) = running.plugin.graph.list_triples({"subject": "customer:boris", "predicate": "isVerified"})["triples"]
    addresses = {
        "resource": f"{NS}/r?name=customer:boris",
        "assertion": f"{NS}/t/{triple['id']}",
        "sparql": f"{NS}/sparql?query={quote(QUERY)}",
    }
    page = signed_in(viewport={"width": SIZE[0], "height": SIZE[1]}, color_scheme="light", reduced_motion="reduce")
    for name, address in addresses.items():
        go(page, running, address)
        taken = page.screenshot()
        file = FOLDER / f"explorer-{name}.png"
        if os.environ.get("CORTEX_PICTURES") == "write":
            FOLDER.mkdir(exist_ok=True)
            file.write_bytes(taken)
        kept = file.read_bytes()
        for png in (taken, kept):
            assert png[:8] == b"\x89PNG\r\n\x1a\n"
            assert struct.unpack(">II", png[16:24]) == SIZE
        assert len(kept) < MAX_BYTES
