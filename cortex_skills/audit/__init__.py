"""Audit records of calls."""
