"""The pictures of `docs/explorer.md`; `CORTEX_PICTURES=write` writes them again, in 256 colours (Pillow)."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from tests.explorer.browser.every_page import addresses
from tests.explorer.browser.test_access import go
from tests.explorer.browser.workshop import open_workshop
from tests.server.serving import Running

FOLDER = Path(__file__).parents[3] / "docs" / "pictures"
SIZE = (1280, 760)
MAX_BYTES = 150_000
PICTURES = ("overview", "resource", "assertion", "schema", "map", "sparql", "approval", "session", "registry", "find")


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with open_workshop(tmp_path_factory.mktemp("workshop")) as server:
        yield server


def in_few_colours(png: bytes) -> bytes:
    """A picture in its 256 most frequent colours, which keep as they are: a third of its size."""
    images = pytest.importorskip("PIL.Image")
    whole = images.open(BytesIO(png)).convert("RGB")
    counted = sorted(whole.getcolors(SIZE[0] * SIZE[1]), reverse=True)
    kept = [colour for _, colour in counted[:256]]

    def nearest(colour: tuple[int, ...]) -> int:
        return min(range(len(kept)), key=lambda at: sum((a - b) ** 2 for a, b in zip(kept[at], colour, strict=True)))

    places = {bytes(colour): nearest(colour) for _, colour in counted}  # those of Pillow are a little off
    pixels = whole.tobytes()
    indexed = images.frombytes("P", SIZE, bytes(places[pixels[at : at + 3]] for at in range(0, len(pixels), 3)))
    indexed.putpalette([part for colour in kept for part in colour])
    out = BytesIO()
    indexed.save(out, "PNG", optimize=True)
    return out.getvalue()


def test_the_pictures_of_the_documentation_can_be_taken_again(signed_in: Callable[..., Any], running: Running) -> None:
    known = addresses(running)
    page = signed_in(viewport={"width": SIZE[0], "height": SIZE[1]}, color_scheme="light", reduced_motion="reduce")
    for name in PICTURES:
        go(page, running, known[name])
        taken = page.screenshot()
        file = FOLDER / f"explorer-{name}.png"
        if os.environ.get("CORTEX_PICTURES") == "write":
            FOLDER.mkdir(exist_ok=True)
            file.write_bytes(in_few_colours(taken))
        kept = file.read_bytes()
        for png in (taken, kept):
            assert png[:8] == b"\x89PNG\r\n\x1a\n"
            assert struct.unpack(">II", png[16:24]) == SIZE
        assert len(kept) < MAX_BYTES
