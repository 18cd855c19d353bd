"""Writes what visitors wrote to the shop, and who reads its newsletter."""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random

from django.contrib.auth.models import User
from django.utils.text import slugify
from harbour.service.models import Enquiry, Subscription
from oscar.core.loading import get_model

from shopseed import vocabulary
from shopseed.clock import NOW, moment
from shopseed.dealings import phrases

Order = get_model("order", "Order")
UserAddress = get_model("address", "UserAddress")

CUSTOMER_ID = 2
ANSWERED_AFTER = timedelta(days=4)
SHARE_OPEN = 0.06  # of the older messages
FIRST_NEWSLETTER = datetime(2024, 3, 1, 8, 0, tzinfo=NOW.tzinfo)


def _strangers(rng: Random, count: int) -> list[tuple[str, str]]:
    """Return names and addresses of people who are no customers; their addresses have a number."""
    people = vocabulary.phrases("people")
    firsts, lasts = people["first"].split(), people["last"].split()
    found = []
    for number in rng.sample(range(100, 1000), count):
        first, last = rng.choice(firsts), rng.choice(lasts).replace("-", " ")
        host = rng.choice(people["mail_hosts"])
        found.append((f"{first} {last}", f"{slugify(first)}.{slugify(last)}{number}@{host}"))
    return found


def _about_orders(rng: Random, words: dict[str, list[str]]) -> list[Enquiry]:
    orders = Order.objects.select_related("user").prefetch_related("lines").order_by("id")
    recent = orders.filter(date_placed__range=(NOW - timedelta(days=500), NOW - timedelta(days=2)))
    others = list(recent.exclude(user_id=CUSTOMER_ID).exclude(status="Cancelled"))
    telephones = dict(UserAddress.objects.values_list("user_id", "phone_number"))
    rows = []
    for order in rng.sample(others, words["about_orders"]):
        item = rng.choice(sorted(order.lines.all(), key=lambda line: line.id)).title
        wrote = order.date_placed + timedelta(days=rng.randint(1, 20), minutes=rng.randrange(600))
        rows.append(
            Enquiry(
                name=order.user.get_full_name(),
                email=order.user.email,
                telephone=str(telephones[order.user_id]) if rng.random() < 0.4 else "",
                order_number=order.number,
                message=rng.choice(words["orders"]).format(item=item, order=order.number),
                user=order.user,
                date_created=min(wrote, NOW - timedelta(minutes=rng.randint(30, 900))),
            )
        )
    return rows


def write_enquiries() -> None:
    """Write them in the order of their dates; few of the older ones are not answered."""
    words = phrases("service")["enquiry"]
    rng = Random("enquiries")
    rows = _about_orders(rng, words)
    for name, email in _strangers(rng, words["about_nothing"]):
        wrote = moment(rng, NOW - timedelta(days=500))
        text = rng.choice(words["others"])
        rows.append(Enquiry(name=name, email=email, message=text, date_created=wrote))
    rows.sort(key=lambda row: (row.date_created, row.email))
    for number, row in enumerate(rows, start=1):
        row.id = number
        is_old = row.date_created < NOW - ANSWERED_AFTER
        row.is_answered = is_old and rng.random() >= SHARE_OPEN
    Enquiry.objects.bulk_create(rows)


def write_subscriptions() -> None:
    """Write them in the order of their dates; the customer role has none."""
    words = phrases("service")["newsletter"]
    rng = Random("newsletter")
    users = list(User.objects.filter(is_staff=False).exclude(id=CUSTOMER_ID).order_by("id"))
    rows = [
        (moment(rng, max(user.date_joined, FIRST_NEWSLETTER)), user.email)
        for user in rng.sample(users, words["customers"])
    ]
    rows += [
        (moment(rng, FIRST_NEWSLETTER), email) for _, email in _strangers(rng, words["others"])
    ]
    rows.sort()
    Subscription.objects.bulk_create(
        Subscription(id=number, email=email, date_created=joined)
        for number, (joined, email) in enumerate(rows, start=1)
    )
