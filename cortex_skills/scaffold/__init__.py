"""The folder of a new skill, or of a tool in C: its content, and writing it to disk."""

from cortex_skills.scaffold.built_project import BuiltFrom, built_project
from cortex_skills.scaffold.content import Plan, files_of
from cortex_skills.scaffold.package_project import package_project
from cortex_skills.scaffold.wasm_project import wasm_project
from cortex_skills.scaffold.writing import write_folder

__all__ = ["BuiltFrom", "Plan", "built_project", "files_of", "package_project", "wasm_project", "write_folder"]
