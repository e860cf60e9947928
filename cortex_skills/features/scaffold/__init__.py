"""The folder of a new skill: its content, and writing it to disk."""

from cortex_skills.features.scaffold.content import Plan, files_of
from cortex_skills.features.scaffold.writing import write_folder

__all__ = ["Plan", "files_of", "write_folder"]
