"""Writes the customer groups, their members and the voucher that is for one of them."""

from __future__ import annotations

from random import Random

from django.contrib.auth.models import User
from django.db.models import Count
from harbour.groups.models import CustomerGroup
from oscar.core.loading import get_model

from shopseed import offers
from shopseed.dealings import phrases

Range = get_model("offer", "Range")
Voucher = get_model("voucher", "Voucher")


def write_groups() -> None:
    """Write the groups: by the number of orders where a group asks for it, else by lot."""
    words = phrases("groups")
    offers.write_voucher(words["voucher"], Range.objects.get(name="Whole shop"), added=31)
    rng = Random("groups")
    customers = User.objects.filter(is_staff=False).order_by("id")
    loyal = customers.annotate(count=Count("orders"))
    numbers = list(customers.filter(id__gt=offers.CUSTOMER_ID).values_list("id", flat=True))
    for entry in words["group"]:
        group = CustomerGroup.objects.create(name=entry["name"], description=entry["description"])
        if "orders" in entry:
            members = list(loyal.filter(count__gte=entry["orders"]).values_list("id", flat=True))
        else:
            members = sorted(rng.sample(numbers, entry["size"]))
        group.members.add(*members)
        group.vouchers.add(*Voucher.objects.filter(code__in=entry.get("vouchers", [])))
