"""The pictures of `docs/explorer.md` and the README; `CORTEX_PICTURES=write` writes them again."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from cortex_graph import NamespacedGraph
from tests.explorer.browser.test_access import go
from tests.server.serving import Running

FOLDER = Path(__file__).parents[3] / "docs" / "pictures"
SIZE = (1280, 760)
MAX_BYTES = 200_000
NS = "/explore/mayros"
QUERY = "SELECT ?customer ?status WHERE {\n  ?customer mayros:hasStatus ?status .\n} ORDER BY ?status"
LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
WORKSHOP = {
    "Part": ("Chain", "Rim 28″", "Tube 700 × 25", "Cassette 11–34", "Spoke 292 mm", "Brake pad", "Quick link"),
    "Supplier": ("Nordkette", "Rota & Filho"),
    "Bicycle": ("Touring 0117", "Cargo 0093", "Racer 0204"),
    "Order": ("Order 340", "Order 352", "Order 366"),
}
LINKS = "suppliedBy Part Supplier, fits Part Bicycle, contains Order Part, sentTo Order Supplier"


def workshop(graph: NamespacedGraph) -> None:
    """State a bicycle workshop: things of four classes, their labels, and links between them."""
    stated: list[dict[str, object]] = []
    for kind, names in WORKSHOP.items():
        for place, name in enumerate(names):
            thing = f"{kind.lower()}:{place}"
            stated.append({"subject": thing, "predicate": LABEL, "object": name})
            stated.append({"subject": thing, "predicate": TYPE, "object": {"node": kind}})
            stated.append({"subject": thing, "predicate": "inStock", "object": 7 * place + 3})
    for link in LINKS.split(", "):
        predicate, one, other = link.split()
        for place in range(len(WORKSHOP[one])):
            node = f"{other.lower()}:{place % len(WORKSHOP[other])}"
            stated.append({"subject": f"{one.lower()}:{place}", "predicate": predicate, "object": {"node": node}})
        stated.append({"subject": f"{one.lower()}:1", "predicate": predicate, "object": {"node": f"{other.lower()}:0"}})
    labels = {**{name: name for name in WORKSHOP}, "suppliedBy": "supplied by", "sentTo": "sent to"}
    stated += [{"subject": name, "predicate": LABEL, "object": label} for name, label in labels.items()]
    graph.create_triples(stated)


def test_the_pictures_of_the_documentation_can_be_taken_again(signed_in: Callable[..., Any], running: Running) -> None:
    (triple,) = running.plugin.graph.list_triples({"subject": "customer:boris", "predicate": "isVerified"})["triples"]
    addresses = {
        "resource": f"{NS}/r?name=customer:boris",
        "assertion": f"{NS}/t/{triple['id']}",
        "sparql": f"{NS}/sparql?query={quote(QUERY)}",
        "map": f"{NS}/map?name=part:0",
        "schema": f"{NS}/schema?type=Part",
    }
    workshop(running.plugin.graph)
    running.plugin.graph.schema.latest(wait_s=60)
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
