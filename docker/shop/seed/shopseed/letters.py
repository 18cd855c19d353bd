"""Writes the letters to customers about their orders, as the dashboard would have sent them."""

from __future__ import annotations

from datetime import timedelta
from random import Random
from typing import Any

from oscar.core.loading import get_model

from shopseed.clock import NOW
from shopseed.dealings import phrases

CommunicationEvent = get_model("order", "CommunicationEvent")
CommunicationEventType = get_model("communication", "CommunicationEventType")
Email = get_model("communication", "Email")
Order = get_model("order", "Order")

CUSTOMER_ID = 2
RECENT = timedelta(days=400)


def _orders(rng: Random, words: dict[str, Any]) -> list[Any]:
    orders = Order.objects.select_related("user").prefetch_related("lines").order_by("id")
    others = orders.filter(date_placed__gt=NOW - RECENT).exclude(user_id=CUSTOMER_ID)
    chosen = rng.sample(list(others), words["letters"] - len(words["customers_letters"]))
    return [*chosen, *orders.filter(number__in=words["customers_letters"])]


def write_letters() -> None:
    """Write them in the order of their dates, each with the communication event of its order."""
    words = phrases("service")
    rng = Random("letters")
    kind = CommunicationEventType.objects.create(
        id=1,
        code="ORDER_MESSAGE",
        name="Message about an order",
        date_created=NOW,
        date_updated=NOW,
    )
    rows = []
    for order in _orders(rng, words):
        item = rng.choice(sorted(order.lines.all(), key=lambda line: line.id)).title
        text = rng.choice(words["letter"][order.status])
        sent = min(order.date_placed + timedelta(minutes=rng.randint(1500, 4000)), NOW)
        rows.append((sent, order, text.format(first=order.user.first_name, item=item)))
    rows.sort(key=lambda row: (row[0], row[1].id))
    Email.objects.bulk_create(
        Email(
            id=number,
            user=order.user,
            email=order.user.email,
            subject=f"About your order {order.number}",
            body_text=text,
            date_sent=sent,
        )
        for number, (sent, order, text) in enumerate(rows, start=1)
    )
    CommunicationEvent.objects.bulk_create(
        CommunicationEvent(id=number, order=order, event_type=kind, date_created=sent)
        for number, (sent, order, _) in enumerate(rows, start=1)
    )
