"""Who asks for what a tape lacks; by itself, because the gateway needs no more of it."""

from __future__ import annotations

from enum import StrEnum


class MissedBy(StrEnum):
    """Who asked for what a tape lacks.

    `page`: a page led to a document. `data`: a script of a page wanted data. `address`: the agent
    gave the address itself. `part`: an image, a script, a style, a font or the like, or another
    host. `check`: a check opened the page.
    """

    PAGE = "page"
    DATA = "data"
    ADDRESS = "address"
    PART = "part"
    CHECK = "check"
