"""Pairing what is wanted with what was found, one to one, as well as it can be done."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence


def pair_up(fits: Sequence[Iterable[int]], first: Iterable[int] = ()) -> Mapping[int, int]:
    """Pair as many wants with finds as possible, and with them as many of `first` as possible.

    Augmenting paths: taking the first that fits would refuse lists that do pair up
    (webarena-verified, peers.md 1.7). A path never gives up what is paired already, on either side.
    So, with the paths from `first` walked before those from the wants, both numbers are greatest
    (Mendelsohn and Dulmage, 1958).

    Args:
        fits: for each want, the finds that fit it.
        first: finds that should rather be paired than others.

    Returns:
        The want of each find that is paired.
    """
    finds_for = {want: tuple(finds) for want, finds in enumerate(fits)}
    wants_for: dict[int, list[int]] = {}
    for want, finds in finds_for.items():
        for find in finds:
            wants_for.setdefault(find, []).append(want)
    find_of: dict[int, int] = {}
    want_of: dict[int, int] = {}
    for find in dict.fromkeys(first):
        _augment(find, wants_for, want_of, find_of)
    for want in finds_for:
        if want not in find_of:
            _augment(want, finds_for, find_of, want_of)
    return want_of


def _augment(
    start: int,
    fits: Mapping[int, Sequence[int]],
    mine: dict[int, int],
    theirs: dict[int, int],
) -> None:
    """Pair `start` with one of the other side, moving pairs that stand in the way.

    Walks breadth first, so that no number of finds is too many for the call stack.
    """
    came_from: dict[int, int] = {}
    waiting = [start]
    for one in waiting:
        for other in fits.get(one, ()):
            if other in came_from:
                continue
            came_from[other] = one
            if other in theirs:
                waiting.append(theirs[other])
                continue
            _flip(start, other, came_from, mine, theirs)
            return


def _flip(
    start: int, end: int, came_from: Mapping[int, int], mine: dict[int, int], theirs: dict[int, int]
) -> None:
    """Pair along a path from its free end back to its start."""
    other = end
    while True:
        one = came_from[other]
        before = mine.get(one)
        mine[one], theirs[other] = other, one
        if one == start or before is None:
            return
        other = before
