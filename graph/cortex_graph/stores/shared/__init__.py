"""One data folder for several processes: one of them owns it, the others send it their requests."""

from cortex_graph.stores.shared.shared_store import open_shared

__all__ = ["open_shared"]
