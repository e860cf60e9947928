"""SVG, written element by element.

Rules kept here:
- text and attributes are escaped, and no method takes markup; so `__html__`, which the templates insert unchanged,
  contains only elements that `pictures` made;
- a picture in a page has classes of the style sheet; a picture alone has the style sheet of `STYLE`, the namespace of
  SVG, and no links: they would lead to other sites from the place where it is opened;
- a page has hundreds of elements: they are texts, since `xml.etree` takes a fifth of the time of a page.
"""

from __future__ import annotations

from functools import cache
from html import escape
from typing import Any
from xml.etree import ElementTree as ET

_NAMESPACE = "http://www.w3.org/2000/svg"
# The colours of the light theme of `src/explorer.css`.
STYLE = (
    "text{font:12.5px ui-monospace,monospace;fill:#14212b}.plot text{font:11.5px sans-serif;fill:#4f5f6a}"
    ".f-edge{fill:none;stroke:#788793;stroke-width:1.6}.f-thin{fill:none;stroke:#d9dfe3;stroke-width:1.3}.f-arrow{fill:#435460}"
    ".f-node circle{fill:#fff;stroke:#0a616c;stroke-width:2}.f-node text{fill:#0a616c}.f-pre{fill:#4f5f6a}"
    ".f-lit rect{fill:#17663d}.f-lit text{fill:#17663d}.f-pred rect{fill:#f2eaf8}.f-pred text{fill:#6a3a93}"
    ".f-focus rect{fill:#0a616c}.f-focus text{fill:#fff}.f-more text{fill:#435460}"
    ".m-edge{fill:none;stroke:#788793;stroke-width:1.3}.m-trunk{stroke-width:2.2}.m-arrow{fill:#435460}"
    ".m-name rect{fill:#fff;stroke:#f2eaf8}.m-name text{font:11.5px sans-serif;fill:#6a3a93}"
    ".m-node text{font:12px sans-serif;paint-order:stroke;stroke:#fff;stroke-width:3.5px}"
    ".m-node.root text{font:bold 13.5px sans-serif}.ring{fill:none;stroke:#0a616c;stroke-width:2.5}"
    ".mark{fill:#fff;stroke:#788793;stroke-width:2}:is(.k1,.k2,.k3,.k4,.k5,.k6,.k7) .mark{stroke:#fff}"
    ".k1 .mark{fill:#2a66b0}.k2 .mark{fill:#a83a78}.k3 .mark{fill:#806400}.k4 .mark{fill:#ad4f1f}"
    ".k5 .mark{fill:#52606c}.k6 .mark{fill:#5450b5}.k7 .mark{fill:#14212b}"
    ".b0{fill:#0a616c}.b1{fill:#a0241a}.line{fill:none;stroke:#0a616c;stroke-width:2}.grid{stroke:#d9dfe3}"
)


class Element:
    """An element of a picture.

    Args:
        tag: its name.
        attributes: as in the start tag, escaped, with a blank before each.
        text: its text, before its children.

    Attributes:
        tail: the text after its end.
    """

    __slots__ = ("_attributes", "_tag", "children", "tail", "text")

    def __init__(self, tag: str, attributes: str, text: str | None = None) -> None:
        self._tag = tag
        self._attributes = attributes
        self.text = text
        self.tail = ""
        self.children: list[Element] = []

    def markup(self) -> str:
        """The element with its children and its tail."""
        inside = "".join([child.markup() for child in self.children])
        if self.text:
            inside = escape(self.text) + inside
        tail = escape(self.tail) if self.tail else ""
        if not inside:
            return f"<{self._tag}{self._attributes}/>{tail}"
        return f"<{self._tag}{self._attributes}>{inside}</{self._tag}>{tail}"


class Svg:
    """A picture.

    Args:
        width, height: in pixels.
        summary: what it shows, one sentence that is read aloud; empty for a mark beside its words.
        kind: its class.
        has_links: whether it contains links, so that a reader of the screen enters it.
        left: the coordinate of its left edge.
        is_sized: whether it has its size in a page, too, instead of the width that there is.
        is_stretched: whether it has the width that there is and its own height, and only what `stretched` contains is
            made wider; places of the rest are percentages. So texts have one size at every width.
    """

    def __init__(
        self,
        width: float,
        height: float,
        summary: str,
        kind: str,
        *,
        has_links: bool = False,
        left: float = 0.0,
        is_sized: bool = False,
        is_stretched: bool = False,
    ) -> None:
        self.summary = summary
        self._size = {"width": _number(width), "height": _number(height)}
        self._box = f"{_number(left)} 0 {self._size['width']} {self._size['height']}"
        role = {"role": "group" if has_links else "img", "aria_label": summary} if summary else {"aria_hidden": "true"}
        box = {"width": "100%", "height": height} if is_stretched else {"viewBox": self._box}
        given = {**box, "class": kind, **role}
        self._root = Element("svg", _attributes({**given, **(self._size if is_sized else {})}))

    def add(self, tag: str, within: Element | None = None, text: str | None = None, **attributes: Any) -> Element:
        """Add an element; `_` in the names of attributes is `-`, and `class_` is `class`; None is left out."""
        element = Element(tag, _attributes(attributes), text)
        (self._root if within is None else within).children.append(element)
        return element

    def stretched(self) -> Element:
        """An element for what is made as wide as the picture, in the coordinates of the size that was given."""
        return self.add(
            "svg", viewBox=self._box, width="100%", height=float(self._size["height"]), preserveAspectRatio="none"
        )

    def __html__(self) -> str:
        """The picture as a part of a page."""
        return self._root.markup()

    def alone(self) -> bytes:
        """The picture as a file."""
        root = ET.fromstring(self.__html__())  # noqa: S314 - what this class has written
        root.attrib.update(self._size, xmlns=_NAMESPACE, role="img")
        for link in root.iter("a"):
            link.tag = "g"
            link.attrib.pop("href", None)
            link.attrib.pop("aria-label", None)
        style = ET.Element("style")
        style.text = STYLE
        root.insert(0, style)
        return b'<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode").encode()


def _attributes(given: dict[str, Any]) -> str:
    written = [
        f' {_name(name)}="{escape(value) if isinstance(value, str) else _number(value)}"'
        for name, value in given.items()
        if value is not None
    ]
    return "".join(written)


@cache
def _name(name: str) -> str:
    """The name of an attribute, from that of an argument of Python."""
    return name.rstrip("_").replace("_", "-")


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
