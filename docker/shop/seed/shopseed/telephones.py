"""Gives customers their telephone numbers, all of them from the ranges that are kept for fiction."""

from __future__ import annotations

from random import Random

from django.db import connection
from oscar.core.loading import get_model

from shopseed.dealings import phrases

UserAddress = get_model("address", "UserAddress")

CUSTOMER_ID = 2
SERVICE = "+441174960100"  # the shop's own, on its page of contact


def _number(rng: Random, pattern: str, given: set[str]) -> str:
    while True:
        number = "".join(str(rng.randrange(10)) if sign == "#" else sign for sign in pattern)
        if number not in given:
            given.add(number)
            return number


def write_telephones() -> None:
    """Write them into the address books, and into the orders as Oscar copies them at the checkout."""
    words = phrases("telephones")
    rng = Random("telephones")
    given = {SERVICE}
    addresses = list(UserAddress.objects.order_by("id"))
    for address in addresses:
        pattern = words["numbers"].get(address.line4)
        if pattern and (rng.random() < words["share"] or address.user_id == CUSTOMER_ID):
            address.phone_number = _number(rng, pattern, given)
    UserAddress.objects.bulk_update(addresses, ["phone_number"], batch_size=250)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE order_shippingaddress s JOIN order_order o ON o.shipping_address_id = s.id "
            "JOIN address_useraddress a ON a.user_id = o.user_id SET s.phone_number = a.phone_number"
        )
