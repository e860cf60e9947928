"""The folder of a new skill: its content, and writing it to disk."""
