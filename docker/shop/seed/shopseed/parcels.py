"""Writes what was sent: a shipping event of an order, with the carrier's tracking number."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime, time, timedelta
from random import Random
from string import ascii_uppercase

from oscar.core.loading import get_model

from shopseed.clock import NOW
from shopseed.dealings import phrases

Line = get_model("order", "Line")
OrderStatusChange = get_model("order", "OrderStatusChange")
ShippingEvent = get_model("order", "ShippingEvent")
ShippingEventQuantity = get_model("order", "ShippingEventQuantity")
ShippingEventType = get_model("order", "ShippingEventType")

CUSTOMER_ID = 2
BATCH = 1000


def _reference(rng: Random, carriers: list[dict[str, str]]) -> str:
    carrier = rng.choices(carriers, weights=[entry["weight"] for entry in carriers])[0]
    signs = {"#": lambda: str(rng.randrange(10)), "@": lambda: rng.choice(ascii_uppercase)}
    number = "".join(signs[sign]() if sign in signs else sign for sign in carrier["number"])
    return f"{carrier['name']} {number}"


def write_parcels() -> None:
    """Write one parcel for most orders that were shipped since the shop notes its parcels."""
    words = phrases("parcels")
    rng = Random("parcels")
    sent_type = ShippingEventType.objects.create(id=1, name="Dispatched", code="dispatched")
    since = datetime.combine(words["since"], time(), tzinfo=NOW.tzinfo)
    lines = defaultdict(list)
    for line in Line.objects.order_by("id"):
        lines[line.order_id].append(line)
    changes = OrderStatusChange.objects.filter(new_status="Shipped", date_created__gte=since)
    events, quantities = [], []
    for change in changes.select_related("order").order_by("order_id"):
        reference = _reference(rng, words["carrier"])
        minutes = rng.randint(3, 55)
        if rng.random() >= words["share"] and change.order.user_id != CUSTOMER_ID:
            continue
        event = ShippingEvent(
            id=len(events) + 1,
            order_id=change.order_id,
            event_type=sent_type,
            notes=reference,
            date_created=min(change.date_created + timedelta(minutes=minutes), NOW),
        )
        events.append(event)
        quantities += [
            ShippingEventQuantity(event=event, line=line, quantity=line.quantity)
            for line in lines[change.order_id]
        ]
    ShippingEvent.objects.bulk_create(events, batch_size=BATCH)
    ShippingEventQuantity.objects.bulk_create(quantities, batch_size=BATCH)
