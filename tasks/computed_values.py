"""What a check's expected value is computed from, as checks that locators can look for."""

from __future__ import annotations

from collections.abc import Sequence

from arena_core.worlds import World
from evaluators.checks import Check, Computed, match
from evaluators.fields import When
from evaluators.locators.api import ApiLocator
from evaluators.locators.base import Locator
from evaluators.locators.db import DbLocator
from evaluators.locators.page import PageLocator
from evaluators.values.text import shown_all


def lookup(check: Check) -> Check | None:
    """Return the check that finds what another one expects; None where nothing is computed."""
    if check.computed is None:
        return None
    return check.model_copy(update={"when": When.END, "locate": _locate(check.computed)})


def computed_fault(check: Check, values: Sequence[str]) -> str | None:
    """Say why a check does not expect what was computed for it; None where it does."""
    found = check.computed.read(tuple(values)) if check.computed else tuple(values)
    wanted = check.match.computed_counts()
    if len(found) not in wanted:
        asked = " or ".join(map(str, sorted(wanted)))
        return f"computed are {len(found)} values, wanted {asked}: {shown_all(found) or 'nothing'}"
    matched = match(check, _as_located(check, found), World.OFFLINE)
    return None if matched.met else f"computed is another value: {matched.reason}"


def _locate(computed: Computed) -> Locator:
    site = computed.site
    if computed.sql is not None:
        return DbLocator(site=site, sql=computed.sql)
    if computed.path is not None:
        return ApiLocator(
            site=site, path=computed.path, role=computed.role, json_path=computed.json_path
        )
    return PageLocator(
        at=f"{site}:{computed.page}",
        selector=computed.selector or "",
        attribute=computed.attribute,
    )


def _as_located(check: Check, values: Sequence[str]) -> tuple[str, ...]:
    """Return values as the check's own locator would yield them: pages in their one form."""
    return tuple(check.locate.expected_form(value, is_whole=True) for value in values)
