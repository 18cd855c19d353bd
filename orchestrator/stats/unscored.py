"""What the unscored could change: bounds, and what they would have to be to turn a conclusion."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """The nearest that the unscored episodes of both sides could be and turn a conclusion.

    Attributes:
        first_succeed, second_succeed: how many unscored episodes of each side succeed there;
        decision: what the conclusion becomes.
    """

    first_succeed: int
    second_succeed: int
    decision: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TippingPoint:
    """How a conclusion depends on the unscored.

    Attributes:
        decision: the conclusion without the unscored.
        first_unscored, second_unscored: how many episodes of the pairs played by both.
        turns: one a direction in which it turns; empty where nothing that they could be turns it.
        sentence: the same in words.
    """

    decision: str
    first_unscored: int
    second_unscored: int
    turns: tuple[Turn, ...]
    sentence: str
