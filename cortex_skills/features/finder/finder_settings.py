"""The settings of the feature: `finder`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cortex_skills.config.setting import PUBLIC, setting


@dataclass(frozen=True, slots=True)
class FinderSettings:
    """How skills and memories are found."""

    embedder: Literal["none", "local", "http", "fastembed"] = setting(
        "none",
        "What finds by meaning: none for words alone, local for vectors on this machine, http for a server, "
        "fastembed for a model in ONNX.",
    )
    endpoint: str = setting(
        "",
        "For http: the address of an OpenAI-compatible server, with /v1.",
        maxLength=2048,
        pattern=r"^(https?://[^\s@]+)?$",
    )
    model: str = setting("", "The model that the server, or fastembed, embeds with.", maxLength=256)
    folder: str = setting(
        "",
        "For fastembed: the folder with the files of the model; empty to download it once.",
        path=PUBLIC,
        maxLength=4096,
    )
    key_variable: str = setting(
        "",
        "For http: the environment variable that has the key of the server; empty for none.",
        pattern="^([A-Za-z_][A-Za-z0-9_]*)?$",
        maxLength=128,
    )
