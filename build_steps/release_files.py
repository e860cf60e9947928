"""Makes the files by which registries and agent hosts know the MCP server, in `dist`.

Rules kept here:
- name, version, description, licence and keywords come from `pyproject.toml`; the commands start exactly that version;
- a repository is named only where `--repository OWNER/NAME` gives it. `server.json` needs one, since its name has the
  owner; the bundle and the plugin folder are made without;
- the same inputs give the same bytes.

`python -m build_steps.release_files [--repository OWNER/NAME]` writes
- `server.json` (MCP registry, schema of 2025-12-11),
- `cortex-skills.mcpb` (MCP Bundle, manifest 0.4, server of type `uv`),
- `claude-plugin/` (Claude Code: `.claude-plugin/plugin.json` and `.mcp.json`).
"""

from __future__ import annotations

import argparse
import json
import re
import tomllib
import zipfile
from pathlib import Path
from typing import Any

from build_steps.tools import ROOT

AUTHOR = {"name": "The Cortex Skills authors"}  # as in NOTICE
TITLE = "Cortex Skills"
SUMMARY = "A memory for agents that is an RDF graph: facts with their sources, notes, skills, SPARQL."
_REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9._-]{1,100}")
_FIRST_DATE = (1980, 1, 1, 0, 0, 0)  # of an entry of a ZIP archive
_README = f"""# {TITLE}

{SUMMARY}

An agent asserts facts, finds them again by words, by name or with SPARQL, and remembers notes between sessions.
Each fact keeps who asserted it, when, and in which session; one that is withdrawn stays on record.

- The server is started with `uvx`, which must be on the path; Python 3.11 or newer.
- The graph is a folder of your data folder. `CORTEX_STORE` names another folder or a SPARQL server,
  `CORTEX_AGENT_NAMESPACE` the part of the graph that agents see.
- `cortex-skills explore` shows the graph in a browser.
"""
_SETTINGS = {
    "store": ("CORTEX_STORE", "Graph", "The folder that keeps the graph, made when it is missing.", "directory"),
    "namespace": ("CORTEX_AGENT_NAMESPACE", "Namespace", "The part of the graph that agents see.", "string"),
}


def project() -> dict[str, Any]:
    """The section `project` of `pyproject.toml`."""
    found: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return found


def server_json(about: dict[str, Any], repository: str) -> dict[str, Any]:
    """The description for the MCP registry; `repository` is `OWNER/NAME` on GitHub."""
    return {
        "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        "name": f"io.github.{repository.split('/')[0]}/{about['name']}",
        "title": TITLE,
        "description": SUMMARY,
        "version": about["version"],
        "repository": {"url": f"https://github.com/{repository}", "source": "github"},
        "packages": [
            {
                "registryType": "pypi",
                "identifier": about["name"],
                "version": about["version"],
                "runtimeHint": "uvx",
                "transport": {"type": "stdio"},
                "packageArguments": [{"type": "positional", "value": "mcp"}],
                "environmentVariables": [
                    {"name": name, "description": text, "format": "filepath" if kind == "directory" else "string"}
                    for name, _, text, kind in _SETTINGS.values()
                ],
            }
        ],
    }


def bundle_manifest(about: dict[str, Any], repository: str | None) -> dict[str, Any]:
    """The `manifest.json` of the bundle, whose host brings Python and the packages."""
    return {
        "manifest_version": "0.4",
        "name": about["name"],
        "display_name": TITLE,
        "version": about["version"],
        "description": SUMMARY,
        "author": AUTHOR,
        **({"repository": {"type": "git", "url": f"https://github.com/{repository}"}} if repository else {}),
        "license": about["license"],
        "keywords": about["keywords"],
        "server": {
            "type": "uv",
            "entry_point": "server.py",
            "mcp_config": {
                "command": "uv",
                "args": ["run", "--directory", "${__dirname}", "server.py"],
                "env": {name: f"${{user_config.{key}}}" for key, (name, *_) in _SETTINGS.items()},
            },
        },
        "tools_generated": True,
        "compatibility": {"platforms": ["darwin", "linux"], "runtimes": {"python": about["requires-python"]}},
        "user_config": {
            key: {"type": kind, "title": title, "description": text, "required": False, "default": default}
            for (key, (_, title, text, kind)), default in zip(
                _SETTINGS.items(), ("${HOME}/cortex-graph", "mayros"), strict=True
            )
        },
    }


def bundle(about: dict[str, Any], repository: str | None) -> dict[str, str]:
    """The files of the bundle: path → text."""
    return {
        "manifest.json": _text(bundle_manifest(about, repository)),
        "pyproject.toml": (
            f'[project]\nname = "{about["name"]}-bundle"\nversion = "{about["version"]}"\n'
            f'requires-python = "{about["requires-python"]}"\ndependencies = ["{about["name"]}=={about["version"]}"]\n'
        ),
        "server.py": 'from cortex_skills.doors.cli import main\n\nmain(["mcp"])\n',
    }


def plugin_folder(about: dict[str, Any], repository: str | None) -> dict[str, str]:
    """The files of the plugin folder for Claude Code: path → text."""
    manifest = {
        "name": about["name"],
        "version": about["version"],
        "description": SUMMARY,
        "author": AUTHOR,
        **({"repository": f"https://github.com/{repository}"} if repository else {}),
        "license": about["license"],
        "keywords": about["keywords"],
    }
    server = {"command": "uvx", "args": [f"{about['name']}@{about['version']}", "mcp"]}
    return {
        ".claude-plugin/plugin.json": _text(manifest),
        ".mcp.json": _text({"mcpServers": {"cortex": server}}),
        "README.md": _README,
    }


def write_all(folder: Path, repository: str | None) -> list[Path]:
    """Write what can be made into a folder; the files and folders that are in it now. Raises `ValueError`."""
    if repository is not None and not _REPOSITORY.fullmatch(repository):
        raise ValueError(f"{repository!r} is not OWNER/NAME")
    about = project()
    folder.mkdir(parents=True, exist_ok=True)
    written = [folder / f"{about['name']}.mcpb", folder / "claude-plugin"]
    with zipfile.ZipFile(written[0], "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in bundle(about, repository).items():
            archive.writestr(zipfile.ZipInfo(name, _FIRST_DATE), text)
    for name, text in plugin_folder(about, repository).items():
        path = written[1] / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    if repository is not None:
        written.append(folder / "server.json")
        written[-1].write_text(_text(server_json(about, repository)), encoding="utf-8")
    return written


def _text(value: dict[str, Any]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def main() -> None:
    """Write what can be made into `dist`, and print where."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--repository", metavar="OWNER/NAME", help="the repository on GitHub; without it no server.json"
    )
    parser.add_argument("--out", type=Path, default=ROOT / "dist", metavar="FOLDER")
    given = parser.parse_args()
    try:
        for path in write_all(given.out, given.repository or None):
            print(path)  # noqa: T201
    except ValueError as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
