"""Reads the lines of an answer with triples."""

from __future__ import annotations

import json
from collections.abc import Iterable

from cortex_graph import NamespacedGraph
from cortex_graph.naming.terms import from_term


def whole_lines(lines: Iterable[str]) -> list[str]:
    """Lines of triples with their subjects, which are written once where they are equal."""
    found: list[str] = []
    subject = ""
    for line in lines:
        if not line.startswith("  "):
            subject = line[: json.JSONDecoder().raw_decode(line)[1]] if line.startswith('"') else line.split(" ", 1)[0]
            found.append(line)
        else:
            found.append(f"{subject} {line[2:]}")
    return found


def read_line(graph: NamespacedGraph, line: str) -> tuple[str, str, object]:
    """Parse a whole line: two names, plain or as JSON strings, and a term of Turtle."""
    decoder, parts = json.JSONDecoder(), []
    for _ in range(2):
        if line.startswith('"'):
            name, end = decoder.raw_decode(line)
        else:
            name, end = line.split(" ", 1)[0], line.index(" ")
        assert line[end] == " "
        parts.append(name)
        line = line[end + 1 :]
    term = graph.prefixes.terms().read(line)
    assert term is not None, line
    return parts[0], parts[1], from_term(term, graph.names)
