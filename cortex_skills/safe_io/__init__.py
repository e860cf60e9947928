"""Strict input and safe output: JSON, YAML, schemas, private files, text for display."""
