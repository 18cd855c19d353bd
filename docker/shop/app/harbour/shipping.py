"""The two ways of delivery; the seed's orders use the same codes and prices."""

from __future__ import annotations

from decimal import Decimal

from oscar.apps.shipping.methods import Base
from oscar.core import prices


class Standard(Base):
    """Standard delivery, free from 75 pounds."""

    code = "standard"
    name = "Standard delivery"
    description = "Three to five working days; free for orders of £75 and over."
    charge = Decimal("3.95")
    free_from = Decimal(75)

    def calculate(self, basket: object) -> prices.Price:
        """Return the charge for the basket."""
        charge = Decimal(0) if basket.total_incl_tax >= self.free_from else self.charge
        return prices.Price(currency=basket.currency, excl_tax=charge, incl_tax=charge)


class Express(Standard):
    """Express delivery at one price."""

    code = "express"
    name = "Express delivery"
    description = "Next working day."
    charge = Decimal("9.95")
    free_from = Decimal("Infinity")
