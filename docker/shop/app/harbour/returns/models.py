"""One thing that comes back: some pieces of an order's line, why, and what became of it."""

from __future__ import annotations

from decimal import Decimal

from django.db import models
from django.db.models import Sum


class Reason(models.TextChoices):
    """Why something comes back."""

    DAMAGED = "damaged", "Damaged on arrival"
    FAULTY = "faulty", "Faulty"
    WRONG = "wrong", "Wrong item sent"
    DIFFERENT = "different", "Not as described"
    FIT = "fit", "Does not fit"
    MIND = "mind", "Changed my mind"


class Status(models.TextChoices):
    """How far a return has come."""

    REQUESTED = "Requested", "Requested"
    APPROVED = "Approved", "Approved"
    RECEIVED = "Received", "Received"
    REFUNDED = "Refunded", "Refunded"
    REFUSED = "Refused", "Refused"


PIPELINE: dict[Status, tuple[Status, ...]] = {
    Status.REQUESTED: (Status.APPROVED, Status.REFUSED),
    Status.APPROVED: (Status.RECEIVED, Status.REFUSED),
    Status.RECEIVED: (Status.REFUNDED, Status.REFUSED),
    Status.REFUNDED: (),
    Status.REFUSED: (),
}
RETURNABLE = ("Shipped", "Complete", "Returned")  # orders that have reached the customer


class Return(models.Model):
    """A return of one line of an order; `refund_amount` is in the order's currency."""

    order = models.ForeignKey("order.Order", models.CASCADE, related_name="returns")
    line = models.ForeignKey("order.Line", models.CASCADE, related_name="returns")
    quantity = models.PositiveIntegerField(default=1)
    reason = models.CharField(max_length=16, choices=Reason.choices)
    comment = models.TextField(blank=True, default="")
    status = models.CharField(max_length=16, choices=Status.choices, default=Status.REQUESTED)
    refund_amount = models.DecimalField(max_digits=12, decimal_places=2, null=True, blank=True)
    note = models.TextField(blank=True, default="")
    date_requested = models.DateTimeField(auto_now_add=True)
    date_updated = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ("-date_requested", "-id")

    def __str__(self) -> str:
        return f"Return {self.pk} of order {self.order.number}"

    @property
    def most_refund(self) -> Decimal:
        """What was paid for the pieces that come back."""
        return self.line.line_price_incl_tax / self.line.quantity * self.quantity

    @property
    def next_statuses(self) -> tuple[Status, ...]:
        """The statuses that may follow."""
        return PIPELINE[Status(self.status)]


def returnable(line: models.Model) -> int:
    """Return how many pieces of a line have not come back yet, refused returns left out."""
    underway = line.returns.exclude(status=Status.REFUSED).aggregate(pieces=Sum("quantity"))
    return line.quantity - (underway["pieces"] or 0)
