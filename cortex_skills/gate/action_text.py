"""The outputs of an action as a model reads them.

Rules kept here:
- outputs come from files, programs and servers, which anybody may have written: lines and texts with an instruction to
  a model are removed and counted, in the text and in the details alike;
- a text of several lines stands between two lines with a mark that is drawn for each answer, so that no text closes it;
  everything else is one line of JSON.
"""

from __future__ import annotations

from typing import Any

from cortex_skills.actions.manifest import ActionManifest
from cortex_skills.enrichment.policy import Policy
from cortex_skills.registry.model_text import between_marks, cleaned_body
from cortex_skills.safe_io.display import json_text
from cortex_skills.tools import Outcome

_ANY_INSTRUCTION = frozenset({None})


def text_for_model(manifest: ActionManifest, outputs: dict[str, Any], policy: Policy) -> Outcome:
    """The outcome of an action that ran."""
    cleaner = _Cleaner(policy)
    cleaned = {name: cleaner.clean(value) for name, value in outputs.items()}
    long = {name: text for name, text in cleaned.items() if isinstance(text, str) and "\n" in text}
    lines = [f"{manifest.id}: {json_text({name: one for name, one in cleaned.items() if name not in long})}"]
    if cleaner.removed:
        lines.append(f"({cleaner.removed} removed: not shown to a model)")
    lines += [between_marks("output", name, text) for name, text in long.items()]
    details = {"action": manifest.id, "status": "done", "outputs": cleaned, "strippedCount": cleaner.removed}
    return Outcome("\n".join(lines), details)


class _Cleaner:
    """Removes instructions, and counts what it removed."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self.removed = 0

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
        kept, removed = cleaned_body(text, _ANY_INSTRUCTION)
        self.removed += removed
        return str(self._policy.marked(kept))
