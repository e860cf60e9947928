"""What a page of the explorer is: declared once, for the routes, the navigation, the other forms and the tests.

    @dataclass(frozen=True, slots=True)
    class Greeting:
        name: str

    PAGE = ExplorerPage(
        "/explore/{namespace}/hello", "hello", "hello.html", lambda call: Greeting(call.graph.namespace),
        forms={"json": Form("application/json", lambda call: to_json({"name": call.graph.namespace}))},
    )

Rules kept here:
- a view is made by one blocking function of a checked call, which runs in a worker pool and knows no HTML;
- a page contains no policy: its caller has the permission that it declares, and reads through the graph of a namespace
  that the caller may use;
- a namespace that the caller may not use, one that cannot exist and an unknown name get the same `not_found`;
- another form is a function of the same call, so a form shows nothing that its page does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from cortex_graph.naming.names import is_namespace
from cortex_skills.cancellation import CancelToken
from cortex_skills.doors.explorer.addresses import namespace_in
from cortex_skills.doors.http.http_errors import HttpError
from cortex_skills.doors.rest.operations import ApiCall, OperationService
from cortex_skills.errors import CortexError
from cortex_skills.feature import added

if TYPE_CHECKING:
    from cortex_graph import NamespacedGraph
    from cortex_skills.doors.explorer.display import ShownText
    from cortex_skills.doors.http.auth import Principal


@dataclass(frozen=True, slots=True)
class PageCall:
    """A checked request for a page.

    Attributes:
        service: the server.
        principal: the caller, who has the permission of the page.
        query: the parameters of the query string, checked by the model of the page.
        path: the parameters of the path.
        may_run: whether a query in the address may be executed; False when the address came with a followed link.
        cancel: cancelled when the client disconnects or the server shuts down.
        languages: of the reader, the best one first.
        files: of a form that sent some, by the names of their fields.
    """

    service: OperationService
    principal: Principal
    query: Mapping[str, Any] = field(default_factory=dict)
    path: Mapping[str, str] = field(default_factory=dict)
    may_run: bool = True
    cancel: CancelToken = field(default_factory=CancelToken)
    languages: Sequence[str] = ()
    files: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def namespace(self) -> str | None:
        """The namespace in the path; None without one, or for a segment that stands for none."""
        segment = self.path.get("namespace")
        return None if segment is None else namespace_in(segment)

    @property
    def graph(self) -> NamespacedGraph:
        """The graph of the namespace in the path.

        Raises:
            HttpError: `not_found`: the caller may not use it, or it is no namespace.
        """
        namespace = self.namespace
        if namespace is None or not (is_namespace(namespace) and self.principal.may_use(namespace)):
            raise not_found("there is no such namespace, or it is not open to you")
        return self.service.graph(namespace)

    def api(self, **query: Any) -> ApiCall:
        """The call of an operation of the REST API by the same caller, in the namespace of the path."""
        if "namespace" in self.path:
            query = {"namespace": self.graph.namespace, **query}
        return ApiCall(self.service, self.principal, query, door="page", cancel=self.cancel)


@dataclass(frozen=True, slots=True)
class Form:
    """Another form of a page.

    Attributes:
        media_type: chosen by `Accept`; the name of the form in `ExplorerPage.forms` is chosen by `format=`.
        write: makes the body; an iterator is streamed, and closed at the end.
        file_type: if given, the form is sent as a file with this extension.
        headers: replace those of the server, such as the `content-security-policy` of a picture.
        example: as that of the page, where the form needs another one.
    """

    media_type: str
    write: Callable[[PageCall], bytes | Iterator[bytes]]
    file_type: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    example: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Repeated:
    """What an action does, for the page that asks for the token again: a sentence, and lines with their kinds."""

    sentence: ShownText
    lines: tuple[tuple[str, ShownText], ...] = ()


@dataclass(frozen=True, slots=True)
class Action:
    """What can be done on a page, by a form with the fields `action` and `form` (`acting.py`).

    Attributes:
        label: the word on its button.
        permission: of the caller, beside that of the page.
        run: does it, with the other fields of the form; the address to go to, below `/explore`, or a view of the page.
            Raises `Faulty` to show the page again with what was typed.
        form: what the token of the form is made for, where several actions are buttons of one form; by default the
            name of the action.
        changes: whether it changes anything, by an operation; if not, a session may do it without its token shown
            again.
        takes_away: whether it takes something away, stops or refuses it: its button is red.
        decodes: whether it gets the texts that the fields stand for (`field_text.py`); if not, it decodes parts itself.
        repeats: what it does, for the page that asks for the token again; None for the name in the path and the fields
            of the form.
    """

    label: str
    permission: str
    run: Callable[[PageCall, Mapping[str, str]], object]
    form: str = ""
    changes: bool = True
    takes_away: bool = False
    decodes: bool = True
    repeats: Callable[[PageCall, Mapping[str, str]], Repeated] | None = None


@dataclass(frozen=True, slots=True)
class ExplorerPage:
    """A page.

    Attributes:
        path: below `/explore`; parameters in braces.
        name: unique: `page` in templates, and the beginning of the names of files.
        template: a file beside its module, or in `templates`, which gets the view as `view`.
        view: makes the view, a frozen dataclass; raises `HttpError`, `CortexError`, `Redirected` or `Faulty`.
        query: the model of the query string; None for a page without parameters.
        permission: of the caller.
        is_public: whether it is among what `allowAnonymousReads` shows.
        pool: the worker pool of the page and its forms.
        forms: the other forms by name, the preferred first.
        actions: what can be done on it, by name.
        longest_form: in bytes, of a form that a session sends.
        most_fields: of it.
        longest_file: in bytes, of the one file that a form of it may send; 0 for none.
        label: in the navigation; empty for a page that is not in it.
        section: the heading there.
        keys: the keys that open it, such as `g r`.
        live: what it shows anew when that is written to while it is open; empty for nothing.
        place: its place in the navigation, and among the pages.
        example: the parameters without which it shows nothing, for the tests of all pages; `{name}` in a value is the
            name of a resource.
    """

    path: str
    name: str
    template: str
    view: Callable[[PageCall], object]
    query: Any = None
    permission: str = "read"
    is_public: bool = True
    pool: Literal["quick", "slow", "sparql"] = "quick"
    forms: Mapping[str, Form] = field(default_factory=dict)
    actions: Mapping[str, Action] = field(default_factory=dict)
    longest_form: int = 64 << 10
    most_fields: int = 40
    longest_file: int = 0
    label: str = ""
    section: str = ""
    keys: str = ""
    live: Literal["", "graph", "audit", "waiting"] = ""
    place: int = 1000
    example: Mapping[str, str] = field(default_factory=dict)


@cache
def pages() -> tuple[ExplorerPage, ...]:
    """The pages of the features, in the order of the navigation."""
    return tuple(sorted(added("pages", "PAGE"), key=lambda page: page.place))


class Redirected(Exception):
    """A view at another address; a path below `/explore`."""

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self.address = address


class Faulty(Exception):
    """A page that is shown with the status of an error, such as that of a query with a syntax error.

    Args:
        view: the view.
        error: whose status the page has, and which other forms get.
    """

    def __init__(self, view: object, error: CortexError | HttpError) -> None:
        super().__init__(error.message)
        self.view = view
        self.error = error


@dataclass(frozen=True, slots=True)
class Near:
    """A link to something with a similar name."""

    label: str
    href: str


def not_found(message: str, nearest: Sequence[Near] = (), hint: str = "") -> HttpError:
    """The error for what is unknown or belongs to others; the page of the error links to what is nearest."""
    details = {"nearest": [{"label": near.label, "href": near.href} for near in nearest]} if nearest else {}
    return HttpError("not_found", message, hint=hint, details=details)
