"""Adapters for agent frameworks."""
