"""The folder of a new artifact: of a skill, of a tool in C, of what exists."""

from cortex_skills.features.artifacts.scaffold.built_project import BuiltFrom, built_project
from cortex_skills.features.artifacts.scaffold.new_projects import package_project, wasm_project

__all__ = ["BuiltFrom", "built_project", "package_project", "wasm_project"]
