"""Value added tax: prices include it; it is worked out of sums, as a retail scheme allows."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

RATE = 20  # per cent
SHARE = Decimal(RATE) / (100 + RATE)  # of a price that includes it
PENNY = Decimal("0.01")


def vat_in(total: Decimal) -> Decimal:
    """Return the tax that a sum includes."""
    return (total * RATE / (100 + RATE)).quantize(PENNY, ROUND_HALF_UP)
