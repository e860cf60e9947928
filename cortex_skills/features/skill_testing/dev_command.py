"""`dev`: watch a skill and reload it after each save.

Rules kept here:
- a saved skill is reloaded by the rules of hot reload; errors are shown in the format of a compiler, and the previous
  version keeps answering until they are fixed;
- a skill that does not load at first is loaded as soon as it is valid;
- the graph is temporary unless `--store` names another; the first line states which;
- with `--test` the tests of a skill run after it was loaded, and after a test or its data was saved, each on its own
  graph;
- the command ends with Ctrl-C or when its output is closed, and leaves no thread, file or process behind. A signal is
  noted besides raising `KeyboardInterrupt`, which Python drops in a finaliser.
"""

from __future__ import annotations

import logging
import signal
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

import click

from cortex_skills.doors.cli.call import read_value, removed_note
from cortex_skills.doors.cli.commands import Command
from cortex_skills.doors.cli.faults import faults_of
from cortex_skills.doors.cli.options import FOLDER, SKILL, Common
from cortex_skills.doors.cli.output import style_of
from cortex_skills.doors.cli.path_types import GivenPath
from cortex_skills.doors.cli.types_option import TYPES, TypeOption
from cortex_skills.errors import CortexError
from cortex_skills.features.skill_testing.test_command import OutcomePrinter, run_tests, settings_for_tests, summary

if TYPE_CHECKING:
    from cortex_skills.lifecycle.reload.report import Rejected, Reloaded, ReloadReport
    from cortex_skills.plugin import Plugin

# Room for a query after each save; the limits of the skill itself are unchanged.
_ROOM = {"maxCallsPerMinute": 1000, "maxGraphQueries": 100_000}
_DATA = frozenset({".ttl", ".nt", ".rdf", ".jsonld"})
_ENDINGS = ("SIGINT", "SIGTERM", "SIGHUP")
FILE = GivenPath(exists=True, dir_okay=False, path_type=Path)


@click.command(cls=Command)
@click.argument("folder", type=FOLDER)
@click.option("--query", metavar="PREDICATE|JSON", help="Query after each load; as JSON, the arguments of the query.")
@click.option("--data", metavar="FILE", type=FILE, help="RDF file to import into the graph first.")
@click.option("--test", is_flag=True, help="Run the skill's tests after each save.")
@click.option("--yes-permissions", is_flag=True, help="Allow a save to add permissions to a skill.")
@TYPES
@SKILL
@click.pass_obj
def dev(
    common: Common,
    folder: Path,
    query: str | None,
    data: Path | None,
    test: bool,
    yes_permissions: bool,
    types: bool | None,
    skill: str | None,
) -> None:
    """Watch a skill, or a folder of skills, and reload it after each save.

    Shows errors with their source line, and changes of the manifest. Skills run on a temporary graph in memory, unless
    --store names another. --skills names skills that they depend on. Ctrl-C ends the command.
    """
    from cortex_skills.lifecycle.watcher import Watcher

    settings = common.settings(store=common.store or "memory:", hotReload=False, skillSandbox=_ROOM if query else None)
    with (
        _ends_on_signals(common) as ending,
        _shows_skill_logs(common),
        common.plugin(settings, [folder]) as plugin,
    ):
        where = "on a temporary graph in memory (--store URL keeps it)"
        if settings.store != "memory:":
            where = f"on the graph in {settings.store_name}"
        check = TypeOption(common, types)
        tests = _Tests(common, folder) if test else None
        session = _Session(common, plugin, folder, _arguments(query), skill, tests, check, approve=yes_permissions)
        where = f"watching {folder} {where}; Ctrl-C ends"
        session.report("watching", where, folder=str(folder), store=settings.store_name)
        if data is not None:
            from cortex_graph import import_rdf

            import_rdf(plugin.graph, data)
        for other in common.skills:  # what the skill depends on, perhaps
            common.load(plugin, other)
        session.load()
        watcher = Watcher(session.changed)
        try:
            for watched in (*common.skills, folder):
                watcher.add(watched)
            session.wait(ending)
        finally:
            watcher.stop()
            plugin.close()  # stops what is being started, so that the watcher has not to be waited for
            watcher.close()


class _Session:
    """One run of `dev`. Changes are reported on the watcher's thread."""

    def __init__(
        self,
        common: Common,
        plugin: Plugin,
        folder: Path,
        query: dict[str, Any] | None,
        skill: str | None,
        tests: _Tests | None,
        check: TypeOption,
        *,
        approve: bool,
    ) -> None:
        self._common = common
        self._plugin = plugin
        self._folder = folder
        self._query = query
        self._skill = skill
        self._tests = tests
        self._check = check
        self._approve = approve
        self._is_loaded = False
        self._last_fault = ""
        self._over = threading.Event()
        self._failure: BaseException | None = None

    def wait(self, ending: _Ending) -> None:
        """Wait until the run ends.

        Raises:
            KeyboardInterrupt: the user ended it.
            OSError: the output is closed.
        """
        while not self._over.wait(0.5) and not ending.is_noted:
            pass
        if self._failure is not None:
            raise self._failure

    def changed(self, paths: frozenset[str] | None) -> None:
        """React to saved files; None when unknown files may have changed."""
        try:
            if self._is_loaded:
                self._reload(paths)
            else:
                self.load(again=paths is not None)
        except BaseException as error:
            self._failure = error
            self._over.set()

    def load(self, *, again: bool = True) -> None:
        """Load all skills for the first time.

        Args:
            again: whether to show a fault again that was shown before.
        """
        started = time.monotonic()
        try:
            names = self._common.load(self._plugin, self._folder)
        except CortexError as error:
            if error.code == "graph_unavailable":
                raise
            if again or str(error) != self._last_fault:
                self._last_fault = str(error)
                self._show_error(error, self._folder)
                self.report("waiting", "waiting for a save that fixes it")
            return
        self._is_loaded = True
        for name in names:
            skill = self._plugin.skills[name]
            hooks = sorted(skill.runtime.hooks) if skill.runtime else []
            message = f"loaded {name} {skill.semantic.skill_version}, exports {', '.join(hooks) or 'no hooks'}"
            self.report("loaded", message, started, name=name, version=skill.semantic.skill_version, hooks=hooks)
        self._ask(names)
        self._check_types(names)
        self._test(names)

    def report(self, event: str, message: str, started: float | None = None, **facts: Any) -> None:
        """Write one line; with `--json` one document."""
        out = self._common.out
        if started is not None:
            facts["milliseconds"] = round((time.monotonic() - started) * 1000)
            message += f" ({facts['milliseconds']} ms)"
        if out.as_json:
            out.document({"event": event, **facts})
        else:
            out.line(f"{time.strftime('%H:%M:%S')} ", (message, style_of("warn" if event == "rejected" else "")))

    def _reload(self, paths: frozenset[str] | None) -> None:
        started = time.monotonic()
        # A rejected skill is reported after each save of it, not after saves of other skills.
        done = self._plugin.reload(paths=paths, approve=self._approve, retry=paths is not None)
        self._show(done, started)
        names = [item.name for item in (*done.reloaded, *done.loaded)]
        self._ask(names)
        names += self._tested_by(paths or (), names) if self._tests is not None else []
        self._check_types(names)
        self._test(names)

    def _tested_by(self, paths: Collection[str], but: Collection[str]) -> list[str]:
        """The skills of which a test, or the data of a test, was saved."""
        from cortex_skills.skill_folder.snapshot import is_test_file

        folders = {name: skill.folder for name, skill in self._plugin.skills.items() if name not in but}
        saved = [Path(path) for path in paths if is_test_file(path) or Path(path).suffix in _DATA]
        return [name for name, folder in folders.items() if any(path.is_relative_to(folder) for path in saved)]

    def _check_types(self, names: list[str]) -> None:
        """Show the type errors of skills, which answer all the same."""
        for name in names:
            folder = self._plugin.skills[name].folder
            if error := self._check.error_of(folder, tests=self._tests is not None):
                self._show_error(error, folder)

    def _test(self, names: list[str]) -> None:
        for name in names if self._tests is not None else ():
            if self._tests is not None and self._skill in (None, name):
                self._tests.run(self, self._plugin.skills[name].folder)

    # --- what is shown

    def _show(self, report: ReloadReport, started: float) -> None:
        for word, items in (("reloaded", report.reloaded), ("loaded", report.loaded)):
            for item in items:
                self._show_reloaded(word, item, started)
        for name in report.restored:
            self.report("restored", f"{name} answers again", name=name)
        shown: set[str] = set()
        for rejected in report.rejected:  # a fault of a group of skills is shown once
            self._show_rejected(rejected, fully=str(rejected.error) not in shown)
            shown.add(str(rejected.error))

    def _show_reloaded(self, word: str, item: Reloaded, started: float) -> None:
        files = ", ".join(item.files)
        what = f"{word} {item.name} {item.version}" + (f": {files}" if files else "")
        self.report(word, what, started, **item.to_json())
        if not self._common.out.as_json:
            for difference in item.differences:
                style = style_of("warn") if difference.security else ""
                self._common.out.line("  SKILL.md ", (str(difference), style))

    def _show_rejected(self, rejected: Rejected, *, fully: bool) -> None:
        kept = "it is not loaded" if rejected.answering is None else f"version {rejected.answering} keeps answering"
        if fully and not self._common.out.as_json:
            self._show_error(rejected.error, rejected.folder)
        self.report("rejected", f"rejected {rejected.name}: {kept}", **rejected.to_json())

    def _show_error(self, error: CortexError, folder: Path) -> None:
        faults = faults_of(error, _shown_as(folder))
        if self._common.out.as_json:
            self.report("error", "", folder=str(folder), errors=[fault.to_json() for fault in faults])
        for fault in faults if not self._common.out.as_json else ():
            fault.show(self._common.out, _shown_as(folder))

    def _ask(self, names: list[str]) -> None:
        """Run the chosen query for skills that were just loaded."""
        for name in names if self._query is not None else ():
            if self._skill is not None and name != self._skill:
                continue
            started = time.monotonic()
            result = self._plugin.call("skill_graph_query", self._query or {}, skill=name)
            self.report("answer", f"{name} answers", started, name=name, **result.to_json())
            enrichment = result.details.get("enrichment", {})
            if not self._common.out.as_json:
                for line in filter(None, result.text.split("\n")):
                    self._common.out.line(f"  {line}")
                if note := removed_note(enrichment):
                    self._common.out.note(f"  {note}")
                if enrichment.get("status") == "failed":
                    failure = CortexError(enrichment["code"], enrichment["message"], details=enrichment)
                    self._common.out.error(failure)


class _Tests:
    """Runs the tests of the skills of one folder, and shows the outcomes."""

    def __init__(self, common: Common, folder: Path) -> None:
        self._common = common
        self._folder = folder
        self._config = settings_for_tests(common)

    def run(self, session: _Session, folder: Path) -> None:
        """Run the tests of the skill in this folder."""
        from cortex_skills.skill_folder.snapshot import is_skill

        out = self._common.out
        printer = OutcomePrinter(out)
        needed = tuple(self._common.skills) if is_skill(self._folder) else (*self._common.skills, self._folder)
        show = (lambda _: None) if out.as_json else (lambda outcome: printer(outcome, _shown_as(folder)))
        types = TypeOption(self._common, wanted=False)  # checked already
        report = run_tests(self._common, self._config, folder, needed, "", show, types)
        if report.outcomes:
            session.report("tested", f"{report.skill}: {summary([report])}", **report.to_json())
        else:
            session.report("tested", f"{report.skill} has no tests (write skill.test.ts)", **report.to_json())


def _shown_as(folder: Path) -> Path:
    """A folder, relative to the current folder where possible."""
    try:
        return folder.relative_to(Path.cwd())
    except (OSError, ValueError):
        return folder


def _arguments(query: str | None) -> dict[str, Any] | None:
    """The arguments of the chosen query."""
    if query is None:
        return None
    value = read_value(query)
    return value if isinstance(value, dict) else {"predicate": query, "scope": "namespace"}


class _Ending:
    """Ends the command at a signal.

    Attributes:
        is_noted: whether a signal came.
    """

    def __init__(self) -> None:
        self.is_noted = False

    def __call__(self, _: int, __: FrameType | None) -> NoReturn:
        """Handle the signal."""
        self.is_noted = True
        raise KeyboardInterrupt


@contextmanager
def _ends_on_signals(common: Common) -> Iterator[_Ending]:
    """End the block on Ctrl-C, SIGTERM and SIGHUP, without a traceback."""
    ending = _Ending()
    before: dict[signal.Signals, Any] = {}
    if threading.current_thread() is threading.main_thread():
        for number in (getattr(signal, name) for name in _ENDINGS if hasattr(signal, name)):
            if signal.getsignal(number) is not signal.SIG_IGN:  # ignored under nohup
                before[number] = signal.signal(number, ending)
    try:
        yield ending
    except KeyboardInterrupt:
        if common.out.is_terminal:
            common.out.line()  # the terminal has written ^C on this line
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _SkillLines(logging.Handler):
    """Shows what a skill logs below warning level; warnings are shown by the log itself."""

    def __init__(self, write: Callable[[str], None]) -> None:
        super().__init__(logging.INFO)
        self._write = write

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record."""
        if record.levelno < logging.WARNING:
            self._write(record.getMessage())


@contextmanager
def _shows_skill_logs(common: Common) -> Iterator[None]:
    """Show what skills log, and silence the log of rejected reloads, which are shown already."""
    skills, reloads = (
        logging.getLogger("cortex_skills.runtime.log"),
        logging.getLogger("cortex_skills.reload"),
    )
    if common.verbose or common.out.as_json:
        yield
        return
    handler, level = _SkillLines(lambda text: common.out.line(f"  {text}")), reloads.level
    skills.addHandler(handler)
    skills.setLevel(logging.INFO)
    reloads.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        skills.removeHandler(handler)
        skills.setLevel(logging.NOTSET)
        reloads.setLevel(level)
