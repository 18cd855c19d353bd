"""Template tags of the shop's own pages."""

from __future__ import annotations

from django import template

from harbour import related
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
