"""The RDF files that tests load into their graphs.

Rules kept here:
- a file is read once, by `import_rdf`, and its statements are reused by each test that loads it: reading starts a
  process, whose time must not count for a test;
- an error in a file is reported by the test that loads it.
"""

from __future__ import annotations

from collections.abc import Iterable
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from cortex_graph import NamespacedGraph, import_rdf
from cortex_graph.store import Pattern
from cortex_skills.config.open_graph import open_graph
from cortex_skills.config.settings import Config
from cortex_skills.errors import CortexError, as_ours
from cortex_skills.skill_folder.resources import list_resources, read_resource

if TYPE_CHECKING:
    from pyoxigraph import Quad

_FORMATS = {".ttl": "turtle", ".nt": "n-triples", ".rdf": "rdf-xml", ".jsonld": "json-ld"}


class Seeds:
    """The RDF files in the folder of one skill, as statements.

    Args:
        config: of the tests.
        folder: of the skill.
    """

    def __init__(self, config: Config, folder: Path) -> None:
        self._config = config
        self._folder = folder
        self._read: dict[str, list[Quad] | CortexError] = {}

    def prepare(self, texts: Iterable[str]) -> None:
        """Read the files whose names occur in these texts."""
        every = "\n".join(texts)
        for resource in list_resources(self._folder):
            if PurePosixPath(resource.path).suffix.lower() in _FORMATS and PurePosixPath(resource.path).name in every:
                self._statements(resource.path)

    def load(self, graph: NamespacedGraph, file: str) -> int:
        """Load a file into a graph. Returns the number of statements.

        Raises:
            CortexError: it cannot be read, or is not RDF.
        """
        found = self._statements(file)
        if isinstance(found, CortexError):
            raise found.with_traceback(None)
        graph.index.forget_completeness()
        graph.store.bulk_insert(found)
        return len(found)

    def _statements(self, file: str) -> list[Quad] | CortexError:
        if file not in self._read:
            try:
                self._read[file] = self._converted(file)
            except Exception as error:
                self._read[file] = as_ours(f"reading {file}", error)
        return self._read[file]

    def _converted(self, file: str) -> list[Quad]:
        data = read_resource(self._folder, file)
        form = _FORMATS.get(PurePosixPath(file).suffix.lower())
        if form is None:
            hint = f"use a file with the extension {', '.join(_FORMATS)}"
            raise CortexError("invalid_arguments", f"{file} is not an RDF file", hint=hint)
        graph = open_graph(self._config)
        try:
            import_rdf(graph, BytesIO(data), form)
            return list(graph.store.quads(Pattern(graph.names.graph)))
        finally:
            graph.store.close()
