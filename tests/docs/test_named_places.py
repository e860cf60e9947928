"""No file names a repository, a person or an address that does not exist.

What only the owner of the repository knows is the variable `REPOSITORY` (docs/release.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tests.docs.walking import ROOT

# Each is named on purpose.
REPOSITORIES = {
    "ad-freiburg/qlever",
    "ossf/model-signing-spec",
    "snap-research/locomo",
    "tomasmarekk/Palyra",
    "w3c/rdf-canon",
    "w3c/rdf-tests",
}
OF_A_SAMPLE = {"acme/tool.git"}  # in the cases of the redaction
_REPOSITORY = re.compile(r"github\.com[/:]([A-Za-z0-9][\w-]*/[A-Za-z0-9][\w.-]*[\w])")
_ADDRESS = re.compile(r"[\w.+-]+@((?:[\w-]+\.)+(?:com|org|net|dev|io|eu|se|de))\b")
_FOLDERS = (
    "cortex_skills",
    "graph",
    "sandbox",
    "docs",
    "examples",
    "deploy",
    "build_steps",
    "bench",
    "eval",
    "sdk",
    ".github",
)
_KINDS = {".md", ".py", ".toml", ".yml", ".yaml", ".json", ".service", ".ts", ".html", ".ttl", ".cff", ""}
_LOCKED = "package-lock.json"


def texts(*folders: str) -> Iterator[tuple[Path, str]]:
    """The files of the checkout that are written by hand, with their text."""
    for place in (ROOT, *(ROOT / name for name in folders)):
        for path in sorted(place.glob("*") if place == ROOT else place.rglob("*")):
            within = path.relative_to(place).parts[:-1]
            fetched = any(part == "node_modules" or part.startswith(".") for part in within)
            if path.suffix in _KINDS and path.name != _LOCKED and not fetched and path.is_file():
                yield path, path.read_text(encoding="utf-8", errors="ignore")


def test_each_repository_that_is_named_exists() -> None:
    named = {found for _, text in texts(*_FOLDERS, "tests") for found in _REPOSITORY.findall(text)}
    assert named - OF_A_SAMPLE == REPOSITORIES


def test_each_address_of_mail_is_of_a_domain_that_is_kept_for_examples() -> None:
    named = {(path.name, domain) for path, text in texts(*_FOLDERS) for domain in _ADDRESS.findall(text)}
    assert {(name, domain) for name, domain in named if domain not in ("example.org", "example.com")} == set()


def test_what_only_the_owner_knows_is_one_variable_that_is_documented() -> None:
    assert "`REPOSITORY` is the one thing that only the owner knows" in (ROOT / "docs/release.md").read_text()
