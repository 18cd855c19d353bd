"""The converter: a value of one unit in another."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from desk.expressions import shown
from desk.units import QUANTITIES, convert, quantity

_LARGEST = Decimal(10) ** 30


def page(request: HttpRequest) -> HttpResponse:
    """Show a quantity's units, and the value asked for in the other unit."""
    measured = quantity(request.GET.get("quantity", ""))
    source = measured.unit(request.GET.get("from", "")) or measured.units[0]
    target = measured.unit(request.GET.get("to", "")) or measured.units[1]
    text = request.GET.get("value", "").strip()
    value = _number(text)
    context = {
        "quantities": QUANTITIES,
        "measured": measured,
        "source": source,
        "target": target,
        "text": text,
        "problem": "Type a number, such as 12.5." if text and value is None else "",
        "value": shown(value) if value is not None else "",
        "result": shown(convert(value, source, target)) if value is not None else "",
    }
    return render(request, "converter.html", context)


def _number(text: str) -> Decimal | None:
    try:
        value = Decimal(text)
    except InvalidOperation:
        return None
    return value if value.is_finite() and abs(value) <= _LARGEST else None
