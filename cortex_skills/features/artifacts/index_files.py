"""`/artifacts/…`: the artifacts that are active here, as an index for others, where `artifacts.serveIndex` is on.

Rules kept here:
- the files are those of `artifact_index.making`, beside the folder of installed artifacts: the switch opens them to
  every client that reaches the server, without a token, and nothing else;
- an artifact is listed while it is active, with the bytes that were installed; a change of what is active makes the
  next snapshot, at the next request. A snapshot is made again at half of its time;
- `index.json` is asked for again each time (ETag); the other files have their hash in their name and never change.
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from hashlib import sha256
from pathlib import Path

from starlette.datastructures import Headers
from starlette.responses import FileResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from cortex_skills.config.settings import Config
from cortex_skills.doors.http.http_errors import HttpError, method_not_allowed
from cortex_skills.doors.http.middleware.response_headers import OWN_HEADERS
from cortex_skills.errors import CortexError
from cortex_skills.features.artifacts.artifact_settings import ArtifactSettings
from cortex_skills.features.artifacts.index.index_document import FIRST_PAGE
from cortex_skills.features.artifacts.index.making import MadeIndex, build_index, read_folder
from cortex_skills.features.artifacts.installed import InstalledArtifacts, installed_in
from cortex_skills.keys.folder import signing_key
from cortex_skills.safe_io.private_files import make_private_folder

PREFIX = "/artifacts"
LASTS = timedelta(days=7)

_FILE = re.compile(r"index\.json|pages/[0-9a-f]{64}\.json|artifacts/[A-Za-z0-9_+-][A-Za-z0-9._+-]*\.palyra-skill")
_READ = ("GET", "HEAD")

log = logging.getLogger(__name__)


def index_routes(config: Config) -> list[Route]:
    """The route of the files, if they are served."""
    if not config.section(ArtifactSettings).serve_index:
        return []
    return [Route(f"{PREFIX}/{{file:path}}", endpoint=_IndexFiles(), include_in_schema=False)]


class ServedIndex:
    """The index of what is installed, in a folder."""

    def __init__(self, installed: InstalledArtifacts) -> None:
        place = installed.files.folder
        self.folder = place.with_name(f"{place.name}.index")
        self._installed = installed
        self._made: MadeIndex | None = None
        self._revision = ""
        self._turn = threading.Lock()

    def update(self, now: datetime) -> None:
        """Make the next snapshot, if what is active has changed or half of the time has passed.

        Raises:
            CortexError: an artifact or the last snapshot cannot be read; `index_unavailable`: nothing can be written.
            GraphError: the store cannot be read.
        """
        with self._turn:
            revision = self._installed.revision()
            if self._made is not None and revision == self._revision and not _is_old(self._made, now):
                return
            active = [each for each in self._installed.list() if self._installed.runs(each)]
            try:
                made = read_folder(self.folder)
                if made is None or _is_old(made, now) or _listed(made) != {each.key.payload_sha256 for each in active}:
                    for folder in (self.folder.parent, self.folder):
                        make_private_folder(folder)
                    key = signing_key(self._installed.config)
                    made = build_index(self._contents(), self.folder, key=key, publisher=key.name, now=now, lasts=LASTS)
            except OSError as error:
                log.error("the index of artifacts cannot be written to %s: %s", self.folder, error.strerror)
                raise CortexError("index_unavailable", "the index cannot be written", hint="see the log") from error
            self._made, self._revision = made, revision

    def _contents(self) -> Iterator[bytes]:
        """The active artifacts, as they were installed."""
        for each in self._installed.list():
            if self._installed.runs(each):
                yield self._installed.read(each)


class _IndexFiles:
    """The files of the index (ASGI)."""

    def __init__(self) -> None:
        self._served: ServedIndex | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] not in _READ:
            raise method_not_allowed(scope["method"], ", ".join(_READ))
        name: str = scope["path_params"]["file"]
        if not _FILE.fullmatch(name):
            raise HttpError("not_found", "the index has no such file", hint=f"its first page is {PREFIX}/{FIRST_PAGE}")
        service = scope["app"].state.service
        served = self._served = self._served or ServedIndex(service.plugin.part(installed_in))
        answer: ASGIApp = await service.pools["slow"].run(partial(_answer, served, name, Headers(scope=scope)))
        scope[OWN_HEADERS] = {
            "cache-control": "no-cache" if name == FIRST_PAGE else "public, max-age=31536000, immutable"
        }
        await answer(scope, receive, send)


def _answer(served: ServedIndex, name: str, headers: Headers) -> ASGIApp:
    if name == FIRST_PAGE:
        served.update(datetime.now(UTC))
    path = served.folder / name
    try:
        tag = f'"{sha256(path.read_bytes()).hexdigest()}"' if name == FIRST_PAGE else f'"{Path(name).stem[-64:]}"'
        state = path.stat()
    except OSError:
        raise HttpError("not_found", "the index has no such file", hint="read its first page again") from None
    if tag in [each.strip().removeprefix("W/") for each in headers.get("if-none-match", "").split(",")]:
        return Response(status_code=304, headers={"etag": tag})
    media = "application/json" if name.endswith(".json") else "application/octet-stream"
    return FileResponse(path, media_type=media, stat_result=state, headers={"etag": tag})


def _listed(made: MadeIndex) -> set[str]:
    return {entry.payload_sha256 for entry in made.entries}


def _is_old(made: MadeIndex, now: datetime) -> bool:
    page = made.page
    middle = (page.generated_at_unix_ms + page.expires_at_unix_ms) / 2000
    return now.timestamp() >= middle
