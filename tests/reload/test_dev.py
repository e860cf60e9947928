"""`cortex-skills dev` as a separate process: in a pipe, on a terminal, and how it ends."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests import fork_server
from tests.reload.versions import RECALL, needs, save, save_code, save_manifest, write
from tests.signals import signals_delivered

DATA = '<urn:cortex:mayros:s> <urn:cortex:mayros:p> "seeded" .\n'


class Dev:
    """A running `dev` and its lines."""

    def __init__(self, folder: Path, *words: str, scratch: Path, terminal: bool = False) -> None:
        self.scratch = scratch / "scratch"
        self.scratch.mkdir()
        environment = {**os.environ, "TMPDIR": str(self.scratch), "CORTEX_STORE": str(scratch / "store")}
        environment |= {"TERM": "xterm-256color", "COLUMNS": "200"}
        command = [fork_server.command(), "dev", str(folder), "--no-types", *words]
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        if terminal:
            pytest.importorskip("termios", reason="there are no such terminals here")
            from tests.terminal import started

            self.process, ours = started([str(word) for word in command], environment)
            self.terminal = os.fdopen(ours, "r+b", buffering=0)
            read = ours
        else:
            with signals_delivered(signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                self.process = subprocess.Popen(
                    command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL
                )
            assert self.process.stdout is not None
            read = self.process.stdout.fileno()
        self._reader = threading.Thread(target=self._read, args=(read,))
        self._reader.start()

    def _read(self, descriptor: int) -> None:
        rest = b""
        try:
            while data := os.read(descriptor, 65536):
                *lines, rest = (rest + data).split(b"\n")
                for line in lines:
                    self._lines.put(line.decode().rstrip("\r"))
        except OSError:  # the other side of the terminal is closed
            pass
        self._lines.put(None)

    def until(self, part: str) -> list[str]:
        """The lines up to the one that contains `part`."""
        lines: list[str] = []
        while True:
            line = self._lines.get(timeout=100)
            assert line is not None, (part, lines)
            lines.append(line)
            if part in line:
                return lines

    def end(self) -> tuple[int, list[str]]:
        """The exit code when it has ended, and the remaining lines."""
        code = self.process.wait(100)
        self._reader.join(100)
        rest = []
        while (line := self._lines.get(timeout=100)) is not None:
            rest.append(line)
        return code, rest

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self._reader.join(100)
        for file in (self.process.stdout, getattr(self, "terminal", None)):
            if file is not None:
                file.close()


@pytest.fixture
def dev(tmp_path: Path) -> Iterator[Callable[..., Dev]]:
    started: list[Dev] = []

    def start(folder: Path, *words: str, terminal: bool = False) -> Dev:
        started.append(Dev(folder, *words, scratch=tmp_path, terminal=terminal))
        return started[-1]

    yield start
    for process in started:
        process.close()


def test_saves_are_shown_with_errors_and_differences(dev: Callable[..., Dev], skills: Path, tmp_path: Path) -> None:
    folder = write(skills / "kyc", 1)
    (tmp_path / "data.nt").write_text(DATA)
    running = dev(folder, "--query", "p", "--data", str(tmp_path / "data.nt"))
    first = running.until("loaded kyc 1.2.3, exports onQuery")
    assert first[0].endswith(f"watching {folder} on a temporary graph in memory (--store URL keeps it); Ctrl-C ends")
    assert running.until('{"version":1}')[1:3] == ["  1 triple found:", '  mayros:s mayros:p "seeded"']

    save_code(folder, 2)
    running.until("reloaded kyc 1.2.3: skill.ts")
    running.until('{"version":2}')

    save(folder / "skill.ts", "export default {\n  name: 'kyc' oops\n};")
    wrong = running.until("rejected kyc: version 1.2.3 keeps answering")
    assert wrong[-4:-1] == [
        f'{folder}/skill.ts:2:15: error[transpile_error]: Expected "}}" but found "oops"',
        "  2 |   name: 'kyc' oops",
        "    |               ^",
    ]

    save_code(folder, 2)
    running.until("kyc answers again")
    save_manifest(folder, **RECALL)
    wrong = running.until("rejected kyc")
    assert any("error[permission_denied]: semantic.permissions: kyc asks for memory:recall" in line for line in wrong)
    assert any("--yes-permissions" in line for line in wrong)
    save_manifest(folder, skillVersion="1.3.0", maxQueries=5)
    assert [line[2:] for line in running.until("semantic.maxQueries")[-2:]] == [
        "SKILL.md semantic.skillVersion: was 1.2.3, is now 1.3.0",
        "SKILL.md semantic.maxQueries: was the host's limit, is now 5",
    ]

    running.process.send_signal(signal.SIGINT)
    code, rest = running.end()
    assert code == 0
    assert not any("Traceback" in line for line in rest)
    assert list(running.scratch.iterdir()) == []
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda n: n.name)
def test_each_signal_ends_it_cleanly(dev: Callable[..., Dev], skills: Path, number: signal.Signals) -> None:
    running = dev(write(skills / "kyc", 1))
    running.until("loaded kyc")
    running.process.send_signal(number)
    assert running.end() == (0, [])
    assert list(running.scratch.iterdir()) == []


# What a signal handler raises in a finaliser is dropped: https://docs.python.org/3/reference/datamodel.html#object.__del__
DROPPED = """
import signal, sys
from cortex_skills.doors.cli import main
from cortex_skills.lifecycle.watcher import Watcher

class Last:
    def __del__(self):
        signal.raise_signal(signal.{name})

def add(self, path, add=Watcher.add):
    add(self, path)
    Last()

Watcher.add = add
sys.argv[:1] = ["cortex-skills", "dev"]
sys.exit(main())
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_whose_exception_python_drops_ends_it(skills: Path, name: str) -> None:
    folder = write(skills / "kyc", 1)
    words = [fork_server.python(), "-c", DROPPED.format(name=name), str(folder), "--no-types"]
    with signals_delivered(signal.SIGINT, signal.SIGTERM):
        done = subprocess.run(words, capture_output=True, text=True, timeout=100, check=False)
    assert (done.returncode, done.stdout.count("loaded kyc")) == (0, 1)
    assert "Exception ignored" in done.stderr


def test_it_ends_at_once_though_a_skill_never_returns(dev: Callable[..., Dev], skills: Path, tmp_path: Path) -> None:
    (tmp_path / "cortex.yaml").write_text("skillSandbox: {executionTimeoutMs: 60000}\n")
    folder = write(skills / "kyc", 1)
    running = dev(folder, "--config", str(tmp_path / "cortex.yaml"))
    running.until("loaded kyc")
    save_code(folder, 2, "async onActivate() { console.log('going on'); await null; for (;;) {} },")
    save(folder / "more.ts", "export {};")
    running.process.send_signal(signal.SIGINT)
    code, rest = running.end()
    assert (code, [line for line in rest if "Traceback" in line]) == (0, [])


def test_a_skill_that_does_not_load_at_first_is_watched(dev: Callable[..., Dev], skills: Path) -> None:
    folder = write(skills / "kyc", "oops oops")
    running = dev(folder)
    lines = running.until("waiting for a save that fixes it")
    assert sum("error[transpile_error]" in line for line in lines) == 1
    save_manifest(folder, bogus=1)
    lines = running.until("waiting for a save that fixes it")
    assert any("SKILL.md:5:" in line and "semantic.bogus: unknown key" in line for line in lines)
    write(folder, 2)
    lines = running.until("loaded kyc 1.2.3")
    running.process.send_signal(signal.SIGINT)
    assert running.end() == (0, [])


def test_a_terminal_gets_colours_and_ctrl_c_ends_it(dev: Callable[..., Dev], skills: Path) -> None:
    folder = write(skills / "kyc", 1)
    running = dev(folder, terminal=True)
    running.until("loaded kyc")
    save_code(folder, "oops oops")
    lines = running.until("rejected kyc")
    assert any("\x1b[1;31merror[transpile_error]" in line for line in lines)
    running.terminal.write(b"\x03")
    code, rest = running.end()
    assert (code, [line for line in rest if "Traceback" in line or "internal_error" in line]) == (0, [])
    assert list(running.scratch.iterdir()) == []


def test_with_json_each_line_is_a_document(dev: Callable[..., Dev], skills: Path) -> None:
    folder = write(skills / "kyc", 1)
    running = dev(folder, "--json", "--yes-permissions", "--query", '{"subject": "s", "scope": "namespace"}')
    events = [json.loads(line) for line in running.until('"answer"')]
    assert [event["event"] for event in events] == ["watching", "loaded", "answer"]
    write(folder, 2, **RECALL)
    while True:  # the two files may be noticed as two saves
        events = [json.loads(line) for line in running.until('"reloaded"')]
        if any(d["message"] == "added memory:recall" for d in events[-1]["differences"]):
            break
    assert events[-1]["name"] == "kyc"
    running.process.send_signal(signal.SIGINT)
    assert running.end()[0] == 0


def test_only_the_named_skill_of_a_folder_is_queried(dev: Callable[..., Dev], skills: Path) -> None:
    write(skills / "other", 1)
    write(skills / "kyc", 1)
    running = dev(skills, "--json", "--query", "p", "--skill", "kyc")
    events = [json.loads(line) for line in running.until('"answer"')]
    save_code(skills / "other", 2)
    events += [json.loads(line) for line in running.until('"reloaded"')]
    save_code(skills / "kyc", 2)
    events += [json.loads(line) for line in running.until('"answer"')]
    asked = [(event["event"], event["name"]) for event in events if event["event"] in ("reloaded", "answer")]
    assert asked == [("answer", "kyc"), ("reloaded", "other"), ("reloaded", "kyc"), ("answer", "kyc")]
    running.process.send_signal(signal.SIGINT)
    assert running.end()[0] == 0


def test_a_closed_pipe_ends_it(dev: Callable[..., Dev], skills: Path, tmp_path: Path) -> None:
    folder = write(skills / "kyc", 1)
    with subprocess.Popen(
        [fork_server.command(), "dev", folder, "--no-types"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ},
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            while b"loaded" not in process.stdout.readline():
                pass
            process.stdout.close()
            save_code(folder, 2)
            assert process.wait(100) == 141
            assert process.stderr.read() == b""
        finally:
            process.kill()


def test_dependencies_are_loaded_and_watched(dev: Callable[..., Dev], skills: Path) -> None:
    base = write(skills / "base", 1, skillVersion="1.0.0")
    running = dev(write(skills / "kyc", 1, **needs("base")), "--skills", str(base))
    running.until("loaded kyc")
    save_code(base, 2)
    running.until("reloaded base 1.0.0: skill.ts")
    save_manifest(base, skillVersion="2.0.0")
    lines = running.until("rejected base: version 1.0.0 keeps answering")
    assert any("kyc needs base ^1.0.0, but it is at 2.0.0" in line for line in lines)
    running.process.send_signal(signal.SIGINT)
    assert running.end()[0] == 0


def test_a_named_store_is_kept(dev: Callable[..., Dev], skills: Path, tmp_path: Path) -> None:
    writing = "onActivate() { return graphClient.createTriple({ subject: 's', predicate: 'note', object: 1 }); },"
    store = tmp_path / "kept"
    running = dev(write(skills / "kyc", 1, writing), "--store", str(store))
    assert running.until("watching")[-1].endswith(f"on the graph in {store}; Ctrl-C ends")
    running.until("loaded kyc")
    running.process.send_signal(signal.SIGINT)
    assert running.end()[0] == 0
    exported = subprocess.run(
        [fork_server.command(), "graph", "export", "--store", store],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert "mayros:s mayros:note 1 ." in exported.stdout


TEST = """\
test("sees what is seeded", async (t) => {
  await t.load("seed.ttl");
  t.equal((await t.query("p")).details.total, 1);
});
"""


@pytest.mark.extended
def test_tests_run_at_each_save_of_the_skill_a_test_or_its_data(dev: Callable[..., Dev], skills: Path) -> None:
    folder = write(skills / "kyc", 1)
    save(folder / "seed.ttl", DATA)
    save(folder / "skill.test.ts", TEST)
    process = dev(folder, "--test")
    assert "ok    kyc/skill.test.ts: sees what is seeded (" in "\n".join(process.until("1 passed"))
    save_code(folder, 2)
    process.until("reloaded kyc")
    process.until("kyc: 1 passed")
    save(folder / "seed.ttl", DATA + DATA.replace('"seeded"', '"more"'))
    lines = process.until("kyc: 0 passed, 1 failed")
    assert not [line for line in lines if "reloaded" in line]
    assert [line for line in lines if "skill.test.ts:3:" in line and line.endswith("error[skill_error]: not equal")]
    save(folder / "skill.test.ts", TEST.replace("total, 1", "total, 2"))
    process.until("kyc: 1 passed")
    process.process.send_signal(signal.SIGINT)
    assert process.end()[0] == 0
