"""Signed artifacts: package, index, install, run."""
