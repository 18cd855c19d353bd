"""Writes the returns: those of the returned orders, and some that are underway."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from random import Random
from typing import Any

from harbour.returns.models import Reason, Return, Status
from oscar.core.loading import get_model

from shopseed.clock import NOW
from shopseed.dealings import phrases

Line = get_model("order", "Line")

UNDERWAY = 26
RECENT = timedelta(days=120)
CUSTOMER_ID = 2
# The customer role's own: order, place of the line in it, reason, status, refunded share.
CUSTOMERS = (
    ("102384", 0, Reason.MIND, Status.REFUSED, None),
    ("102618", 0, Reason.DAMAGED, Status.REFUNDED, Decimal(1)),
    ("102793", 1, Reason.DIFFERENT, Status.REFUNDED, Decimal("0.5")),
    ("102864", 0, Reason.FAULTY, Status.APPROVED, None),
)


def _return(
    rng: Random, line: Any, reason: Reason, status: Status, share: Decimal | None
) -> Return:
    words = phrases("returns")
    days = rng.randint(4, 20)
    requested = min(line.order.date_placed + timedelta(days=days), NOW - timedelta(hours=30))
    paid = line.line_price_incl_tax
    return Return(
        order=line.order,
        line=line,
        quantity=line.quantity,
        reason=reason,
        comment=rng.choice(words["comments"][reason.value]),
        status=status,
        refund_amount=None if share is None else (paid * share).quantize(Decimal("0.01")),
        note=rng.choice(words["notes"].get(status.value, [""])),
        date_requested=requested,
        date_updated=min(requested + timedelta(days=3), NOW),
    )


def write_returns() -> None:
    """Write them in the order of their dates."""
    rng = Random("returns")
    reasons = list(Reason)
    lines = list(Line.objects.select_related("order").order_by("id"))
    rows = []
    for line in lines:
        if line.order.status == "Returned":
            reason = rng.choice(reasons)
            rows.append(_return(rng, line, reason, Status.REFUNDED, Decimal(1)))
    recent = [
        line
        for line in lines
        if line.order.status in {"Shipped", "Complete"}
        and line.order.date_placed > NOW - RECENT
        and line.order.user_id != CUSTOMER_ID
    ]
    statuses = (
        Status.REQUESTED,
        Status.REQUESTED,
        Status.APPROVED,
        Status.RECEIVED,
        Status.REFUSED,
    )
    for place, line in enumerate(rng.sample(recent, UNDERWAY)):
        status = statuses[place % len(statuses)]
        rows.append(_return(rng, line, rng.choice(reasons), status, None))
    for number, place, reason, status, share in CUSTOMERS:
        line = [line for line in lines if line.order.number == number][place]
        rows.append(_return(rng, line, reason, status, share))
    rows.sort(key=lambda row: (row.date_requested, row.line.id))
    for number, row in enumerate(rows, start=1):
        row.id = number
    Return.objects.bulk_create(rows)
