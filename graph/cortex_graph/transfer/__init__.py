"""Graphs as files, and from one store to another: import, export, backup, restore, copy."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cortex_graph.transfer.backup import Backup, back_up, read_backup
    from cortex_graph.transfer.copying import Copied, copy_store
    from cortex_graph.transfer.exporting import export_rdf
    from cortex_graph.transfer.formats import FORMATS
    from cortex_graph.transfer.hashing import Digest, digest_of
    from cortex_graph.transfer.importing import Imported, import_file, import_rdf
    from cortex_graph.transfer.progress import Progress
    from cortex_graph.transfer.restoring import restore

__all__ = [
    "FORMATS",
    "Backup",
    "Copied",
    "Digest",
    "Imported",
    "Progress",
    "back_up",
    "copy_store",
    "digest_of",
    "export_rdf",
    "import_file",
    "import_rdf",
    "read_backup",
    "restore",
]

# Imported when it is first used: the process that reads a file starts for each, and needs none of it.
_LAZY = {
    "Backup": "backup",
    "Copied": "copying",
    "Digest": "hashing",
    "FORMATS": "formats",
    "Imported": "importing",
    "Progress": "progress",
    "back_up": "backup",
    "copy_store": "copying",
    "digest_of": "hashing",
    "export_rdf": "exporting",
    "import_file": "importing",
    "import_rdf": "importing",
    "read_backup": "backup",
    "restore": "restoring",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
