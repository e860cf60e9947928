"""A new skill's folder: what is in it, and how it comes onto the disk."""

from cortex_skills.scaffold.content import Plan, files_of
from cortex_skills.scaffold.writing import write_folder

__all__ = ["Plan", "files_of", "write_folder"]
