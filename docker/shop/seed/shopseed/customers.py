"""Writes the accounts, their addresses and the countries."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Any

from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.utils.text import slugify
from oscar.core.loading import get_model

from shopseed.clock import NOW, moment
from shopseed.vocabulary import phrases

Country = get_model("address", "Country")
UserAddress = get_model("address", "UserAddress")

CUSTOMERS = 500
FIRST_JOINED = datetime(2023, 4, 1, 8, 0, tzinfo=NOW.tzinfo)
MERCHANT = ("Margaret", "Oakes", "margaret.oakes@harbourandpine.example", "pine-merchant-2026")
CUSTOMER = ("Emma", "Hartley", "emma.hartley@example.com", "harbour-emma-2026")


@dataclass(frozen=True, slots=True)
class Home:
    """Where a customer lives."""

    line1: str
    city: str
    region: str
    postcode: str
    country: str


EMMA = Home("27 Harbour View", "Bristol", "Avon", "BS8 4RT", "GB")


def write_countries() -> None:
    """Create the countries that the shop ships to, its own first."""
    for number, (two, three, digits, name) in enumerate(phrases("people")["countries"]):
        Country.objects.create(
            iso_3166_1_a2=two,
            iso_3166_1_a3=three,
            iso_3166_1_numeric=digits,
            name=name,
            printable_name=name,
            display_order=100 - number,
            is_shipping_country=True,
        )


def _home(rng: Random, people: dict[str, Any]) -> Home:
    city, region, pattern, country = rng.choice(people["cities"])
    letters = "ABDEFGHJLNPQRSTUWXYZ"
    postcode = "".join(
        str(rng.randrange(1, 10)) if sign == "#" else rng.choice(letters) if sign == "@" else sign
        for sign in pattern
    )
    street = rng.choice([name.strip() for name in people["streets"].split(",")])
    return Home(f"{rng.randrange(1, 140)} {street}", city, region, postcode, country)


def _user(number: int, name: tuple[str, str], email: str, password: str, joined: datetime) -> User:
    # A shorter salt would make Django hash the password anew at the first login.
    return User(
        id=number,
        username=f"{slugify(name[0])}-{slugify(name[1])}-{number}",
        first_name=name[0],
        last_name=name[1],
        email=email,
        password=make_password(password, salt=f"harbourandpinearena{number:05d}"),
        date_joined=joined,
    )


def write_accounts() -> dict[int, Home]:
    """Create the merchant (id 1) and the customers (ids 2 and up); return where they live."""
    people = phrases("people")
    rng = Random("people")
    firsts, lasts = people["first"].split(), people["last"].split()
    merchant = _user(1, MERCHANT[:2], *MERCHANT[2:], FIRST_JOINED)
    merchant.is_staff = merchant.is_superuser = True  # Oscar asks permissions of mere staff
    users = [merchant, _user(2, CUSTOMER[:2], *CUSTOMER[2:], FIRST_JOINED + timedelta(days=9))]
    homes = {2: EMMA}
    pairs = [(first, last.replace("-", " ")) for first in firsts for last in lasts]
    pairs.remove(("Emma", "Hartley"))
    for number, name in enumerate(rng.sample(pairs, CUSTOMERS - 1), start=3):
        email = f"{slugify(name[0])}.{slugify(name[1])}@{rng.choice(people['mail_hosts'])}"
        joined = moment(rng, FIRST_JOINED, NOW - timedelta(days=5))
        users.append(_user(number, name, email, f"harbour-{number}", joined))
        homes[number] = _home(rng, people)
    User.objects.bulk_create(users)
    addresses = []
    for number, user in enumerate(users[1:], start=1):
        home = homes[user.id]
        address = UserAddress(id=number, user=user, **address_values(user, home))
        address.is_default_for_shipping = address.is_default_for_billing = True
        address.search_text = ", ".join(address.active_address_fields())
        address.hash = address.generate_hash()
        address.date_created = user.date_joined
        addresses.append(address)
    UserAddress.objects.bulk_create(addresses)
    return homes


def address_values(user: User, home: Home) -> dict[str, str]:
    """Return the columns that every kind of address shares."""
    return {
        "first_name": user.first_name,
        "last_name": user.last_name,
        "line1": home.line1,
        "line4": home.city,
        "state": home.region,
        "postcode": home.postcode,
        "country_id": home.country,
        "search_text": "",
    }
