from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from evaluators.values.pairing import pair_up

FINDS = range(5)
FITS = st.lists(st.sets(st.sampled_from(FINDS)), max_size=5)


def pairings(fits: list[set[int]]) -> list[dict[int, int]]:
    """Return every way to pair wants with finds one to one, by brute force."""
    found = []
    for chosen in product(*[(None, *sorted(fitting)) for fitting in fits]):
        taken = [find for find in chosen if find is not None]
        if len(taken) == len(set(taken)):
            found.append({find: want for want, find in enumerate(chosen) if find is not None})
    return found


@given(FITS)
def test_as_many_are_paired_as_can_be_and_only_with_what_fits(fits: list[set[int]]) -> None:
    paired = pair_up(fits)
    assert len(paired) == max(map(len, pairings(fits)))
    assert len(set(paired.values())) == len(paired)
    assert all(find in fits[want] for find, want in paired.items())


@given(FITS, st.sets(st.sampled_from(FINDS)))
def test_of_the_preferred_finds_as_many_are_paired_as_can_be_without_costing_a_pair(
    fits: list[set[int]], first: set[int]
) -> None:
    paired = pair_up(fits, first)
    assert len(paired) == max(map(len, pairings(fits)))
    assert len(first & paired.keys()) == max(len(first & one.keys()) for one in pairings(fits))


def test_the_first_that_fits_is_given_up_for_one_that_fits_nothing_else() -> None:
    assert pair_up([[0, 1], [0]]) == {0: 1, 1: 0}


def test_long_chains_are_no_matter() -> None:
    size = 3000
    assert len(pair_up([*[[n, n + 1] for n in range(size)], [0]])) == size + 1
