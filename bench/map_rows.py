"""The row of the map: 500 nodes placed and drawn in Chromium, beside `cytoscape` with its layout `cose`.

Rules kept here:
- both scripts draw the same graph in the same browser, each in a page of its own that has nothing else; the time runs
  from the call, with the script loaded, to the second frame after it returns;
- the sides alternate;
- the script of the map is the built one; pages are answered by the test itself, from no server.
"""

from __future__ import annotations

import random
import shutil
import statistics
from pathlib import Path
from typing import Any

from bench.measure import Row
from cortex_skills.doors.explorer.assets import FOLDER

NODES, LINKS, ROUNDS = 500, 800, 7
GOAL = 1 / 3
ORIGIN = "http://bench.invalid"
CYTOSCAPE = Path(__file__).parent / "node_modules" / "cytoscape" / "dist" / "cytoscape.esm.min.mjs"
PAGE = "<!doctype html><title>map</title><style>#host{width:1000px;height:700px}</style><div id=host></div>"
_TIMED = """async data => {
    const { default: other, draw } = await import('/script.js');
    const host = document.getElementById('host');
    const frame = () => new Promise(resolve => requestAnimationFrame(resolve));
    await frame();
    const start = performance.now();
    %s
    await frame();
    await frame();
    return performance.now() - start;
}"""
OURS = _TIMED % "draw(host, data);"
THEIRS = (
    _TIMED
    % """const nodes = data.nodes.map(({ id, label }) => ({ data: { id, label } }));
    const edges = data.links.map(({ source, target, label }) => ({ data: { source, target, label } }));
    const style = [{ selector: '[label]', style: { label: 'data(label)' } }];
    other({ container: host, elements: [...nodes, ...edges], style, layout: { name: 'cose', animate: false } });"""
)


def rows() -> list[Row]:
    """The row; Chromium must be installed."""
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        raise SystemExit("the row of the map needs Chromium: install it, for instance with apt-get")
    (built,) = FOLDER.glob("map.*.js")
    sides = ((OURS, built), (THEIRS, CYTOSCAPE))
    times: dict[str, list[float]] = {OURS: [], THEIRS: []}
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-dev-shm-usage"])
        for turn in range(ROUNDS + 1):
            for program_text, script in sides:
                taken = _timed(browser, program_text, script)
                if turn:
                    times[program_text].append(taken)
        browser.close()
    ours, theirs = (statistics.median(times[side]) for side in (OURS, THEIRS))
    figure = f"map of {NODES} nodes and {LINKS} links, placed and drawn in Chromium"
    return [Row(figure, ours, "cytoscape 3.34, layout cose", theirs, GOAL)]


def _timed(browser: Any, program: str, script: Path) -> float:
    """The seconds that a script takes in a new page."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.route(f"{ORIGIN}/*", lambda route: route.fulfill(**_answer(route.request.url, script)))
    page.goto(f"{ORIGIN}/")
    taken = float(page.evaluate(program, graph()))
    page.close()
    return taken / 1000


def _answer(url: str, script: Path) -> dict[str, Any]:
    if url.endswith(".js"):
        return {"content_type": "text/javascript", "body": script.read_text(encoding="utf-8")}
    return {"content_type": "text/html", "body": PAGE}


def graph() -> dict[str, Any]:
    """A graph as the map gets it: most links lead to few nodes, as in real graphs."""
    chance = random.Random(5)
    nodes = [{"id": f"n{n}", "label": f"mayros:name-{n}", "kind": "resource"} for n in range(NODES)]
    pairs = [(n, int(n * chance.random() ** 2)) for n in range(1, NODES)]
    while len(pairs) < LINKS:
        pairs.append((chance.randrange(NODES), chance.randrange(NODES)))
    links = [{"source": f"n{a}", "target": f"n{b}", "label": "linkedTo"} for a, b in pairs]
    return {"version": 1, "title": "bench", "nodes": nodes, "links": links}
