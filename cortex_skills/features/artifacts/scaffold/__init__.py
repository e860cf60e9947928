"""The folder of a new artifact: of a skill, of a tool in C, of what exists."""

from cortex_skills.features.artifacts.scaffold.built_project import BuiltFrom, built_project
from cortex_skills.features.artifacts.scaffold.package_project import package_project
from cortex_skills.features.artifacts.scaffold.wasm_project import wasm_project

__all__ = ["BuiltFrom", "built_project", "package_project", "wasm_project"]
