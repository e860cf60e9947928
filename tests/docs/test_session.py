"""The recorded session is one that goes today as it went then."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

pytest.importorskip("termios", reason="there are no such terminals here")

from tests.docs.session.cast import Cast, Event, shown
from tests.docs.session.page import page, picture
from tests.docs.session.story import STEPS, played, save

DOCS = Path(__file__).parents[2] / "docs"
CHANGING = [(r"\d\d:\d\d:\d\d", "12:00:00"), (r"\(\d+ ms\)", "(1 ms)"), (r"\(\d+\.\d s\)", "(0.1 s)")]


@pytest.fixture(scope="module")
def recorded() -> Cast:
    return Cast.from_text((DOCS / "session.cast").read_text(encoding="utf-8"))


def without_times(output: str) -> list[str]:
    """The lines of a part but for times, each once.

    A query has no order among its triples; on a busy machine a system tells of one save in two events, and what is
    said of it is said twice.
    """
    text = "\n".join(shown(output))
    for pattern, instead in CHANGING:
        text = re.sub(pattern, instead, text)
    return sorted(set(text.split("\n")))


@pytest.mark.slow
@pytest.mark.timeout(600)  # each of its steps may take as long as a shell is waited for
@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not here")
def test_the_session_goes_today_as_it_is_recorded(recorded: Cast, tmp_path: Path) -> None:
    today = played(tmp_path)
    assert [part.label for part in today.parts()] == [step.label for step in STEPS]
    for then, now in zip(recorded.parts(), today.parts(), strict=True):
        assert then.label == now.label, "record it anew: make record"
        assert without_times(now.output) == without_times(then.output), "record it anew: make record"
    assert not any(str(tmp_path) in part.output for part in today.parts())


def test_the_page_is_what_the_recording_shows(recorded: Cast) -> None:
    assert (DOCS / "session.md").read_text(encoding="utf-8") == page(recorded)


def test_the_picture_shows_the_slip_and_what_it_led_to_and_fetches_nothing(recorded: Cast) -> None:
    for drawn in ((DOCS / "session.svg").read_text(encoding="utf-8"), picture(recorded)):
        text = "".join(ET.fromstring(drawn).itertext()).replace("\xa0", " ")
        for line in (part for step in (2, 3) for part in shown(recorded.parts()[step].output)):
            assert all(word in text for word in line.split())
        assert "http" not in drawn.replace("http://www.w3.org/2000/svg", "").replace("https://www.textualize.io", "")


def test_the_recording_is_an_asciicast_of_plausible_times_and_tells_nothing_of_a_machine(recorded: Cast) -> None:
    text = (DOCS / "session.cast").read_text(encoding="utf-8")
    header, *events = map(json.loads, text.splitlines())
    assert (header["version"], header["width"] > 0, header["height"] > 0, "timestamp" in header) == (
        2,
        True,
        True,
        False,
    )
    assert all((kind in ("o", "m"), type(data)) == (True, str) for _, kind, data in events)
    times = [at for at, _, _ in events]
    assert times == sorted(times)
    assert 10 < times[-1] < 120
    assert not re.search(r"/(root|home|Users|tmp|var|work|usr|opt)\b|@", text.replace('"/bin/bash"', ""))
    assert Cast.from_text(text).to_text() == text


def test_what_is_drawn_and_taken_back_is_not_shown() -> None:
    output = "one\r\n\x1b[32mloading 10 %\x1b[0m\r\x1b[2Kdone\r\nlost\x1b[2K\r\r\n$ "
    assert shown(output) == ["one", "done"]
    cast = Cast("t", [Event(0, "o", "$ "), Event(1, "m", "a"), Event(2, "o", "b"), Event(3, "o", "c")])
    (part,) = cast.parts()
    assert (part.label, part.output) == ("a", "bc")


def test_a_save_changes_one_place_or_fails(tmp_path: Path) -> None:
    (tmp_path / "a.ts").write_text("x y y")
    save(tmp_path / "a.ts", "x", "z")
    assert (tmp_path / "a.ts").read_text() == "z y y"
    for before in ("y", "gone"):
        with pytest.raises(ValueError, match="no single place"):
            save(tmp_path / "a.ts", before, "")
    assert [path.name for path in tmp_path.iterdir()] == ["a.ts"]
