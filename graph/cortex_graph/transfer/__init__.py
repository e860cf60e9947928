"""Import, export, backup, restore and copy of graphs."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cortex_graph.transfer.backup import Backup, back_up, read_backup
    from cortex_graph.transfer.canonical_hash import Digest, digest_of
    from cortex_graph.transfer.checking import CheckedStore, check
    from cortex_graph.transfer.copying import CopyResult, copy_store
    from cortex_graph.transfer.exporting import export_rdf
    from cortex_graph.transfer.formats import FORMATS
    from cortex_graph.transfer.importing import ImportResult, import_file, import_rdf
    from cortex_graph.transfer.progress import Progress
    from cortex_graph.transfer.restoring import restore

__all__ = [
    "FORMATS",
    "Backup",
    "CheckedStore",
    "CopyResult",
    "Digest",
    "ImportResult",
    "Progress",
    "back_up",
    "check",
    "copy_store",
    "digest_of",
    "export_rdf",
    "import_file",
    "import_rdf",
    "read_backup",
    "restore",
]

# Imported at the first use: the process that reads a file needs none of these modules.
_MODULES = {
    "backup": ("Backup", "back_up", "read_backup"),
    "canonical_hash": ("Digest", "digest_of"),
    "checking": ("CheckedStore", "check"),
    "copying": ("CopyResult", "copy_store"),
    "exporting": ("export_rdf",),
    "formats": ("FORMATS",),
    "importing": ("ImportResult", "import_file", "import_rdf"),
    "progress": ("Progress",),
    "restoring": ("restore",),
}
_LAZY = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
