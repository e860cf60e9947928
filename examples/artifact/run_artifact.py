"""A tool in C from its source to its end: built and signed by one party, verified, installed and stopped by another.

    python examples/artifact/run_artifact.py [FOLDER]

Rules kept here:
- the publisher and the user have a home folder each; only the artifact and the name of a key pass between them;
- both only run the command line, here in one process; the tool runs in the sandbox, and reaches a server on loopback;
- what is printed was checked: a step that ends otherwise stops the script.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from cortex_skills.doors.cli.app import program

EXAMPLE = Path(__file__).parents[2] / "sdk" / "c" / "page-watch"
SKILL, TOOL, SECRET = "acme.page_watch", "acme.page_watch.check", "skill:acme.page_watch/token"
TOKEN = "s3cret-of-the-pages"  # noqa: S105 - of the server below
ASKED = {"path": "/", "subject": "page:start"}


@dataclass(frozen=True)
class Party:
    """A party with its own home folder."""

    folder: Path

    def try_to(self, *words: str, stdin: str | None = None) -> Result:
        """Run a command."""
        self.folder.mkdir(parents=True, exist_ok=True)
        home = {"XDG_DATA_HOME": self.folder / "data", "XDG_CONFIG_HOME": self.folder / "config"}
        env = {name: str(path) for name, path in home.items()} | {"CORTEX_STORE": str(self.folder / "graph")}
        return CliRunner(env=env).invoke(program, list(words), input=stdin)

    def run(self, *words: str, stdin: str | None = None) -> str:
        """Run a command that must succeed; returns its output."""
        done = self.try_to(*words, stdin=stdin)
        if done.exit_code:
            raise SystemExit(f"{self.folder.name}: cortex-skills {' '.join(words)}\n{done.stdout}{done.stderr}")
        return done.stdout.strip()

    def ask(self, *words: str) -> Any:
        """Run a command that must succeed, and answers with JSON."""
        return json.loads(self.run(*words, "--json"))


@contextmanager
def pages() -> Iterator[int]:
    """A server on loopback with one page, which needs a token; its port."""

    class Pages(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            allowed = self.headers["authorization"] == f"Bearer {TOKEN}"
            self.send_response(200 if allowed else 401)
            self.end_headers()
            self.wfile.write(b"welcome" if allowed else b"")

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def build(publisher: Party) -> Path:
    """The publisher creates a project, writes the tool, compiles it, and builds and signs the artifact."""
    project, artifact = publisher.folder / "page-watch", publisher.folder / "page-watch.palyra-skill"
    publisher.run("key", "create", "releases")
    publisher.run("package", "init", str(project), "--wasm", "--publisher", "acme")
    for name in ("tool.c", "skill.toml"):
        shutil.copy(EXAMPLE / name, project)
    (project / "modules").mkdir()
    subprocess.run([sys.executable, "-m", "ziglang", "cc", "@compile.txt"], cwd=project, check=True)
    publisher.run("package", "build", str(project), "-o", str(artifact), "--key", "releases")
    return artifact


def configure(user: Party, port: int) -> list[str]:
    """The user's settings, as options of a command."""
    settings = {
        "actions": {"trustLevel": "bounded_auto"},
        "artifacts": {"addresses": {"pages.example": f"http://127.0.0.1:{port}"}},
        "secrets": {"store": "file"},
    }
    user.folder.mkdir(parents=True, exist_ok=True)
    file = user.folder / "cortex.yaml"
    file.write_text(json.dumps(settings))  # JSON is YAML
    return ["--config", str(file)]


def refused(done: Result, code: str) -> str:
    """What a command printed that must be refused with a code."""
    if not done.exit_code or code not in done.output:
        raise SystemExit(f"not refused with {code}: {done.stdout}{done.stderr}")
    return code


def run(folder: Path, report: Callable[[str], None] = print) -> dict[str, Any]:
    """All steps; the outputs of the tool."""
    publisher, user = Party(folder / "publisher"), Party(folder / "user")
    artifact = build(publisher)
    key = publisher.run("key", "export", "releases")
    report(f"built and signed: {artifact.name}")
    with pages() as port:
        own = configure(user, port)
        unknown = user.try_to("package", "verify", str(artifact), "--json", *own)
        report(f"verified without trust: {refused(unknown, 'signature_invalid')}")
        user.run("trust", "add", "acme", key, *own)
        user.run("package", "verify", str(artifact), *own)
        report("verified by the user, who trusts the key")
        ungranted = user.try_to("install", str(artifact), "--json", *own)
        report(f"installed without an answer to what it requests: {refused(ungranted, 'grants_required')}")
        user.run("install", str(artifact), "--grant-all", *own)
        user.run("secrets", "set", SECRET, *own, stdin=TOKEN)
        report("installed, with what it requests")
        waiting = user.ask("call", TOOL, json.dumps(ASKED), *own)
        report(f"called: {waiting['details']['status']}")
        (request,) = user.ask("approvals", "list", *own)["approvals"]
        answer = user.ask("approvals", "approve", request["id"], *own)
        outputs: dict[str, Any] = answer["result"]["details"]["outputs"]
        report(f"approved, and run: {json.dumps(outputs, sort_keys=True)}")
        statement = user.run("graph", "sparql", "SELECT ?o { ?s <urn:cortex:mayros:pageStatus> ?o }", *own)
        if "200" not in statement:
            raise SystemExit(f"nothing was asserted: {statement}")
        report("asserted to the graph: pageStatus 200")
        user.run("quarantine", SKILL, "--version", "0.1.0", "--reason", "the example ends", *own)
        stopped = user.try_to("call", TOOL, json.dumps(ASKED), "--json", *own)
        report(f"called after it was quarantined: {refused(stopped, 'artifact_quarantined')}")
    return outputs


def main() -> None:
    """Run in the given folder, or in a temporary one."""
    if len(sys.argv) > 1:
        run(Path(sys.argv[1]).resolve())
        return
    with tempfile.TemporaryDirectory(prefix="artifact-") as scratch:
        run(Path(scratch))


if __name__ == "__main__":
    main()
