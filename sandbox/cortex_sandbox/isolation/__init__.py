"""Sandboxes in worker processes that the Linux kernel confines."""

from cortex_sandbox.isolation.process_sandbox import ProcessSandbox, protections
from cortex_sandbox.isolation.protection import Protection

__all__ = ["ProcessSandbox", "Protection", "protections"]
