"""The outputs of an action as a model reads them.

Rules kept here:
- outputs come from files, programs and servers, which anybody may have written: lines and texts with an instruction to
  a model are removed and counted, in the text and in the details alike;
- cleaning ends when the time of the action does: what was not judged by then is removed, and counted apart;
- a text of several lines stands between two lines with a mark that is drawn for each answer, so that no text closes it;
  everything else is one line of JSON.
"""

from __future__ import annotations

import math
from typing import Any

from cortex_skills.enrichment.policy import Policy
from cortex_skills.enrichment.text_lines import clean_lines
from cortex_skills.features.actions.manifest import ActionManifest
from cortex_skills.safe_io.display import between_marks, json_text
from cortex_skills.tools import Outcome


def text_for_model(
    manifest: ActionManifest, outputs: dict[str, Any], policy: Policy, until: float = math.inf
) -> Outcome:
    """The outcome of an action that ran.

    Args:
        manifest: of the action.
        outputs: as it returned them.
        policy: of the host.
        until: when the time of the action ends, on the clock of `time.monotonic`.
    """
    cleaner = _Cleaner(policy, until)
    cleaned = {name: cleaner.clean(value) for name, value in outputs.items()}
    long = {name: text for name, text in cleaned.items() if isinstance(text, str) and "\n" in text}
    lines = [f"{manifest.id}: {json_text({name: one for name, one in cleaned.items() if name not in long})}"]
    if cleaner.removed:
        late = f", {cleaner.not_judged} of them because no time was left to judge them" if cleaner.not_judged else ""
        lines.append(f"({cleaner.removed} removed: not shown to a model{late})")
    lines += [between_marks("output", name, text) for name, text in long.items()]
    details = {"action": manifest.id, "status": "done", "outputs": cleaned, "strippedCount": cleaner.removed}
    if cleaner.not_judged:
        details["notJudgedCount"] = cleaner.not_judged
    return Outcome("\n".join(lines), details)


class _Cleaner:
    """Removes instructions, and counts what it removed."""

    def __init__(self, policy: Policy, until: float) -> None:
        self._policy = policy
        self._until = until
        self.removed = self.not_judged = 0

    def clean(self, value: Any) -> Any:
        """A JSON value without instructions."""
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list):
            return [self.clean(item) for item in value]
        if isinstance(value, dict):
            kept = {key: item for key, item in value.items() if self._text(key) == key}
            return {key: self.clean(item) for key, item in kept.items()}
        return value

    def _text(self, text: str) -> str:
        if self._policy.drop_all_text and " " in text:
            self.removed += 1
            return ""
        cleaned = clean_lines(text, until=self._until)
        self.removed += cleaned.removed
        self.not_judged += cleaned.not_judged
        return str(self._policy.marked(cleaned.text))
