"""The second ring, on Linux: a sandbox in a process that the kernel confines."""

from .process_sandbox import ProcessSandbox, protections
from .protection import Protection

__all__ = ["ProcessSandbox", "Protection", "protections"]
