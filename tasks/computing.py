"""What a check's expected value is computed from, as checks that locators can look for."""

from __future__ import annotations

from collections.abc import Sequence

from arena_core.worlds import World
from evaluators.checks import (
    Check,
    Locate,
    LocateApi,
    LocateDb,
    LocatePage,
    LocateUrl,
    MatchExact,
    MatchInclude,
    PerWorld,
    UrlPart,
    When,
)
from evaluators.computed import Computed
from evaluators.logical_urls import parse_logical_url
from evaluators.match import match
from evaluators.text import shown_all


def lookup(check: Check) -> Check | None:
    """Return the check that finds what another one expects; None where nothing is computed."""
    if check.computed is None:
        return None
    return check.model_copy(update={"when": When.END, "locate": _locate(check.computed)})


def computed_fault(check: Check, values: Sequence[str]) -> str | None:
    """Say why a check does not expect what was computed for it; None where it does.

    Args:
        check: one with `computed`.
        values: what its lookup found, as located.
    """
    found = check.computed.read(tuple(values)) if check.computed else tuple(values)
    wanted = _how_many(check)
    if len(found) not in wanted:
        asked = " or ".join(map(str, sorted(wanted)))
        return f"computed are {len(found)} values, wanted {asked}: {shown_all(found) or 'nothing'}"
    matched = match(check, _as_located(check, found), World.OFFLINE)
    return None if matched.met else f"computed is another value: {matched.reason}"


def _locate(computed: Computed) -> Locate:
    site = computed.site
    if computed.sql is not None:
        return LocateDb(site=site, sql=computed.sql)
    if computed.path is not None:
        return LocateApi(
            site=site, path=computed.path, role=computed.role, json_path=computed.json_path
        )
    return LocatePage(
        at=f"{site}:{computed.page}",
        selector=computed.selector or "",
        attribute=computed.attribute,
    )


def _how_many(check: Check) -> frozenset[int]:
    """Return how many values may be computed: one, or as many as are listed."""
    if not isinstance(check.match, MatchExact | MatchInclude):
        return frozenset({1})
    expected = check.match.value
    if isinstance(expected, PerWorld):
        expected = expected.offline
    if not isinstance(expected, tuple):
        return frozenset({1})
    # One text may hold all that is listed; a list in one order is one value each.
    return frozenset({len(expected)} | ({1} if isinstance(check.match, MatchInclude) else set()))


def _as_located(check: Check, values: Sequence[str]) -> tuple[str, ...]:
    """Return values as the check's own locator would yield them: pages in their one form."""
    match check.locate:
        case LocateUrl(part=UrlPart.LOGICAL | UrlPart.FULL):
            return tuple(parse_logical_url(value).full for value in values)
        case _:
            return tuple(values)
