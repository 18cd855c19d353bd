"""Why a check is not met, in words of what its locator looks at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from evaluators.checks import (
    Check,
    LocateAnswer,
    LocateApi,
    LocateDb,
    LocateDelta,
    LocateElement,
    LocatePage,
    LocateUrl,
    LocateWob,
    UrlPart,
)
from evaluators.text import shown_all


def never_met(check: Check, seen: Sequence[str], expected: str) -> str:
    """Say why no step met a key node.

    Args:
        check: the key node.
        seen: what its locator found over all steps.
        expected: what was asked for, as text.
    """
    match check.locate:
        case LocateUrl(part=UrlPart.LOGICAL | UrlPart.FULL):
            others = f"visited {shown_all(seen)}" if seen else "visited no page of a site"
            return f"no visit to {expected}; {others}"
        case _ if seen:
            return f"no step found {expected}; found {shown_all(seen)}"
        case _:
            return f"{absence(check)} at any step, wanted {expected}"


def absence(check: Check) -> str:  # noqa: C901 - one case per locator
    """Say that a locator found nothing."""
    match check.locate:
        case LocateAnswer():
            reason = "the agent gave no answer"
        case LocateUrl(part=UrlPart.QUERY, key=key, page=page):
            reason = f"no '{key}' in the query of {page or 'a page of a site'}"
        case LocateUrl(part=UrlPart.FRAGMENT, page=page):
            reason = f"no fragment in the URL of {page or 'a page of a site'}"
        case LocateUrl():
            reason = "found no page of a site"
        case LocateElement() as locate:
            where = f" on {locate.page}" if locate.page else ""
            name = f" named '{locate.named}'" if locate.named else ""
            reason = f"no {locate.event} of {locate.role or 'an element'}{name}{where}"
        case LocatePage():
            reason = "nothing on the page fits the selector"
        case LocateDb(site=site):
            reason = f"the query found no row in {site}'s database"
        case LocateApi(site=site, path=path):
            reason = f"nothing found in {site}:{path}"
        case LocateDelta(site=site):
            reason = f"nothing changed in {site}"
        case LocateWob():
            reason = "the page had not ended the episode"
        case _:
            assert_never(check.locate)
    return reason
