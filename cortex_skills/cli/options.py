"""The options that every command takes, before or after its name, and the plugin that they open.

Rules kept here:
- an option means the same before and after the command's name; the last value counts, `--skills` accumulates;
- no configuration file is searched for: the sources are `--config`, the environment and the options;
- commands open the plugin only here, so that it is always closed;
- a note reports a store that was created because none existed: its name may be misspelt.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cortex_skills.cli.output import Output

if TYPE_CHECKING:
    from cortex_skills.config.settings import Config
    from cortex_skills.plugin import Plugin

    _Choice = click.Choice[str]
else:
    _Choice = click.Choice  # generic only from click 8.2

MAX_WORD = 64  # characters of a misspelt word that are compared


class NearValueError(click.BadParameter):
    """An unknown value, folder or file; `possibilities` are the nearest valid ones."""

    def __init__(self, error: click.BadParameter, possibilities: Sequence[str]) -> None:
        super().__init__(error.message, error.ctx, error.param)
        self.possibilities = possibilities


class _SkillFolder(click.Path):
    """The folder of a skill, or a folder of skills."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path of an existing folder.

        Raises:
            NearValueError: the folder does not exist.

        """
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            raise NearValueError(error, _folders_like(Path(value))) from None


class Choice(_Choice):
    """One of a few words; the error for a misspelt one names the nearest."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The word.

        Raises:
            NearValueError: it is not one of the words.

        """
        from difflib import get_close_matches

        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            raise NearValueError(error, get_close_matches(str(value)[:MAX_WORD], self.choices)) from None


def _folders_like(path: Path) -> list[str]:
    """The folder of a file, or folders beside the path with a similar name."""
    from difflib import get_close_matches

    try:
        if path.is_file():
            return [str(path.parent)]
        names = [child.name for child in path.parent.iterdir() if child.is_dir()]
    except (OSError, ValueError):  # ValueError: the path contains a NUL
        return []
    return [str(path.with_name(name)) for name in get_close_matches(path.name, names)]


FOLDER = _SkillFolder(exists=True, file_okay=False, path_type=Path)
SKILL = click.option("--skill", metavar="NAME", help="The acting skill; needed when several are loaded.")


@dataclass
class Common:
    """The values of the common options, set while the command line is parsed.

    Attributes:
        out: where the answer is written.
        config: the YAML file.
        store: URL or folder of the graph; overrides the configuration.
        namespace: overrides the configuration.
        agent: the agent id that calls are made for.
        skills: folders of skills, in the given order.
        verbose: whether the whole log is written.

    """

    out: Output = field(default_factory=Output)
    config: Path | None = None
    store: str | None = None
    namespace: str | None = None
    agent: str | None = None
    skills: list[Path] = field(default_factory=list)
    verbose: bool = False

    def settings(self, **overrides: Any) -> Config:
        """The configuration from all its sources.

        Args:
            overrides: settings that take precedence over the options.

        Raises:
            CortexError: `config_invalid`.

        """
        from cortex_skills.config.settings import Config

        given = {"store": self.store, "agentNamespace": self.namespace} | overrides
        return Config.load(self.config, overrides={key: value for key, value in given.items() if value is not None})

    @contextmanager
    def plugin(self, config: Config | None = None, developing: Collection[Path] = ()) -> Iterator[Plugin]:
        """A plugin on the configured store, without skills.

        Args:
            config: replaces the configuration from the options.
            developing: folders of skills under development (see `Plugin.open`).

        Raises:
            CortexError: `config_invalid`, `store_locked` or `graph_unavailable`.

        """
        from cortex_skills.plugin import DEFAULT_AGENT, Plugin

        settings = config or self.settings()
        is_new = settings.store_folder is not None and not settings.store_folder.exists()
        with Plugin.open(settings, agent=self.agent or DEFAULT_AGENT, developing=developing) as plugin:
            if is_new:
                self.out.note(f"created a new store in {settings.store_name}")
            yield plugin

    @contextmanager
    def loaded(self, config: Config | None = None, *, strict: bool = True) -> Iterator[Plugin]:
        """The same, with the skills of `--skills`: all of them, or, unless `strict`, those that are in order.

        Raises:
            click.UsageError: no skill was named.
            CortexError: a skill is not in order, or none of them is, with the code of the step that refused it.

        """
        if not self.skills:
            raise click.UsageError("no skill was given: name its folder with --skills FOLDER")
        with self.plugin(config) as plugin:
            for folder in self.skills:
                self.load(plugin, folder, strict=strict)
            if not plugin.skills and not plugin.is_watching:
                raise plugin.rejected[0].error
            yield plugin

    def load(self, plugin: Plugin, folder: Path, *, strict: bool = True) -> list[str]:
        """Load a folder of skills, with a spinner on a terminal: the first load on a machine compiles the sandbox."""
        with self.out.working(f"loading {folder} (the first time on a machine takes a few seconds longer)"):
            return plugin.load(folder, strict=strict)


def common_options() -> list[click.Option]:
    """New instances of the options that every command takes."""

    def option(*names: str, keep: Callable[[Common, Any], None], **settings: Any) -> click.Option:
        def remember(context: click.Context, _: click.Parameter, value: Any) -> None:
            if value not in (None, False, ()):
                keep(context.ensure_object(Common), value)

        return CommonOption(list(names), expose_value=False, callback=remember, **settings)

    def set_json(common: Common, value: bool) -> None:
        common.out.as_json = value

    def set_verbose(common: Common, _: bool) -> None:
        common.verbose = True
        logging.getLogger().setLevel(logging.INFO)

    file = click.Path(exists=True, dir_okay=False, path_type=Path)
    return [
        option(
            "--config", metavar="FILE", type=file, keep=_setter("config"), help="The configuration file (cortex.yaml)."
        ),
        option(
            "--store",
            metavar="URL",
            keep=_setter("store"),
            help="The graph: memory:, a folder, or a server (http…, cortex:…).",
        ),
        option("--namespace", metavar="NS", keep=_setter("namespace"), help="The namespace [mayros]."),
        option("--agent", metavar="ID", keep=_keep_agent, help="The agent id of the calls [default]."),
        option(
            "--skills",
            metavar="FOLDER",
            type=FOLDER,
            multiple=True,
            keep=lambda common, folders: common.skills.extend(folders),
            help="A skill, or a folder of skills, to load. Repeatable.",
        ),
        # Eager, so that `--version --json` prints JSON.
        option("--json", is_flag=True, is_eager=True, keep=set_json, help="Answer with one JSON document."),
        option("-v", "--verbose", is_flag=True, keep=set_verbose, help="Write the log to standard error."),
    ]


class CommonOption(click.Option):
    """An option of every command; the class lets the help list these options separately."""


def _keep_agent(common: Common, value: str) -> None:
    from cortex_skills.errors import CortexError
    from cortex_skills.gate.gate import checked_agent

    try:
        common.agent = checked_agent(value)
    except CortexError as error:
        raise click.BadParameter(error.message) from None


def _setter(name: str) -> Callable[[Common, Any], None]:
    return lambda common, value: setattr(common, name, value)
