"""Fetching an index, and the artifacts that it lists, from a web server.

    index = fetch(url, SeenIndexes.of(config), trusted=…, allow_loopback=False, now=…)
    data = download(index, index.find("acme.echo"), allow_loopback=False)

Rules kept here:
- https only, at a public address (`safe_io.outbound`); this machine only where the configuration allows it
  (`actions.allowLoopback`);
- everything is below the folder of the first page on the same server; a redirect is refused, as are an encoding that
  was not asked for (a small body may expand to gigabytes) and another content type than that of JSON;
- sizes are limited before and while a body is read: 2 MiB a page, and the size that the index states for an artifact.
  30 s for an index, 180 s for an artifact; no cookies, no credentials, no proxy;
- the key is checked before contents are used, and what is remembered changes only after every page was accepted;
- an artifact has exactly the size and the hash of its entry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from hashlib import sha256
from pathlib import Path

import httpcore
import httpx

from cortex_graph.stores.http.deadline import Deadline
from cortex_skills.errors import CortexError
from cortex_skills.features.artifacts.index.fetched_index import FetchedIndex
from cortex_skills.features.artifacts.index.index_document import (
    FIRST_PAGE,
    MAX_PAGE,
    check_entries,
    read_first_page,
    read_page,
    signature_of,
)
from cortex_skills.features.artifacts.index.index_entry import IndexEntry
from cortex_skills.features.artifacts.index.index_error import invalid
from cortex_skills.features.artifacts.index.seen_indexes import SeenIndexes
from cortex_skills.features.artifacts.index.snapshot_check import KeyTrust, SeenIndex, accepted, check_key
from cortex_skills.safe_io.outbound import OutboundError, TooLongError, body, outbound_client, web_address
from cortex_skills.safe_io.schemas import shown

INDEX_S = 30.0
ARTIFACT_S = 180.0

_Get = Callable[[str, int, str], bytes]


def index_address(url: str, *, allow_loopback: bool = False) -> str:
    """The address of the first page; `index.json` is added to that of a folder.

    Args:
        url: as a person gave it.
        allow_loopback: whether http is allowed; it reaches this machine only.

    Raises:
        CortexError: `host_refused`.
    """
    hint = "give an https address; actions.allowLoopback allows http on this machine"
    try:
        address = web_address(url, allow_http=allow_loopback, hint=hint)
    except OutboundError as error:
        raise _refused(error) from None
    if address.query or address.fragment:
        raise CortexError("host_refused", f"{shown(url)} has a query or a fragment", hint="give it without them")
    if not address.path.endswith(".json"):
        address = address.copy_with(path=f"{address.path.rstrip('/')}/{FIRST_PAGE}")
    return str(address)


def fetch(
    url: str,
    seen: SeenIndexes,
    *,
    trusted: KeyTrust,
    now: datetime,
    first_use: bool = False,
    allow_loopback: bool = False,
) -> FetchedIndex:
    """Fetch an index, check it, and remember its snapshot.

    Args:
        url: the address of its first page, or of its folder.
        seen: what was accepted before.
        trusted: whether a key that was not seen is trusted; raises a `CortexError` for one that is refused.
        now: the time, with its zone.
        first_use: whether the first key of an address is trusted.
        allow_loopback: whether this machine may be read from.

    Raises:
        CortexError: `host_refused`, `index_unavailable`, `index_invalid`, `signature_invalid`, `config_invalid`.
    """
    address = index_address(url, allow_loopback=allow_loopback)
    before = seen.all().get(address)
    with _client(address, INDEX_S, allow_loopback) as get:
        data = get(FIRST_PAGE, MAX_PAGE, "json")
        check_key(signature_of(data), before, trusted, first_use=first_use)
        page = read_first_page(data)
        accepted(address, page, before, now)
        others = [read_page(get(each.address, each.bytes, "json"), each, page.snapshot) for each in page.pages]
    entries = (*page.entries, *(entry for part in others for entry in part))
    check_entries(entries)

    def remembered(latest: SeenIndex | None) -> SeenIndex:
        if latest is not None:  # another process may have accepted another key meanwhile
            check_key(page.signature, latest, trusted)
        return accepted(address, page, latest, now)

    seen.change(address, remembered)
    return FetchedIndex(address, page, entries)


def download(index: FetchedIndex, entry: IndexEntry, *, allow_loopback: bool) -> bytes:
    """The bytes of an artifact; verify them before they are used, with `entry.expected`.

    Args:
        index: where the artifact is listed.
        entry: its entry.
        allow_loopback: whether this machine may be read from.

    Raises:
        CortexError: `host_refused`, `index_unavailable`; `artifact_invalid`: the file is another one.
    """
    with _client(index.url, ARTIFACT_S, allow_loopback) as get:
        data = get(entry.artifact, entry.artifact_bytes, "artifact")
    if len(data) != entry.artifact_bytes or sha256(data).hexdigest() != entry.artifact_sha256:
        raise CortexError(
            "artifact_invalid",
            f"{entry.artifact} is not the file that the index lists for {entry.skill_id} {entry.version}",
            hint="try again later, or ask the owner of the index",
        )
    return data


def read_local(folder: Path, now: datetime) -> FetchedIndex:
    """The index in a folder of this machine, or with its first page there; nothing is remembered of it.

    Args:
        folder: the folder, or the file of the first page.
        now: the time, with its zone.

    Raises:
        CortexError: `index_invalid`, `signature_invalid`.
        OSError: it cannot be read.
    """
    from cortex_skills.features.artifacts.index.making import read_folder

    folder = folder.parent if folder.name == FIRST_PAGE else folder
    made = read_folder(folder)
    if made is None:
        raise invalid(f"there is no {FIRST_PAGE} in {folder}", hint="make one with `cortex-skills index build`")
    check_entries(made.entries)
    accepted(str(folder / FIRST_PAGE), made.page, None, now)
    return FetchedIndex(str(folder / FIRST_PAGE), made.page, made.entries)


@contextmanager
def _client(first_page: str, seconds: float, allow_loopback: bool) -> Iterator[_Get]:
    """A function that gets a file below the folder of a first page."""
    base = httpx.URL(first_page)
    deadline = Deadline(seconds)
    with outbound_client(deadline, allow_loopback=allow_loopback) as client:
        yield partial(_get, client, base, deadline)


def _get(client: httpx.Client, base: httpx.URL, deadline: Deadline, address: str, most: int, kind: str) -> bytes:
    url = base if address == FIRST_PAGE else base.join(address)
    try:
        with deadline.holds(), client.stream("GET", url) as response:
            _check_head(url, response, most, kind)
            return body(response, most)
    except OutboundError as error:
        raise _refused(error) from None
    except TooLongError:
        raise _unavailable(url, f"is larger than {most:,} bytes") from None
    except (httpx.TimeoutException, httpcore.TimeoutException):
        raise _unavailable(url, f"was not read within {deadline.seconds:g} s") from None
    except (httpx.HTTPError, UnicodeError) as error:  # UnicodeError: of a redirect to what is no host
        raise _unavailable(url, f"cannot be read: {shown(str(error)[:200])}") from None


def _check_head(url: httpx.URL, response: httpx.Response, most: int, kind: str) -> None:
    if response.is_redirect:
        raise _unavailable(url, "redirects to another address", "give the address that it redirects to")
    if response.status_code != 200:
        raise _unavailable(url, f"answers {response.status_code}")
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("", "identity"):
        raise _unavailable(url, f"is encoded with {shown(encoding)}, which was not asked for")
    media = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "json" and media != "application/json" and not media.endswith("+json"):
        raise _unavailable(url, f"is {shown(media)}, not application/json", "name the first page of an index")
    length = response.headers.get("content-length", "")
    if length.isdecimal() and int(length) > most:
        raise _unavailable(url, f"is larger than {most:,} bytes")


def _refused(error: OutboundError) -> CortexError:
    code = "host_refused" if error.code == "host_refused" else "index_unavailable"
    return CortexError(code, error.message, hint=error.hint)


def _unavailable(url: httpx.URL, what: str, hint: str = "check the address, or try again later") -> CortexError:
    return CortexError("index_unavailable", f"{url} {what}", hint=hint)
