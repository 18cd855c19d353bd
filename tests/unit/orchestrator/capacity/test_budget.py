"""How many replicas fit a budget, and what is said where they do not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kiosk_site import KIOSK

from arena_core.errors import UsageError
from orchestrator.capacity.budget import Capacity, Priced, fit
from orchestrator.capacity.costs import Cost
from orchestrator.capacity.sizes import MIB

SHOP = KIOSK.model_copy(update={"name": "shop"})
FORUM = KIOSK.model_copy(update={"name": "forum"})
WIKI = KIOSK.model_copy(update={"name": "wiki", "stateful": False})


def priced(shop: int = 100, forum: int = 300, wiki: int = 50) -> tuple[Priced, ...]:
    sizes = ((SHOP, shop), (FORUM, forum), (WIKI, wiki))
    return tuple(Priced(site, Cost(mib * MIB, is_learned=True)) for site, mib in sizes)


def fitted(
    workers: int, spares: int | None, budget_mib: int, *, firm: bool = True, least: int = 0
) -> Capacity:
    return fit(
        priced(),
        workers=workers,
        spares=spares,
        budget_bytes=budget_mib * MIB,
        is_firm=firm,
        least_spares=least,
    )


def test_spares_shrink_until_they_fit_and_it_is_said() -> None:
    found = fitted(2, 2, 1150)
    assert (found.spares, found.needed_bytes) == ({"shop": 2, "forum": 0}, 1050 * MIB)
    assert found.summary() == (
        "2 workers; shop 2 + 2 spares, 100 MiB learned each;"
        " forum 2 + 0 spares (the budget has no room for 2), 300 MiB learned each;"
        " wiki shared, 50 MiB learned; in all 1.0 GiB of 1.1 GiB"
    )


def test_a_site_without_state_is_paid_once() -> None:
    assert fitted(2, 0, 10_000).needed_bytes == (2 * 100 + 2 * 300 + 50) * MIB


def test_workers_that_do_not_fit_are_refused_with_figures_and_what_would() -> None:
    with pytest.raises(UsageError) as caught:
        fitted(4, None, 1000)
    assert caught.value.message == (
        "4 workers need 1.6 GiB for replicas (shop 4 × 100 MiB (learned),"
        " forum 4 × 300 MiB (learned), wiki 1 × 50 MiB (learned)), and the budget is 1000 MiB"
    )
    assert caught.value.hint == "2 would fit, or --memory 1650MiB would do"


def test_what_not_even_one_worker_fits_into_is_refused_only_where_a_person_set_it() -> None:
    with pytest.raises(UsageError, match="1 worker needs 450 MiB") as caught:
        fitted(1, None, 449)
    assert caught.value.hint == "--memory 450MiB would do"
    assert fitted(1, None, 449, firm=False).spares == {"shop": 0, "forum": 0}


def test_a_spare_that_must_be_there_counts_as_needed() -> None:
    with pytest.raises(UsageError, match="with a spare each need"):
        fitted(2, 1, 900, least=1)
    assert fitted(2, 1, 1250, least=1).spares == {"shop": 1, "forum": 1}


@given(
    workers=st.integers(1, 9),
    spares=st.none() | st.integers(0, 9),
    budget=st.integers(1, 9000),
)
def test_a_capacity_never_exceeds_a_budget_that_a_person_set(
    workers: int, spares: int | None, budget: int
) -> None:
    try:
        found = fitted(workers, spares, budget)
    except UsageError:
        assert workers * 400 + 50 > budget
        return
    assert found.needed_bytes <= budget * MIB
    room = budget * MIB - found.needed_bytes
    for one in priced()[:2]:
        name = one.site.name
        assert 0 <= found.spares[name] <= found.wanted_spares[name]
        assert found.spares[name] == found.wanted_spares[name] or one.cost.size_bytes > room
