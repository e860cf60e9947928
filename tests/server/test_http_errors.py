"""Errors as HTTP answers: the status of each code."""

from __future__ import annotations

import pytest

from cortex_skills.doors.http.http_errors import HTTP_CODES, STATUS, as_http
from cortex_skills.errors import CODES, CortexError

OF_THE_SERVER = {"config_invalid", "graph_corrupt", "internal_error", "skill_error", "skill_memory"}


@pytest.mark.parametrize("code", sorted(CODES))
def test_each_code_has_a_status_and_only_failures_of_the_server_have_500(code: str) -> None:
    assert code in STATUS
    status = as_http(CortexError(code, "it failed"), "1").status
    assert 400 <= status < 600
    assert (status == 500) is (code in OF_THE_SERVER)


def test_no_code_has_two_statuses_and_no_status_is_of_an_unknown_code() -> None:
    assert set(STATUS) == set(CODES)
    assert not HTTP_CODES.keys() & CODES
