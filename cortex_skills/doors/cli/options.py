"""The options that every command takes, before or after its name, and the plugin that they open.

Rules kept here:
- an option means the same before and after the command's name; the last value counts, `--skills` accumulates;
- no configuration file is searched for: the sources are `--config`, the environment and the options;
- commands open the plugin only here, so that it is always closed;
- a command that reads creates no store: a folder without one is an error that names similar folders, since it may be
  misspelt; the user's own store is empty before the first write. A note reports a store that a write has created.
"""

from __future__ import annotations

import getpass
import logging
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cortex_skills.doors.cli.output import Output
from cortex_skills.doors.cli.path_types import GivenPath
from cortex_skills.errors import CortexError
from cortex_skills.safe_io.outside_file import OutsideFileError, read_outside

log = logging.getLogger(__name__)

if TYPE_CHECKING:
    from cortex_skills.config.settings import Config
    from cortex_skills.gate.result import Result
    from cortex_skills.operations.operation import G, Operation, R
    from cortex_skills.plugin import Plugin

    _Choice = click.Choice[str]
else:
    _Choice = click.Choice  # generic only from click 8.2


class NearValueError(click.BadParameter):
    """An unknown value, folder or file; `possibilities` are the nearest valid ones."""

    def __init__(self, error: click.BadParameter, possibilities: Sequence[str]) -> None:
        super().__init__(error.message, error.ctx, error.param)
        self.possibilities = possibilities


class _SkillFolder(GivenPath):
    """The folder of a skill, a folder of skills, or the name of a skill of the package."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path of an existing folder.

        Raises:
            NearValueError: the folder does not exist.
        """
        from cortex_skills.skill_folder.builtin import named_folder

        try:
            return super().convert(named_folder(value), param, ctx)
        except click.BadParameter as error:
            raise NearValueError(error, _folders_like(Path(value))) from None


class Choice(_Choice):
    """One of a few words; the error for a misspelt one names the nearest."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The word.

        Raises:
            NearValueError: it is not one of the words.
        """
        from cortex_graph.naming.spelling import nearest

        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            raise NearValueError(error, nearest(str(value), self.choices, 3)) from None


def _folders_like(path: Path) -> list[str]:
    """The folder of a file, or folders beside the path with a similar name."""
    from cortex_graph.naming.spelling import nearest

    try:
        if path.is_file():
            return [str(path.parent)]
        names = [child.name for child in path.parent.iterdir() if child.is_dir()]
    except (OSError, ValueError):  # ValueError: the path contains a NUL
        return []
    return [str(path.with_name(name)) for name in nearest(path.name, names, 3)]


def read_given(path: Path, most: int) -> bytes:
    """The content of a file that the user names: a regular file of at most so many bytes.

    Raises:
        CortexError: `invalid_arguments`.
    """
    try:
        return read_outside(path, most)
    except OutsideFileError as error:
        raise CortexError("invalid_arguments", f"{path} {error}", hint="give a file") from None


def holds_store(folder: Path) -> bool:
    """Whether a folder holds a store of the embedded engine; also one that may not be read, as opening it states."""
    try:
        return (folder / "CURRENT").is_file()
    except PermissionError:
        return True


def _is_missing(folder: Path) -> bool:
    try:
        return not folder.exists()
    except PermissionError:
        return False


def missing_store(folder: Path) -> CortexError:
    """The error for a folder without a store; its hint names a similar folder with one."""
    near = [each for each in _folders_like(folder) if holds_store(Path(each))]
    hint = f"did you mean {near[0]}?" if near else "name another --store; a command that writes creates one"
    return CortexError("graph_unavailable", f"there is no store in {folder}", hint=hint)


def _is_empty(folder: Path) -> bool:
    return folder.is_dir() and not any(folder.iterdir())


def user_name() -> str:
    """The name of the user, who is the owner of the store, for the audit."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a user without a name
        return "owner"


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
        as_of: the moment as of which a command reads; None for today.
        undated: whether such a command includes triples of an unknown time.
        skills: folders of skills, in the given order; those of `installed` too, when a plugin is open.
        installed: ids of installed artifacts whose skills are loaded.
        verbose: whether the whole log is written.
        serves: whether the command serves agents, so that the skills that it loads are registered.
    """

    out: Output = field(default_factory=Output)
    config: Path | None = None
    store: str | None = None
    namespace: str | None = None
    agent: str | None = None
    skills: list[Path] = field(default_factory=list)
    installed: list[str] = field(default_factory=list)
    verbose: bool = False
    serves: bool = False
    as_of: str | None = None
    undated: str = "include"

    @property
    def names_skills(self) -> bool:
        """Whether skills are to be loaded."""
        return bool(self.skills or self.installed)

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
    def plugin(
        self, config: Config | None = None, developing: Collection[Path] = (), *, reads: bool = False
    ) -> Iterator[Plugin]:
        """A plugin on the configured store, without skills.

        Args:
            config: replaces the configuration from the options.
            developing: folders of skills under development (see `Plugin.open`).
            reads: whether the command only reads, so that it creates no store.

        Raises:
            CortexError: `config_invalid`, `store_locked` or `graph_unavailable`.
        """
        from cortex_skills.audit.call_records import DEFAULT_AGENT
        from cortex_skills.plugin import Plugin

        settings = config or self.settings()
        folder = settings.store_folder
        is_new = folder is not None and _is_missing(folder)
        if reads and folder is not None and not holds_store(folder):
            self._check_place_of_store(folder, is_users=settings.is_user_store)
            settings, is_new = self.settings(store="memory:"), False
        agent = self.agent or DEFAULT_AGENT
        with Plugin.open(
            settings,
            agent=agent,
            developing=developing,
            as_of=self.as_of,
            undated=self.undated,
            registers=self.serves,
            serves=self.serves,
        ) as plugin:
            if is_new:
                self.out.note(f"created a new store in {settings.store_name}")
            self.skills += [plugin.installed_folder(skill_id) for skill_id in self.installed]
            yield plugin

    @contextmanager
    def loaded(self, config: Config | None = None, *, strict: bool = True, reads: bool = False) -> Iterator[Plugin]:
        """The same, with the skills that are named: all of them, or, unless `strict`, those that are in order.

        Raises:
            click.UsageError: no skill was named.
            CortexError: a skill is not in order, or none of them is, with the code of the step that refused it.
        """
        if not self.names_skills:
            raise click.UsageError("no skill was given: name its folder with --skills FOLDER")
        with self.plugin(config, reads=reads) as plugin:
            self.load_all(plugin, strict=strict)
            yield plugin

    def warm_up(self) -> None:
        """Compile the sandbox for this machine, if that was not done, so that the first load of a skill need not.

        It is no part of the command's work: a failure is logged, and the first load reports it.
        """
        from cortex_sandbox import Limits, SandboxError, warm_up

        settings = self.settings().skill_sandbox
        try:
            warm_up(Limits(memory_bytes=settings.memory_limit_bytes, stack_bytes=settings.max_stack_size_bytes))
        except SandboxError as error:
            log.warning("%s", error.message)

    def call(self, plugin: Plugin, tool: str, arguments: Any, skill: str | None) -> Result:
        """Call a tool on behalf of the agent of the options; the audit names the command line as the interface."""
        from cortex_skills.audit.call_records import DEFAULT_AGENT
        from cortex_skills.operations.caller import Caller
        from cortex_skills.tokens import PERMISSIONS
        from cortex_skills.tools.base import CALLER

        calling = CALLER.set(Caller(self.agent or DEFAULT_AGENT, "agent", "command", frozenset(PERMISSIONS)))
        try:
            return plugin.call(tool, arguments, skill=skill)
        finally:
            CALLER.reset(calling)

    def operate(self, operation: Operation[G, R], **given: Any) -> R:
        """Run an operation that concerns this installation, as its owner; no store is opened.

        Args:
            operation: which.
            given: its arguments.

        Raises:
            CortexError: `config_invalid`, or that of the operation.
        """
        from cortex_graph import NamespacedGraph, open_store
        from cortex_skills.audit.audit_log import AuditLog
        from cortex_skills.audit.call_records import DEFAULT_AGENT
        from cortex_skills.audit.opening import open_audit
        from cortex_skills.audit.recent_calls import RecentCalls
        from cortex_skills.host import Host, Session
        from cortex_skills.operations.caller import owner
        from cortex_skills.operations.run import run
        from cortex_skills.policy.session_limits import AllLimits

        settings = self.settings()
        namespace, agent = settings.agent_namespace, self.agent or DEFAULT_AGENT
        graph = NamespacedGraph(open_store("memory:"), namespace)
        is_read = operation.effect == "reads"  # of which there is no record
        audit = AuditLog(agent, RecentCalls()) if is_read else open_audit(settings, namespace, agent, RecentCalls())
        try:
            if operation.name != "host.adopt":
                audit.check_host()
            host = Host(settings, graph, AllLimits(settings.skill_sandbox), Session(namespace, agent, ""), audit)
            return run(operation, owner(user_name(), "command", namespace), given, host)
        finally:
            audit.close()
            graph.store.close()

    def load_all(self, plugin: Plugin, *, strict: bool = True) -> None:
        """Load the skills that are named: all of them, or, unless `strict`, those that are in order.

        Raises:
            CortexError: a skill is not in order, or none of them is, with the code of the step that refused it.
        """
        for folder in self.skills:
            self.load(plugin, folder, strict=strict)
        if not plugin.skills and not plugin.is_watching:
            raise plugin.rejected[0].error

    def _check_place_of_store(self, folder: Path, *, is_users: bool) -> None:
        """A folder without a store must be empty, or the user's own, which gets a note; any other may be misspelt.

        Raises:
            CortexError: `graph_unavailable`.
        """
        if is_users:
            self.out.note(f"there is no store yet: the first write creates one in {folder}")
        if is_users or _is_empty(folder):
            return
        raise missing_store(folder)

    def load(self, plugin: Plugin, folder: Path, *, strict: bool = True) -> list[str]:
        """Load a folder of skills, with a spinner on a terminal: the first load on a machine compiles the sandbox."""
        with self.out.working(f"loading {folder} (the first time on a machine takes a few seconds longer)"):
            return plugin.load(folder, strict=strict)


def reads_as_of(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--as-of` and `--undated` to a command, whose plugin reads the graph as of that moment then."""

    def keep(context: click.Context, option: click.Parameter, value: str | None) -> None:
        if value is not None:
            setattr(context.ensure_object(Common), option.name or "", value)

    moment = click.option(
        "--as-of",
        metavar="TIME",
        callback=keep,
        expose_value=False,
        help="The graph as it was then: 2026-01-31T12:00:00Z, a date (its beginning in UTC), yesterday, 24h.",
    )
    undated = click.option(
        "--undated",
        type=Choice(["include", "exclude"]),
        callback=keep,
        expose_value=False,
        help="With --as-of: triples whose time of assertion is not known [include].",
    )
    return moment(undated(command))


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

    file = GivenPath(exists=True, dir_okay=False, path_type=Path)
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
            help="A skill, a folder of skills, or notebook, to load. Repeatable.",
        ),
        option(
            "--installed",
            metavar="ID",
            multiple=True,
            keep=lambda common, ids: common.installed.extend(ids),
            help="An installed artifact whose skill to load. Repeatable.",
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
