"""The names of other systems for what the registry does, one file each.

A dialect is pure functions between the names of another system and those of an operation. It lists each member that the
system has, with where it is kept here, or why it is not; `tests/registry/test_dialects.py` compares the lists with what
the interfaces accept and answer.
"""
