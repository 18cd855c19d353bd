"""A cookie as a browser context takes it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Cookie:
    """One cookie of a logged-in account.

    Attributes:
        domain: the host as the browser sees it; with a leading dot for its sub-domains too.
        expires: seconds since 1970; None for a session cookie.
    """

    name: str
    value: str
    domain: str
    path: str
    secure: bool
    http_only: bool
    expires: float | None
