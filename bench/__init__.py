"""Benchmarks: every figure beside a reference that runs in the same session on the same machine."""
