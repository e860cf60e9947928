"""One data folder for many processes: one of them owns it, the others go through it."""

from cortex_graph.stores.shared.handle import open_shared

__all__ = ["open_shared"]
