"""The error of this room."""

from __future__ import annotations

from cortex_skills.errors import CortexError


class ArtifactError(CortexError):
    """An artifact that is not valid.

    Args:
        message: what is wrong with which part.
        code: `artifact_invalid`, `manifest_invalid` (`skill.toml`) or `signature_invalid` (`signature.json`).
        hint: what to do next.
        errors: the problems of single fields, as JSON objects with `field` and `message`.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str = "artifact_invalid",
        hint: str = "",
        errors: tuple[dict[str, object], ...] = (),
    ) -> None:
        super().__init__(code, message, hint=hint, details={"errors": list(errors)} if errors else None)
