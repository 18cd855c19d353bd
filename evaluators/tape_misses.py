"""What a tape lacked, and when that is why an agent failed.

A failure after a miss is not always the tape's fault: whoever asks for an address that he made up
misses on any tape, and must not turn a failure into nothing by that. So these count:

- a page led to a document that is not there: a link, a form, a redirect, a script of the page;
- a script or a frame of a page wanted data that is not there, unless the page wanted the same
  before the agent did anything: such requests (counters, polls) belong to the page and not to what
  is done there;
- a check looked at a page that is not there.

An address that the agent gave itself does not count, not even when the page is loaded again; nor
do parts (images, scripts, styles) and hosts that are not the site's own. A success stands whatever
was missed.

An agent can still follow a link that was not recorded, on purpose. It gains nothing it could keep:
the episode has no score, is counted by its reason, and widens the bounds of the success rate.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Final

from pydantic import BaseModel, ConfigDict

from arena_core.foreign_fields import Text

MOST_MISSES: Final = 200


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


class MissedRequest(BaseModel):
    """A request that a tape had no answer to.

    Attributes:
        step: 0 is the opening; of what a check asked for, the last.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    step: int
    method: Text
    url: Text
    site: Text
    by: MissedBy


def kept_misses(misses: Iterable[MissedRequest]) -> tuple[MissedRequest, ...]:
    """Return those that evidence keeps: what may count before parts of pages, each in its order."""
    known = tuple(misses)
    parts = [one for one in known if one.by is MissedBy.PART]
    others = [one for one in known if one.by is not MissedBy.PART]
    return (*others, *parts)[:MOST_MISSES]


def decisive_miss(misses: Sequence[MissedRequest]) -> MissedRequest | None:
    """Return the first miss that is a reason for a failure; None where the failure is the agent's.

    See above for what counts.
    """
    usual = {
        (one.method, _place(one.url)) for one in misses if one.by is MissedBy.DATA and one.step == 0
    }
    given = {one.url for one in misses if one.by is MissedBy.ADDRESS}
    for one in misses:
        if one.by is MissedBy.CHECK or (one.by is MissedBy.PAGE and one.url not in given):
            return one
        if one.by is MissedBy.DATA and (one.method, _place(one.url)) not in usual:
            return one
    return None


def _place(url: str) -> str:
    return url.partition("?")[0]
