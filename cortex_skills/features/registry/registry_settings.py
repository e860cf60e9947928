"""The settings of the feature: `registry` and `learning`."""

from __future__ import annotations

from dataclasses import dataclass

from cortex_graph.naming.namespace_form import NAMESPACE
from cortex_skills.config.core_settings import user_data_folder
from cortex_skills.config.setting import PRIVATE, PUBLIC, READ_ONLY, setting


@dataclass(frozen=True, slots=True)
class RegistrySettings:
    """The folders of the skill registry, and what skills may be composed with."""

    folders: tuple[str, ...] = setting(
        (),
        "The folders of skills that are registered: a list of text; a relative one on demand only.",
        loaded=lambda: (".cortex/skills", str(user_data_folder() / "skills")),
        path=READ_ONLY,
        items={"description": "The path of a folder with skills.", "minLength": 1, "maxLength": 4096},
        maxItems=100,
    )
    import_root: str = setting(
        "", "The folder in which clients may name folders to register; empty for none.", path=PUBLIC, maxLength=4096
    )
    export_root: str = setting(
        "", "The folder in which clients may export skills; empty for none.", path=PUBLIC, maxLength=4096
    )
    reflection_namespaces: tuple[str, ...] = setting(
        (),
        "The other namespaces whose reflections a skill may be composed with: a list of text.",
        items={
            "description": "A namespace of the store.",
            "minLength": 1,
            "maxLength": 64,
            "pattern": f"^{NAMESPACE}$",
        },
        maxItems=100,
    )


@dataclass(frozen=True, slots=True)
class LearningSettings:
    """How skills are learned from the calls of agents."""

    enabled: bool = setting(
        False, "Whether redacted calls are kept while a session lasts, and become skills: true or false."
    )
    automatic: bool = setting(
        True, "Whether the server of `endpoint` words skills when a session has ended: true or false."
    )
    min_calls: int = setting(
        2, "The number of successful calls that a skill is learned from, at least.", minimum=2, maximum=200
    )
    endpoint: str = setting(
        "",
        "The address of an OpenAI-compatible server that words skills, with /v1; empty for none.",
        maxLength=2048,
        pattern=r"^(https?://[^\s@]+)?$",
    )
    model: str = setting("", "The model of that server.", maxLength=256)
    key_variable: str = setting(
        "",
        "The environment variable that has the key of that server; empty for none.",
        pattern="^([A-Za-z_][A-Za-z0-9_]*)?$",
        maxLength=128,
    )
    timeout_ms: int = setting(60_000, "How long a model may take.", minimum=100, maximum=600000)
    runs: str = setting(
        "",
        "The folder where runs wait for a name; empty for one in the user's data folder.",
        path=PRIVATE,
        maxLength=4096,
    )
