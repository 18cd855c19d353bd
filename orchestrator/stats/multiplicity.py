"""Several questions at once: p-values of a family."""

from __future__ import annotations

from collections.abc import Sequence


def holm(values: Sequence[float | None]) -> tuple[float | None, ...]:
    """Return p-values adjusted by Holm's step-down procedure (1979), in the given order.

    A question without a p-value stays None. It still counts in the family that was registered: to
    leave it out would make the others easier to pass for what could not be answered.

    Raises:
        ValueError: a value is no probability.
    """
    if not all(value is None or 0 <= value <= 1 for value in values):
        message = f"not all are p-values: {list(values)}"
        raise ValueError(message)
    known = sorted((value, place) for place, value in enumerate(values) if value is not None)
    adjusted: list[float | None] = [None] * len(values)
    largest = 0.0
    for rank, (value, place) in enumerate(known):
        largest = max(largest, min(1.0, value * (len(values) - rank)))
        adjusted[place] = largest
    return tuple(adjusted)
