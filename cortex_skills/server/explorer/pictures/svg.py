"""SVG, written by an XML writer.

Rules kept here:
- text and attributes are escaped by `xml.etree`, and no method takes markup; so `__html__`, which the templates insert
  unchanged, contains only elements that `pictures` made;
- a picture in a page has classes of the style sheet; a picture alone has the style sheet of `STYLE`, the namespace of
  SVG, and no links: they would lead to other sites from the place where it is opened.
"""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree as ET

_NAMESPACE = "http://www.w3.org/2000/svg"
# The colours of the light theme of `src/explorer.css`.
STYLE = (
    "text{font:12.5px ui-monospace,monospace;fill:#14212b}.plot text{font:11.5px sans-serif;fill:#566672}"
    ".f-edge{fill:none;stroke:#b7c1c8;stroke-width:1.6}.f-thin{fill:none;stroke:#d9dfe3;stroke-width:1.3}"
    ".f-node circle{fill:#fff;stroke:#0a6570;stroke-width:2}.f-node text{fill:#0a6570}.f-pre{fill:#566672}"
    ".f-lit rect{fill:#1b6e43}.f-lit text{fill:#1b6e43}.f-pred rect{fill:#f2eaf8}.f-pred text{fill:#6a3a93}"
    ".f-focus rect{fill:#0a6570}.f-focus text{fill:#fff}.f-more text{fill:#465864}"
    ".g-edge{stroke:#b7c1c8;stroke-width:1.4}.g-label{font:10.5px sans-serif;fill:#6a3a93;text-anchor:middle}"
    ".g-node text{font:12px ui-monospace,monospace;text-anchor:middle}.g-node circle{fill:#fff;stroke:#0a6570}"
    ".g-node rect{fill:#eef1f3;stroke:#8493a0}.g-node.literal rect{fill:#e3f2e9}.g-node.focus circle{fill:#0a6570}"
    ".b0{fill:#0a6570}.b1{fill:#a8261c}.line{fill:none;stroke:#0a6570;stroke-width:2}.grid{stroke:#d9dfe3}"
)


class Svg:
    """A picture.

    Args:
        width, height: in pixels.
        summary: what it shows, one sentence that is read aloud.
        kind: its class.
        has_links: whether it contains links, so that a reader of the screen enters it.
        left: the coordinate of its left edge.

    """

    def __init__(
        self, width: float, height: float, summary: str, kind: str, *, has_links: bool = False, left: float = 0.0
    ) -> None:
        role = "group" if has_links else "img"
        box = f"{_number(left)} 0 {_number(width)} {_number(height)}"
        self.root = ET.Element("svg", {"viewBox": box, "class": kind, "role": role, "aria-label": summary})
        self._size = {"width": _number(width), "height": _number(height)}

    def add(self, tag: str, within: ET.Element | None = None, text: str | None = None, **attributes: Any) -> ET.Element:
        """Add an element; `_` in the names of attributes is `-`, and `class_` is `class`; None is left out."""
        given = {
            name.rstrip("_").replace("_", "-"): value if isinstance(value, str) else _number(value)
            for name, value in attributes.items()
            if value is not None
        }
        element = ET.SubElement(self.root if within is None else within, tag, given)
        element.text = text
        return element

    def __html__(self) -> str:
        """The picture as a part of a page."""
        return ET.tostring(self.root, encoding="unicode")

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


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
