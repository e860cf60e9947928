"""`PolledIndex`: an index in memory, of what a store that does not state its changes has."""

from __future__ import annotations

from abc import ABC, abstractmethod

from cortex_skills.features.finder import index_follower
from cortex_skills.features.finder.index_follower import IndexView
from cortex_skills.features.finder.index_updates import IndexUpdates
from cortex_skills.features.finder.kept_documents import DocumentsState
from cortex_skills.features.finder.owned_documents import OwnedDocuments, OwnedText


class PolledIndex(ABC):
    """An index in memory. Safe to use from several threads.

    Args:
        contents: what is indexed, for messages.
    """

    def __init__(self, contents: str) -> None:
        self._updates = IndexUpdates(self._refresh, contents)
        self._documents = OwnedDocuments(None)
        self._changed: dict[str, OwnedText | None] = {}
        self._generation = 0

    @abstractmethod
    def changes(self) -> dict[str, OwnedText | None]:
        """What changed since the last call, by key; None for what is gone. At the first call, everything."""

    def view(self, timeout_s: float) -> IndexView:
        """The index as the graph is now.

        Raises:
            CortexError: `graph_busy`: it is being made.
        """
        with self._updates.current(timeout_s):
            return IndexView(self._documents, self._changed, "", self._generation)

    def _refresh(self) -> None:
        if changed := self.changes():
            self._changed = self._changed | changed
        if len(self._changed) > index_follower.MOVED_AT:
            self._move()

    def _move(self) -> None:
        with self._documents.writing() as writer:
            for key, text in self._changed.items():
                if text is None:
                    writer.discard(key)
                else:
                    writer.put(text)
            writer.commit(DocumentsState("read"))
        self._documents.reload()
        self._changed, self._generation = {}, self._generation + 1
