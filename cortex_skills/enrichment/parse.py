"""What a skill returned, parsed as a JSON value.

Rules kept here:
- text that is JSON (RFC 8259) is its value; any other text is itself; `NaN` and `Infinity` are not JSON;
- of two members with one name the last counts, as in JavaScript;
- numbers with too many digits become infinite, and the limits remove them;
- never raises; text of more than `TEXT_LIMIT` characters is not parsed.
"""

from __future__ import annotations

import json
import math
from typing import Any

from cortex_skills.enrichment.removal import NOTHING, Cleaned, Removal

TEXT_LIMIT = 1 << 20
_FIRST = 64
_LONGEST_INTEGER = 80
_OPENERS = ("{", "[", '"')


def parse(raw: object) -> Cleaned:
    """The value of `raw`: of text that holds JSON, of other text, or a value already."""
    if type(raw) is not str:
        return Cleaned(raw, ())
    if len(raw) > TEXT_LIMIT:
        if raw[:_FIRST].lstrip().startswith(_OPENERS):
            return Cleaned(NOTHING, (Removal("text_too_long", ""),))
        return Cleaned(raw, ())
    try:
        return Cleaned(_DECODER.decode(raw), ())
    except RecursionError:
        return Cleaned(NOTHING, (Removal("too_deep", ""),))
    except ValueError:
        return Cleaned(raw, ())


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= _LONGEST_INTEGER else math.inf


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_int=_integer, parse_constant=_no_constant)
