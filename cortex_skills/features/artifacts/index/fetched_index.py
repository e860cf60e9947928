"""An index that was fetched: its address, its first page and all its entries.

Rules kept here:
- without a version the newest one is meant that was not yanked and is no pre-release; if there are pre-releases only,
  the newest of them. A version that was yanked is found only by its number;
- words are searched in ids, summaries, publishers and categories; every word has to occur.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from semantic_version import Version

from cortex_graph.naming.spelling import nearest
from cortex_skills.errors import CortexError
from cortex_skills.features.artifacts.index.index_document import FirstPage
from cortex_skills.features.artifacts.index.index_entry import IndexEntry
from cortex_skills.features.finder.words import without_accents
from cortex_skills.safe_io.schemas import shown


@dataclass(frozen=True, slots=True)
class FetchedIndex:
    """An index.

    Attributes:
        url: the address of its first page.
        page: its first page.
        entries: the entries of all pages.
    """

    url: str
    page: FirstPage
    entries: tuple[IndexEntry, ...]

    def find(self, skill_id: str, version: str | None = None) -> IndexEntry:
        """The entry of an artifact.

        Args:
            skill_id: its id.
            version: its version; None for the newest one.

        Raises:
            CortexError: `artifact_not_found`.
        """
        versions = [entry for entry in self.entries if entry.skill_id == skill_id]
        if not versions:
            near = nearest(skill_id, {entry.skill_id for entry in self.entries})
            hint = f"did you mean {near[0]}?" if near else "`cortex-skills index search` lists what it has"
            raise CortexError("artifact_not_found", f"the index has no {shown(skill_id)}", hint=hint)
        if version is not None:
            found = [entry for entry in versions if entry.version == version]
            if not found:
                hint = f"it has {', '.join(entry.version for entry in versions[-8:])}"
                raise CortexError("artifact_not_found", f"the index has no {skill_id} {shown(version)}", hint=hint)
            return found[0]
        offered = [entry for entry in versions if not entry.yanked]
        if not offered:
            raise CortexError(
                "artifact_not_found",
                f"every version of {skill_id} in the index was withdrawn",
                hint="ask its publisher; a withdrawn version is installed only by its number, with ID@VERSION",
            )
        return max(offered, key=_rank)

    def search(self, words: Iterable[str]) -> tuple[IndexEntry, ...]:
        """The newest version of each artifact in which all words occur, by id; of all artifacts without words."""
        wanted = list(map(without_accents, words))
        newest: dict[str, IndexEntry] = {}
        for entry in self.entries:
            if not entry.yanked and (entry.skill_id not in newest or _rank(entry) > _rank(newest[entry.skill_id])):
                newest[entry.skill_id] = entry
        texts = {
            skill_id: without_accents(" ".join((skill_id, entry.summary, entry.publisher, *entry.categories)))
            for skill_id, entry in newest.items()
        }
        return tuple(newest[key] for key in sorted(newest) if all(word in texts[key] for word in wanted))


def _rank(entry: IndexEntry) -> tuple[bool, tuple[object, ...]]:
    version = Version(entry.version)
    return not version.prerelease, version.precedence_key
