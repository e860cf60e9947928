"""Hooks of mkdocs: pages that are made of the code, and links to files outside `docs`.

Rules kept here:
- a page of reference is made of what the program itself uses: the command line, the settings, the OpenAPI document;
- a link to a file of the repository outside `docs` leads to the repository if `repo_url` names one, and is its text
  otherwise: the site names no repository that does not exist.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from posixpath import normpath
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
_GENERATED = "Generated from the program by `make docs`.\n"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made of the code."""
    from mkdocs.structure.files import File

    for name, text in {"commands": commands(), "settings": settings(), "rest": rest()}.items():
        files.append(File.generated(config, f"reference/{name}.md", content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Lead links that leave `docs` to the repository."""
    folder = PurePosixPath(page.file.src_uri).parent

    def replaced(found: re.Match[str]) -> str:
        target = found[3].partition("#")[0]
        if not target or ":" in target or not normpath(f"{folder}/{target}").startswith("../"):
            return found[0]
        if config.repo_url is None or found[1]:
            return found[2]
        return f"[{found[2]}]({config.repo_url}/blob/main/{normpath(f'docs/{folder}/{target}')})"

    del files
    return _LINK.sub(replaced, markdown)


def commands() -> str:
    """The commands with their arguments and options, as their help has them."""
    from cortex_skills.doors.cli.app import program

    return "\n".join(["# Options of commands\n", _GENERATED, *_command(program, click.Context(program), [])])


def _command(command: click.Command, context: click.Context, words: list[str]) -> Iterator[str]:
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            if found is not None and not found.hidden:
                yield from _command(found, click.Context(found, context, name), [*words, name])
        return
    yield f"## {' '.join(words)}\n"
    yield f"{_text(command.help or '')}\n"
    rows = [
        f"| `{'`, `'.join(option.opts)}` | {_cell(option.help or '')} |"
        for option in command.get_params(context)
        if isinstance(option, click.Option) and not option.hidden and option.help and "--help" not in option.opts
        if type(option).__name__ != "CommonOption"
    ]
    names = " ".join(each.make_metavar(context) for each in command.params if isinstance(each, click.Argument))
    yield f"    cortex-skills {' '.join([*words, names] if names else words)}\n"
    if rows:
        yield "\n".join(["| option | |", "|---|---|", *rows, ""])


def settings() -> str:
    """Every setting with its type, default and variable."""
    from cortex_skills.config.sections import declared

    lines = ["# Settings\n", _GENERATED, "| setting | default | |", "|---|---|---|"]
    for name, schema in sorted(declared().rules.items()):
        default = f"`{schema['default']!r}`" if schema.get("default") not in (None, "", []) else ""
        lines.append(f"| `{'.'.join(name)}` | {_cell(default)} | {_cell(schema.get('description', ''))} |")
    return "\n".join([*lines, ""])


def rest() -> str:
    """Every operation of the REST API with its permission and its answers."""
    from cortex_skills.doors.rest.openapi import document_of
    from cortex_skills.doors.server.app import api

    lines = ["# REST\n", _GENERATED, "The same as JSON: `/openapi.json` of a server.\n"]
    for path, methods in sorted(document_of(api())["paths"].items()):
        for method, operation in methods.items():
            lines.append(f"## {method.upper()} {path}\n")
            said = dict.fromkeys([operation.get("summary", ""), operation.get("description", "")])
            lines.extend(f"{_text(each)}\n" for each in said if each)
            rows = [
                f"| `{each['name']}` | {each['in']} | {_cell(each.get('description', ''))} |"
                for each in operation.get("parameters", ())
            ]
            if rows:
                lines.append("\n".join(["| parameter | in | |", "|---|---|---|", *rows, ""]))
            codes = ", ".join(f"`{code}`" for code in operation["responses"])
            lines.append(f"Answers: {codes}.\n")
    return "\n".join(lines)


def _text(text: str) -> str:
    return text.replace("<", "&lt;").strip()


def _cell(text: str) -> str:
    return _text(" ".join(text.split())).replace("|", "\\|")
