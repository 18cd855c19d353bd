"""Parcels: Oscar's shipping events with carrier and tracking number, and when they come."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.generic import View
from oscar.core.loading import get_class, get_model

from harbour.merchant import MerchantOnly

EventHandler = get_class("order.processing", "EventHandler")
Order = get_model("order", "Order")
ShippingEventType = get_model("order", "ShippingEventType")

CARRIERS = ("Royal Mail", "DPD", "DHL", "Evri", "FedEx", "UPS")
PACKING_DAYS = 2
DAYS = {"express": 1}
STANDARD_DAYS = 5
UNSENT = ("Pending", "Being processed")


@dataclass(frozen=True, slots=True)
class Parcel:
    """One parcel as its order's pages show it."""

    id: int
    reference: str
    sent: date
    expected: date


def after(day: date, working_days: int) -> date:
    """Return the day that comes so many working days later."""
    while working_days:
        day += timedelta(days=1)
        working_days -= day.weekday() < 5
    return day


def parcels(order: Any) -> list[Parcel]:
    """Return the parcels of an order, the first one first."""
    days = DAYS.get(order.shipping_code, STANDARD_DAYS)
    sent = order.shipping_events.filter(event_type__code="dispatched").order_by(
        "date_created", "id"
    )
    return [
        Parcel(
            event.id, event.notes, event.date_created.date(), after(event.date_created.date(), days)
        )
        for event in sent
    ]


def expected_arrival(order: Any) -> date | None:
    """Return when an order that has not been sent yet should arrive."""
    if order.status not in UNSENT:
        return None
    days = PACKING_DAYS + DAYS.get(order.shipping_code, STANDARD_DAYS)
    return after(order.date_placed.date(), days)


class ParcelForm(forms.Form):
    """Names the carrier and the number under which it tracks the parcel."""

    carrier = forms.ChoiceField(
        label="Carrier", choices=[("", "Choose a carrier"), *((name, name) for name in CARRIERS)]
    )
    number = forms.CharField(label="Tracking number", max_length=40)


class ParcelCreateView(MerchantOnly, View):
    """Notes a parcel with what of the order no earlier one holds."""

    http_method_names = ("post",)

    def post(self, request: HttpRequest, number: str) -> HttpResponse:
        """Create the shipping event."""
        order = get_object_or_404(Order, number=number)
        form = ParcelForm(request.POST)
        if form.is_valid():
            reference = "{carrier} {number}".format(**form.cleaned_data)
            kind = ShippingEventType.objects.get(code="dispatched")
            left = {
                line: line.quantity - line.shipping_event_quantity(kind)
                for line in order.lines.all()
            }
            left = {line: quantity for line, quantity in left.items() if quantity > 0}
            handler = EventHandler(request.user)
            handler.create_shipping_event(
                order, kind, list(left), list(left.values()), reference=reference
            )
            messages.success(request, f"Parcel saved: {reference}.")
        else:
            messages.error(request, "Choose a carrier and give the tracking number.")
        return redirect("dashboard:order-detail", number=number)


class ParcelRemoveView(MerchantOnly, View):
    """Removes a parcel that was noted by mistake."""

    http_method_names = ("post",)

    def post(self, request: HttpRequest, number: str, pk: int) -> HttpResponse:
        """Delete the shipping event."""
        order = get_object_or_404(Order, number=number)
        event = get_object_or_404(order.shipping_events, pk=pk)
        event.delete()
        messages.success(request, f"Parcel removed: {event.notes}.")
        return redirect("dashboard:order-detail", number=number)
