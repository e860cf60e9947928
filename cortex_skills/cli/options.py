"""The options that every command takes, before or after its name, and what they open.

Rules kept here:
- an option means the same on either side of the command's name; of two values the last one counts, `--skills` adds up;
- no file is looked for: the configuration is what `--config`, the environment and the options say;
- a command opens the plugin here and nowhere else, so that it is closed whatever happens;
- a store that is made because there was none is told of: its name may have been misspelt.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cortex_skills.cli.logs import write_all
from cortex_skills.cli.output import Output

if TYPE_CHECKING:
    from cortex_skills.config import Config
    from cortex_skills.plugin import Plugin

    _Choice = click.Choice[str]
else:
    _Choice = click.Choice  # which is generic from click 8.2

MAX_WORD = 64  # what is looked at of a misspelt word


class NearValueError(click.BadParameter):
    """There is no such value, folder or file; `possibilities` are those that may have been meant."""

    def __init__(self, error: click.BadParameter, possibilities: Sequence[str]) -> None:
        super().__init__(error.message, error.ctx, error.param)
        self.possibilities = possibilities


class _SkillFolder(click.Path):
    """The folder of a skill, or of skills."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path of a folder that is there.

        Raises:
            NearValueError: there is none.

        """
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            raise NearValueError(error, _folders_like(Path(value))) from None


class Choice(_Choice):
    """One of a few words; a misspelt one is told the nearest."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The word.

        Raises:
            NearValueError: it is none of them.

        """
        from difflib import get_close_matches

        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            raise NearValueError(error, get_close_matches(str(value)[:MAX_WORD], self.choices)) from None


def _folders_like(path: Path) -> list[str]:
    """The folder of a file, or those beside a path with nearly its name."""
    from difflib import get_close_matches

    try:
        if path.is_file():
            return [str(path.parent)]
        names = [child.name for child in path.parent.iterdir() if child.is_dir()]
    except (OSError, ValueError):  # a ValueError: a path that holds a NUL
        return []
    return [str(path.with_name(name)) for name in get_close_matches(path.name, names)]


FOLDER = _SkillFolder(exists=True, file_okay=False, path_type=Path)
SKILL = click.option("--skill", metavar="NAME", help="The acting skill; needed when several are loaded.")


@dataclass
class Common:
    """What was said with the options of all commands; filled while the command line is read.

    Attributes:
        out: where the answer goes.
        config: the YAML file.
        store: the graph; overrides the configuration.
        namespace: of the agents; overrides the configuration.
        agent: on whose behalf.
        skills: folders of skills, in the order in which they were named.
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
        """The configuration out of all its sources.

        Args:
            overrides: settings that win over the options, too.

        Raises:
            CortexError: `config_invalid`.

        """
        from cortex_skills.config import Config

        said = {"store": self.store, "agentNamespace": self.namespace} | overrides
        return Config.load(self.config, overrides={key: value for key, value in said.items() if value is not None})

    @contextmanager
    def plugin(self, config: Config | None = None, developing: Collection[Path] = ()) -> Iterator[Plugin]:
        """A plugin on the configured store, without skills.

        Args:
            config: in place of the configured one.
            developing: folders of skills that the user is writing (see `Plugin.open`).

        Raises:
            CortexError: `config_invalid`, `store_locked` or `graph_unavailable`.

        """
        from cortex_skills.plugin import DEFAULT_AGENT, Plugin

        settings = config or self.settings()
        is_new = settings.store_folder is not None and not settings.store_folder.exists()
        with Plugin.open(settings, agent=self.agent or DEFAULT_AGENT, developing=developing) as plugin:
            if is_new:
                self.out.note(f"a new store was made in {settings.store_name}")
            yield plugin

    @contextmanager
    def loaded(self, config: Config | None = None) -> Iterator[Plugin]:
        """The same, with the skills of `--skills`.

        Raises:
            click.UsageError: no skill was named.
            CortexError: a skill is not in order, with the code of the step that refused it.

        """
        if not self.skills:
            raise click.UsageError("no skill is named: give its folder with --skills FOLDER")
        with self.plugin(config) as plugin:
            for folder in self.skills:
                self.load(plugin, folder)
            yield plugin

    def load(self, plugin: Plugin, folder: Path) -> list[str]:
        """Load a folder of skills, and say so on a terminal: the first time on a machine the guests are compiled."""
        with self.out.working(f"loading {folder} (the first time on a machine takes some seconds more)"):
            return plugin.load(folder)


def common_options() -> list[click.Option]:
    """The options of all commands, made anew for each."""

    def option(*names: str, keep: Callable[[Common, Any], None], **settings: Any) -> click.Option:
        def remember(context: click.Context, _: click.Parameter, value: Any) -> None:
            if value not in (None, False, ()):
                keep(context.ensure_object(Common), value)

        return CommonOption(list(names), expose_value=False, callback=remember, **settings)

    def set_json(common: Common, value: bool) -> None:
        common.out.as_json = value

    def set_verbose(common: Common, _: bool) -> None:
        write_all(common)

    file = click.Path(exists=True, dir_okay=False, path_type=Path)
    return [
        option("--config", metavar="FILE", type=file, keep=_setter("config"), help="The settings (cortex.yaml)."),
        option(
            "--store",
            metavar="URL",
            keep=_setter("store"),
            help="The graph: memory:, a folder, or a server (http…, cortex:…).",
        ),
        option("--namespace", metavar="NS", keep=_setter("namespace"), help="The namespace [mayros]."),
        option("--agent", metavar="ID", keep=_keep_agent, help="On whose behalf [default]."),
        option(
            "--skills",
            metavar="FOLDER",
            type=FOLDER,
            multiple=True,
            keep=lambda common, folders: common.skills.extend(folders),
            help="A skill, or a folder of skills, to load; may be given again.",
        ),
        # Eager, so that `--version --json` is JSON as well.
        option("--json", is_flag=True, is_eager=True, keep=set_json, help="Answer with one JSON document."),
        option("-v", "--verbose", is_flag=True, keep=set_verbose, help="Write the log to standard error."),
    ]


class CommonOption(click.Option):
    """An option of all commands; a class of its own, so that the help lists them apart."""


def _keep_agent(common: Common, value: str) -> None:
    from cortex_skills.errors import CortexError
    from cortex_skills.gate import checked_agent

    try:
        common.agent = checked_agent(value)
    except CortexError as error:
        raise click.BadParameter(error.message) from None


def _setter(name: str) -> Callable[[Common, Any], None]:
    return lambda common, value: setattr(common, name, value)
