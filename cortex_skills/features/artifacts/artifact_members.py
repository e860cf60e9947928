"""What the feature `artifacts` adds to a plugin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cortex_skills.features.artifacts.installed import installed_in
from cortex_skills.plugin import Plugin

if TYPE_CHECKING:
    from cortex_skills.features.artifacts.installed import InstalledArtifacts


class ArtifactMembers(Plugin):
    """The installed artifacts, and the messages that they deliver."""

    @property
    def installed(self) -> InstalledArtifacts:
        """The installed artifacts of the namespace. A host does not pass this on to an agent."""
        return self.part(installed_in)

    def deliver(self, channel: str, message: bytes | str, *, agent: str | None = None) -> None:
        """Deliver a message of the host with the installed artifact to which the owner gave a channel.

        Args:
            channel: its name in `artifacts.channels`, where it is `artifact:SKILL_ID`.
            message: bytes, or a text.
            agent: on whose behalf.

        Raises:
            CortexError: `invalid_arguments`: no artifact delivers the channel; `action_failed` and the errors of a
                call: the artifact did not deliver it.
        """
        from cortex_skills.features.artifacts.tools.artifact_calls import ArtifactCalls

        data = message.encode() if isinstance(message, str) else message
        self.part(ArtifactCalls).deliver(channel, data, agent or self.agent)
