"""How many replicas fit a budget, and what is said where they do not."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.sites.kiosk_site import KIOSK

from arena_core.errors import UsageError
from orchestrator.sandbox.memory import (
    GIB,
    MIB,
    Capacity,
    Cost,
    Costs,
    Priced,
    fit,
    format_size,
    parse_size,
    used_bytes,
)


@pytest.mark.parametrize(
    ("text", "size"),
    [("4GiB", 4 * GIB), ("512m", 512 * MIB), ("1.5 GB", 1_500_000_000), ("2048KiB", 2 * MIB)],
)
def test_an_amount_is_read_with_its_unit(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "4", "GiB", "-4GiB", "0GiB", "4 potatoes", "4GiBB", "٤GiB"])
def test_what_is_no_amount_is_quoted(text: str) -> None:
    with pytest.raises(UsageError, match=f"'{text}' is no amount of memory"):
        parse_size(text)


@given(st.integers(MIB, 1 << 50))
def test_what_is_written_is_read_again_roughly(size: int) -> None:
    assert parse_size(format_size(size)) == pytest.approx(size, rel=0.06, abs=MIB)


@pytest.mark.parametrize(
    ("printed", "used"),
    [
        ("900\nanon 500\ninactive_file 300\n", 600),
        ("900\ncache 1\ninactive_file 1\ntotal_inactive_file 400\n", 500),
        ("900\n", 900),
        ("100\ninactive_file 300\n", 0),
        ("", None),
        ("anon 500\ninactive_file 300\n", None),
    ],
)
def test_memory_is_usage_without_the_cache_that_can_be_given_back(
    printed: str, used: int | None
) -> None:
    assert used_bytes(printed) == used


IMAGE = "sha256:one"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "costs.json"


def test_before_a_measurement_the_manifests_limit_counts(path: Path) -> None:
    for image in (IMAGE, None):
        cost = Costs.load(path).of(KIOSK, image)
        assert (cost.size_bytes, cost.source) == (512 * MIB, "by its limit")


def test_what_was_learned_is_known_to_the_next_process(path: Path) -> None:
    Costs.load(path).learn(IMAGE, 100 * MIB)
    cost = Costs.load(path).of(KIOSK, IMAGE)
    assert (cost.size_bytes, cost.source) == (100 * MIB, "learned")
    assert not Costs.load(path).of(KIOSK, "sha256:other").is_learned


def test_the_most_that_was_seen_counts(path: Path) -> None:
    costs = Costs.load(path)
    for size in (100, 120, 90):
        costs.learn(IMAGE, size * MIB)
    assert Costs.load(path).of(KIOSK, IMAGE).size_bytes == 120 * MIB


def test_two_processes_that_learn_at_once_do_not_forget_each_others(path: Path) -> None:
    one, other = Costs.load(path), Costs.load(path)
    one.learn(IMAGE, 1)
    other.learn("sha256:other", 2)
    assert [Costs.load(path).of(KIOSK, name).size_bytes for name in (IMAGE, "sha256:other")] == [
        1,
        2,
    ]


@pytest.mark.parametrize("text", ["", "[]", '{"sha256:one": "much"}', '{"sha256:one": -5}', "{"])
def test_a_damaged_file_is_as_good_as_none(path: Path, text: str) -> None:
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    costs = Costs.load(path)
    assert not costs.of(KIOSK, IMAGE).is_learned
    costs.learn(IMAGE, 7)
    assert Costs.load(path).of(KIOSK, IMAGE).size_bytes == 7


def test_a_cache_that_cannot_be_written_fails_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    costs = Costs.load(tmp_path / "file" / "costs.json")
    costs.learn(IMAGE, 7)
    assert costs.of(KIOSK, IMAGE).size_bytes == 7


def test_one_measurement_of_an_image_is_enough_for_a_process(path: Path) -> None:
    costs = Costs.load(path)
    assert costs.wants(IMAGE)
    costs.learn(IMAGE, 7)
    assert not costs.wants(IMAGE)
    assert Costs.load(path).wants(IMAGE)


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
