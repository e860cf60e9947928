"""Graphs as files, and from one store to another: import, export, backup, restore, copy."""

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
