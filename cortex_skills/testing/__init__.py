"""The tests of skills: which files they are, how they are run, and how their outcome is told.

What is heavy is in the modules: this one is imported where only names are needed.
"""

from cortex_skills.testing.files import is_test_file

# The namespace of every test, whatever the host's is: a data file means the same wherever it is loaded.
NAMESPACE = "mayros"

__all__ = ["NAMESPACE", "is_test_file"]
