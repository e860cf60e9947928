"""Replaying the recorded session gives the recorded output."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

pytest.importorskip("termios", reason="this system has no pseudo-terminals")

from tests.docs.session.cast import Cast, Event, shown
from tests.docs.session.page import page, picture
from tests.docs.session.story import STEPS, played, save

DOCS = Path(__file__).parents[2] / "docs"
CHANGING = [(r"\d\d:\d\d:\d\d", "12:00:00"), (r"\(\d+ ms\)", "(1 ms)"), (r"\(\d+\.\d s\)", "(0.1 s)")]


@pytest.fixture(scope="module")
def recorded() -> Cast:
    return Cast.from_text((DOCS / "session.cast").read_text(encoding="utf-8"))


def without_times(output: str) -> list[str]:
    """The lines of a part without times, each once.

    The triples of an answer have no order, and a busy machine may report one save in two events, which repeats a line.
    """
    text = "\n".join(shown(output))
    for pattern, instead in CHANGING:
        text = re.sub(pattern, instead, text)
    return sorted(set(text.split("\n")))


@pytest.mark.extended
@pytest.mark.slow
@pytest.mark.timeout(600)  # each step waits up to 90 s for the shell
@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.skipif(
    shutil.which("tsc", path="/usr/local/bin:/usr/bin:/bin") is not None, reason="types would be checked"
)
def test_replaying_the_session_gives_the_recorded_output(recorded: Cast, tmp_path: Path) -> None:
    today = played(tmp_path)
    assert [part.label for part in today.parts()] == [step.label for step in STEPS]
    for then, now in zip(recorded.parts(), today.parts(), strict=True):
        assert then.label == now.label, "record the session again: make record"
        assert without_times(now.output) == without_times(then.output), "record the session again: make record"
    assert not any(str(tmp_path) in part.output for part in today.parts())


def test_the_page_is_made_from_the_recording(recorded: Cast) -> None:
    assert (DOCS / "session.md").read_text(encoding="utf-8") == page(recorded)


def test_the_picture_shows_the_error_and_loads_nothing_remote(recorded: Cast) -> None:
    for drawn in ((DOCS / "session.svg").read_text(encoding="utf-8"), picture(recorded)):
        text = "".join(ET.fromstring(drawn).itertext()).replace("\xa0", " ")
        for line in (part for step in (2, 3) for part in shown(recorded.parts()[step].output)):
            assert all(word in text for word in line.split())
        assert "http" not in drawn.replace("http://www.w3.org/2000/svg", "").replace("https://www.textualize.io", "")


def test_the_recording_is_an_asciicast_without_details_of_the_machine(recorded: Cast) -> None:
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


def test_text_that_the_terminal_erased_is_not_shown() -> None:
    output = "one\r\n\x1b[32mloading 10 %\x1b[0m\r\x1b[2Kdone\r\nlost\x1b[2K\r\r\n$ "
    assert shown(output) == ["one", "done"]
    cast = Cast("t", [Event(0, "o", "$ "), Event(1, "m", "a"), Event(2, "o", "b"), Event(3, "o", "c")])
    (part,) = cast.parts()
    assert (part.label, part.output) == ("a", "bc")


def test_a_save_replaces_exactly_one_match(tmp_path: Path) -> None:
    (tmp_path / "a.ts").write_text("x y y")
    save(tmp_path / "a.ts", "x", "z")
    assert (tmp_path / "a.ts").read_text() == "z y y"
    for before in ("y", "gone"):
        with pytest.raises(ValueError, match="exactly once"):
            save(tmp_path / "a.ts", before, "")
    assert [path.name for path in tmp_path.iterdir()] == ["a.ts"]
