"""Runs untrusted JavaScript."""
