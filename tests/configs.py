"""Configurations of the tests."""

from __future__ import annotations

from typing import Any

from cortex_skills import Config

UNSIGNED = {"requireSignature": False}


def config(**settings: Any) -> Config:
    """A configuration in which skills need no signature, unless `verification` requires one."""
    return Config(verification={**UNSIGNED, **settings.pop("verification", {})}, **settings)
