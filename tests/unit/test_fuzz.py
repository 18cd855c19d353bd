"""Files from anybody are read, or refused in one clear line: no traceback, and no hanging.

`make fuzz` tries thousands more; what it finds lies in the corpus, and is tried here for ever.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from fuzz.doors import DOORS, Door
from fuzz.mutants import Shape, mutant
from fuzz.trying import CORPUS, kept_mutants, opened
from quick_cases import SLOW

_QUICK = 4
_SLOW = 40
# A message is read much faster than a file and what surrounds it.
_QUICK_MESSAGES = 20


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.name)
def test_a_damaged_file_is_read_or_refused_in_one_line(door: Door, tmp_path: Path) -> None:
    with opened(door, tmp_path) as one:
        count = _QUICK_MESSAGES if door.shape is Shape.HTTP else _QUICK
        found = {number: one.fault(one.mutant(number)) for number in range(count)}
    assert not {number: fault for number, fault in found.items() if fault}


def _more(door: Door) -> range:
    return range(_QUICK_MESSAGES, 2000) if door.shape is Shape.HTTP else range(_QUICK, _SLOW)


@SLOW
@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.name)
def test_more_damaged_files_are(door: Door, tmp_path: Path) -> None:
    with opened(door, tmp_path) as one:
        found = {number: one.fault(one.mutant(number)) for number in _more(door)}
    assert not {number: fault for number, fault in found.items() if fault}


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.name)
def test_what_was_once_read_badly_is_not_again(door: Door, tmp_path: Path) -> None:
    with opened(door, tmp_path) as one:
        found = {path.name: one.fault(path.read_bytes()) for path in kept_mutants(door)}
    assert not {name: fault for name, fault in found.items() if fault}


def test_the_file_as_it_is_is_read(tmp_path: Path) -> None:
    """Mutants of a file that is refused anyway would try nothing."""
    for door in DOORS:
        with opened(door, tmp_path) as one:
            door.read(one.file)


def test_a_reader_that_raises_hangs_or_says_two_lines_is_found(tmp_path: Path) -> None:
    def raising(path: Path) -> None:
        raise KeyError(path)

    some = DOORS[0]
    with opened(Door("raising", some.shape, some.make, raising), tmp_path) as one:
        assert "KeyError" in (one.fault(one.seed) or "")


def test_the_same_number_is_always_the_same_mutant(tmp_path: Path) -> None:
    for door in DOORS[::4]:
        with opened(door, tmp_path) as one:
            seed = one.seed
        first = [mutant(door.name, number, (seed,), door.shape) for number in range(1, 9)]
        again = [mutant(door.name, number, (seed,), door.shape) for number in range(1, 9)]
        assert first == again
        assert sum(data != seed for data in first) >= 6


def test_every_kept_mutant_belongs_to_a_door() -> None:
    names = {f"{door.name}-" for door in DOORS}
    assert all(path.name.startswith(tuple(names)) for path in CORPUS.glob("*"))
