"""`/` and `/openapi.json`: what is served here."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from cortex_skills import __version__
from cortex_skills.server.openapi import document_of
from cortex_skills.server.operations import Answer, Call, Operation


def index_operations(others: Sequence[Operation]) -> tuple[Operation, ...]:
    """The operations that describe the others, and themselves."""

    @cache
    def document() -> dict[str, object]:
        return document_of([*others, *described])

    def index(_: Call) -> Answer:
        links = {"openapi": "/openapi.json", "health": "/api/v1/health"}
        return Answer(200, {"name": "cortex-skills", "version": __version__, "links": links})

    def openapi(_: Call) -> Answer:
        return Answer(200, document())

    described = (
        Operation("GET", "/", "getIndex", "What this is.", index, {200: "Index"}, permission=None),
        Operation("GET", "/openapi.json", "getOpenApi", "This document.", openapi, {200: "Any"}, permission=None),
    )
    return described
