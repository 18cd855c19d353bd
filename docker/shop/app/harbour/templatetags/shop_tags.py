"""Template tags of the shop's own pages."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from typing import Any

from django import template

from harbour import customers, invoices, letters, parcels, related
from harbour.groups.forms import MembershipForm
from harbour.returns.models import RETURNABLE

register = template.Library()


@register.simple_tag
def related_products(product: object) -> list[object]:
    """Return the related products of a product."""
    return related.related(product)


@register.simple_tag
def also_bought(product: object) -> list[object]:
    """Return what customers bought together with a product."""
    return related.also_bought(product)


@register.filter
def may_be_returned(order: object) -> bool:
    """Tell whether something of an order can be returned."""
    return order.status in RETURNABLE


@register.simple_tag
def membership_form(customer: object) -> MembershipForm:
    """Return the form that sets a customer's groups."""
    return MembershipForm(initial={"groups": customer.customer_groups.all()})


@register.filter
def telephone(customer: object) -> str:
    """Return a customer's telephone number, or nothing."""
    return customers.telephone(customer)


@register.simple_tag
def parcels_of(order: object) -> list[parcels.Parcel]:
    """Return the parcels of an order."""
    return parcels.parcels(order)


@register.filter
def expected_arrival(order: object) -> date | None:
    """Return when an order that has not been sent yet should arrive."""
    return parcels.expected_arrival(order)


@register.simple_tag
def parcel_form() -> parcels.ParcelForm:
    """Return the form that notes a parcel."""
    return parcels.ParcelForm()


@register.simple_tag
def letters_of(order: object) -> Iterable[object]:
    """Return the letters to the customer about an order."""
    return letters.letters(order)


@register.simple_tag
def letter_form() -> letters.LetterForm:
    """Return the form that writes to the customer."""
    return letters.LetterForm()


@register.filter
def has_invoice(order: object) -> bool:
    """Tell whether an order has an invoice."""
    return invoices.has_invoice(order)


@register.simple_tag
def lines_with_options(order: object) -> list[dict[str, Any]]:
    """Return the lines of an order with size and finish."""
    return invoices.lines_with_options(order)


@register.simple_tag
def total(rows: Iterable[dict[str, Any]], column: str) -> Decimal:
    """Return the sum of a column of a report, over all its pages."""
    return sum((row[column] or 0 for row in rows), Decimal(0))
