"""What a page of MiniWoB++ will draw: its random numbers follow from its seed.

After seedrandom (github.com/davidbau/seedrandom, as `core.js` of the `miniwob` package 1.1.0 has
it) and `tic-tac-toe.html`.
"""

from __future__ import annotations

from typing import Final, Self

_WIDTH: Final = 256
_CHUNKS: Final = 6
_SIGNIFICANT: Final = 2.0**52
_OVERFLOW: Final = 2.0**53
_RANDOM_OF_100: Final = 55  # in how many of a hundred moves the page plays at random
_FIRST_ABOVE: Final = 50

LINES: Final = (
    (0, 1, 2),
    (3, 4, 5),
    (6, 7, 8),
    (0, 3, 6),
    (1, 4, 7),
    (2, 5, 8),
    (0, 4, 8),
    (2, 4, 6),
)
# As the page looks for the place that would fill a line: of what it finds, the last counts. Of the
# places in one group the first counts; a place stands before the two that must be held.
_ROWS: Final = tuple(
    tuple(
        (3 * row + at, *(3 * row + other for other in range(3) if other != at)) for row in range(3)
    )
    for at in range(3)
)
_COLUMNS: Final = tuple(
    tuple(
        (3 * at + column, *(3 * other + column for other in range(3) if other != at))
        for at in range(3)
    )
    for column in range(3)
)
_DIAGONALS: Final = ((0, 4, 8), (4, 0, 8), (8, 0, 4), (2, 4, 6), (4, 2, 6), (6, 2, 4))
_GROUPS: Final = (*_ROWS, _DIAGONALS, *_COLUMNS)


class SeededDice:
    """`Math.random` after `Math.seedrandom(seed)`: ARC4, whose first 256 bytes are dropped."""

    def __init__(self, seed: int) -> None:
        key = [ord(letter) for letter in f"{seed}\0"]
        self._state = list(range(_WIDTH))
        self._i = self._j = at = 0
        for index in range(_WIDTH):
            held = self._state[index]
            at = (at + key[index % len(key)] + held) % _WIDTH
            self._state[index], self._state[at] = self._state[at], held
        self._bytes(_WIDTH)

    def copy(self) -> Self:
        made = object.__new__(type(self))
        made._state, made._i, made._j = list(self._state), self._i, self._j
        return made

    def throw(self) -> float:
        """Return the next number, from 0 to below 1."""
        number, scale, low = float(self._bytes(_CHUNKS)), float(_WIDTH**_CHUNKS), 0
        while number < _SIGNIFICANT:
            number, scale = (number + low) * _WIDTH, scale * _WIDTH
            low = self._bytes(1)
        while number >= _OVERFLOW:
            number, scale, low = number / 2, scale / 2, low >> 1
        return (number + low) / scale

    def below(self, most: int) -> int:
        """Return the next whole number from 0, as `core.randi(0, most)`."""
        return int(self.throw() * most)

    def _bytes(self, count: int) -> int:
        found, state = 0, self._state
        for _ in range(count):
            self._i = (self._i + 1) % _WIDTH
            held = state[self._i]
            self._j = (self._j + held) % _WIDTH
            state[self._i], state[self._j] = state[self._j], held
            found = found * _WIDTH + state[(state[self._i] + held) % _WIDTH]
        return found


def wins(marks: str, who: str) -> bool:
    return any(all(marks[at] == who for at in line) for line in LINES)


def winning_moves(seed: int) -> tuple[int, ...] | None:
    """Return the places in which X wins tic-tac-toe against the page; None where it cannot win."""
    dice, marks = SeededDice(seed), " " * 9
    if dice.below(100) > _FIRST_ABOVE:
        marks = _answered(marks, dice)
    return _won_from(marks, dice)


def _won_from(marks: str, dice: SeededDice) -> tuple[int, ...] | None:
    free = [at for at in range(9) if marks[at] == " "]
    for at in free:
        if wins(_put(marks, at, "X"), "X"):
            return (at,)
    for at in free:
        thrown = dice.copy()
        after = _put(marks, at, "X")
        if " " not in after:
            continue
        after = _answered(after, thrown)
        if wins(after, "O") or " " not in after:
            continue
        if (then := _won_from(after, thrown)) is not None:
            return (at, *then)
    return None


def _answered(marks: str, dice: SeededDice) -> str:
    free = [at for at in range(9) if marks[at] == " "]
    at = None
    if dice.below(100) >= _RANDOM_OF_100 and len(free) < len(marks):
        at = _filling(marks, "O")
        at = _filling(marks, "X") if at is None else at
    return _put(marks, free[dice.below(len(free))] if at is None else at, "O")


def _filling(marks: str, who: str) -> int | None:
    """Return the place that fills a line which a mark holds but for it, as the page finds it."""
    found = [
        next(
            (at for at, *held in group if marks[at] == " " and all(marks[i] == who for i in held)),
            None,
        )
        for group in _GROUPS
    ]
    return next((at for at in reversed(found) if at is not None), None)


def _put(marks: str, at: int, who: str) -> str:
    return marks[:at] + who + marks[at + 1 :]
