"""What a browser may do with a page of the explorer (Content Security Policy Level 3, Trusted Types).

Rules kept here:
- scripts, styles and requests are of this server only; nothing is framed, and text never becomes HTML or code;
- `Referrer-Policy: same-origin`: other sites get none, and a form has its `Origin` (with `no-referrer` it would be
  `null`: Fetch standard, §3.2 "append a request `Origin` header").
"""

from __future__ import annotations

from cortex_skills.doors.explorer.addresses import ROOT
from cortex_skills.doors.explorer.assets import PREFIX


def page_policy(connects_to: str = "") -> str:
    """The policy of a page.

    Args:
        connects_to: a further origin that its scripts may ask.
    """
    return "; ".join(
        (
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "img-src 'self' data: blob:",
            f"connect-src 'self' {connects_to}".rstrip(),
            "form-action 'self'",
            "base-uri 'none'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        )
    )


# By path prefix, for `ResponseHeaders`.
PAGE_HEADERS: dict[str, dict[str, str]] = {
    ROOT: {
        "content-security-policy": page_policy(),
        "cross-origin-opener-policy": "same-origin",
        "referrer-policy": "same-origin",
    },
    PREFIX: {},
}
