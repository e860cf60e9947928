"""The error of a call as a model reads it.

Rules kept here:
- an error may quote what a server, a file or a program wrote: a header, a value, an address. If that reads like an
  instruction to the model the error keeps its code and its hint, and the host's log has its text.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping
from typing import Any

from cortex_skills.errors import CortexError
from cortex_skills.safe_io.display import one_line
from cortex_skills.secrets import HIDDEN

log = logging.getLogger(__name__)

_BETWEEN_WORDS = re.compile(r"[\W_]+")  # of addresses: `ignore-all-that`


def error_for_model(tool: str, error: CortexError) -> CortexError:
    """An error without instructions to a model.

    Args:
        tool: the name of what was called.
        error: how the call failed.
    """
    from cortex_skills.injection import detect
    from cortex_skills.injection.quoted_instructions import instructs

    facts = "\n".join(dict.fromkeys(_texts(error.details)))
    plain = (_BETWEEN_WORDS.sub(" ", text) for text in (error.message, *facts.split("\n")))
    if not instructs(error.message) and detect(facts) is None and detect("\n".join(plain)) is None:
        return error
    log.warning("%s failed: %s", tool, HIDDEN.text(one_line(error.message)))
    message = f"{tool} failed, and why is left out: it quotes what reads like an instruction"
    return CortexError(error.code, message, hint=error.hint, details={"tool": tool})


def _texts(value: Any) -> Iterator[str]:
    """The texts of a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for item in value.items() if isinstance(value, Mapping) else value:
            yield from _texts(item)
