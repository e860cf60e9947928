"""`registry learn`: skills of runs that a session left behind.

Rules kept here:
- without a name, and without an endpoint that words skills, the kept runs are listed and nothing is learned;
- a run is removed when a skill was learned from it, or when a model finds that there is none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cortex_skills.doors.cli.commands import Command
from cortex_skills.doors.cli.options import Common
from cortex_skills.errors import CortexError
from cortex_skills.features.registry.registry_settings import LearningSettings

if TYPE_CHECKING:
    from cortex_skills.features.registry.learning import Learned
    from cortex_skills.features.registry.session_calls import KeptRun


@click.command(cls=Command)
@click.option(
    "--name", help="What the run does, in lower-case words with hyphens; its steps are the calls as they ran."
)
@click.option("--description", help="With --name: what it does and when to use it.")
@click.option("--run", "run_id", help="The id of a run; the latest one by default.")
@click.pass_obj
def learn(common: Common, name: str | None, description: str | None, run_id: str | None) -> None:
    """Learn a skill from a run of an agent, which it left behind when its session ended.

    Runs are kept where `learning.enabled` is on. Without --name, the endpoint of the configuration words the skill
    (`learning.endpoint`); if there is none, the kept runs are listed.
    """
    from cortex_skills.features.registry import skill_changes
    from cortex_skills.features.registry.learning import ChatEndpoint, document_of_run
    from cortex_skills.features.registry.session_calls import KeptRuns, successful_calls

    with common.plugin() as plugin:
        kept = KeptRuns.of(plugin.config, plugin.graph.namespace)
        runs = [] if kept is None else kept.all()
        endpoint = ChatEndpoint.of(plugin.config.section(LearningSettings))
        if kept is None or (name is None and (endpoint is None or not runs)):
            _list(common, runs)
            return
        run = _chosen(runs, run_id)
        calls = successful_calls(run.calls, plugin.config.section(LearningSettings).min_calls)
        document = document_of_run(calls, plugin.graph.namespace, name, description, endpoint)
        if document is None:
            kept.remove(run.id)
            text = "the model found nothing that is worth repeating; the run is removed"
            common.out.answer({"learned": False, "run": run.id}, lambda: common.out.line(text))
            return
        learned = plugin.operate(skill_changes.learn, door="command", document=document, learned_in=run.learned_in)
        kept.remove(run.id)
    _show(common, learned, run)


def _chosen(runs: list[KeptRun], run_id: str | None) -> KeptRun:
    found = next((run for run in runs if run_id in (None, run.id)), None)
    if found is None:
        what = "no run is kept" if not runs else f"no kept run has the id {run_id}"
        raise CortexError("invalid_arguments", what, hint="`cortex-skills registry learn` lists the kept runs")
    return found


def _list(common: Common, runs: list[KeptRun]) -> None:
    def show() -> None:
        for run in runs:
            tools = ", ".join(dict.fromkeys(call.tool for call in run.calls))
            common.out.line(f"{run.id}  {run.time}  {run.agent}: {len(run.calls)} calls of {tools}")
        if not runs:
            common.out.line("no run is kept")

    common.out.answer([run.to_json() for run in runs], show)


def _show(common: Common, learned: Learned, run: KeptRun) -> None:
    version = learned.version
    answer = {
        "learned": True,
        "skill": str(version.key),
        "version": version.number,
        "merged": None if learned.merged is None else str(learned.merged),
        "run": run.id,
    }
    text = f"{version.key} is learned, a candidate"
    if learned.merged is not None:
        text = f"{learned.merged} is the same as {version.key}, and was merged into it: version {version.number}"
    common.out.answer(answer, lambda: common.out.line(text))
