"""Graphs as files, and from one store to another: import, export, backup, restore, copy."""

from cortex_graph.transfer.exporting import export_rdf
from cortex_graph.transfer.formats import FORMATS
from cortex_graph.transfer.importing import Imported, import_file, import_rdf
from cortex_graph.transfer.progress import Progress

__all__ = ["FORMATS", "Imported", "Progress", "export_rdf", "import_file", "import_rdf"]
