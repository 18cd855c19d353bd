"""Live sites that no longer let an agent in, and when that is why it failed.

Trouble with a live site is no excuse by itself: an agent may ask for what is forbidden to
everybody, or so fast that it is shut out. It excuses a failure only where what was last seen says
so:

- the last answer to the agent was a rate limit (429);
- the last page was a wall by its words, and is a page that the task hangs on: a start page, one
  that the reference goes to, or one that a check names;
- a page that the task hangs on was barred when it was last asked for, and was so still when Arena
  asked for it again at the end; or the last answer barred another page, and the site's start page
  was barred as well when Arena asked for it at the end;
- the page that a check opened at the end was barred, and all unmet checks are such.

Nor does it where the agent loaded pages faster than the site's manifest says. A success stands
whatever was barred, and replicas never bar anybody.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from http import HTTPStatus
from typing import Final

from pydantic import BaseModel, ConfigDict

from arena_core.foreign_fields import Text

_FIRST_ERROR: Final = 400


class BarredSite(BaseModel):
    """A live site that answered with a wall or an error in place of a page.

    Attributes:
        step: in which it was asked; of what a check asked for, the last.
        sign: what says so: `status 403`, `bot wall: 'Just a moment...'`.
        status: of the document; None where it is not known.
        is_of_task: the task hangs on this page.
        checks: those that opened it themselves, at the end; empty where the agent asked for it.
        is_last: the agent got no other document after it, from any site.
        asked_again: what Arena asked for at the end; None where it did not ask.
        again: what barred it then; None where nothing did.
        pages_per_minute: the most pages that the episode loaded from the site within a minute.
        most_per_minute: how many of them the site must bear.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    site: Text
    step: int
    url: Text
    sign: Text
    status: int | None = None
    is_of_task: bool = False
    checks: tuple[Text, ...] = ()
    is_last: bool = False
    asked_again: Text | None = None
    again: Text | None = None
    pages_per_minute: int = 0
    most_per_minute: int

    @property
    def rule(self) -> str | None:
        """Why it excuses a failure, in words; None where it does not."""
        if self.pages_per_minute > self.most_per_minute:
            return None
        if self.checks:
            return f"no other check is unmet than {', '.join(self.checks)}, which opened it"
        if self.again is not None:
            return f"at the end Arena asked for {self.asked_again}: {self.again}"
        if self.is_last and self.status == HTTPStatus.TOO_MANY_REQUESTS:
            return "a rate limit was the last answer"
        is_by_words = self.status is None or self.status < _FIRST_ERROR
        if self.is_last and self.is_of_task and is_by_words:
            return "the last page was a wall where the task has a page"
        return None

    def __str__(self) -> str:
        seen = f"{self.sign} at {self.url} (step {self.step})"
        return f"the live site '{self.site}' let the agent in no more: {seen}; {self.rule}"


def excuse(barred: Iterable[BarredSite], unmet: Collection[str]) -> BarredSite | None:
    """Return the first site that is a reason for a failure; None where the failure is the agent's.

    See above for what counts.

    Args:
        unmet: the checks that decided it: what was barred from other checks alone excuses nothing.
    """
    for one in barred:
        if one.rule is not None and (not one.checks or set(unmet) <= set(one.checks)):
            return one
    return None
