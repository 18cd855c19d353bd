"""Writes ranges, site offers, vouchers and wish lists."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any

from oscar.core.loading import get_model

from shopseed.clock import NOW, moment
from shopseed.plan import Plan
from shopseed.vocabulary import phrases

Benefit = get_model("offer", "Benefit")
Category = get_model("catalogue", "Category")
Condition = get_model("offer", "Condition")
ConditionalOffer = get_model("offer", "ConditionalOffer")
Range = get_model("offer", "Range")
Voucher = get_model("voucher", "Voucher")
WishList = get_model("wishlists", "WishList")
WishListLine = get_model("wishlists", "Line")

USAGE = {
    "Single use": Voucher.SINGLE_USE,
    "Multi-use": Voucher.MULTI_USE,
    "Once per customer": Voucher.ONCE_PER_CUSTOMER,
}
CANDLES = "Candles"
CUSTOMER_ID = 2
WISHES = ("Tents", "Sleeping Bags", "Headlamps", "Kettles", "Fountain Pens", "Chess Sets")


def _moment(day: date) -> datetime:
    return datetime.combine(day, datetime.min.time(), tzinfo=NOW.tzinfo)


def _ranges() -> dict[str, Range]:
    ranges = {"": Range.objects.create(name="Whole shop", includes_all_products=True)}
    for root in Category.get_root_nodes():
        ranges[root.name] = Range.objects.create(name=root.name)
        ranges[root.name].included_categories.add(root)
    ranges[CANDLES] = Range.objects.create(name=CANDLES)
    ranges[CANDLES].included_categories.add(Category.objects.get(name=CANDLES))
    return ranges


def _offer(name: str, offer_type: str, rule: Condition, benefit: Benefit) -> ConditionalOffer:
    return ConditionalOffer.objects.create(
        name=name,
        offer_type=offer_type,
        condition=rule,
        benefit=benefit,
        exclusive=True,
        status=ConditionalOffer.OPEN,
    )


def write_voucher(entry: dict[str, Any], selected: Range, added: int) -> None:
    """Write a voucher with its offer."""
    rule = Condition.objects.create(
        range=selected,
        type=Condition.VALUE if entry["least"] else Condition.COUNT,
        value=Decimal(entry["least"] or 1),
    )
    benefit = Benefit.objects.create(
        range=selected,
        type=Benefit.PERCENTAGE if "percent" in entry else Benefit.FIXED,
        value=Decimal(entry.get("percent") or entry["pounds"]),
    )
    offer = _offer(f"Offer for voucher '{entry['name']}'", ConditionalOffer.VOUCHER, rule, benefit)
    voucher = Voucher.objects.create(
        name=entry["name"],
        code=entry["code"],
        usage=USAGE[entry["usage"]],
        start_datetime=_moment(entry["start"]),
        end_datetime=_moment(entry["end"]) + timedelta(hours=23, minutes=59),
        num_basket_additions=added,
        date_created=_moment(entry["start"]) - timedelta(days=3),
    )
    voucher.offers.add(offer)


def write_offers() -> None:
    """Write the ranges, the vouchers and one site offer."""
    ranges = _ranges()
    rng = Random("vouchers")
    for entry in phrases("vouchers")["voucher"]:
        added = 0 if entry["usage"] == "Single use" else rng.randint(20, 160)
        write_voucher(entry, ranges[entry["department"]], added)
    three = Condition.objects.create(range=ranges[CANDLES], type=Condition.COUNT, value=Decimal(3))
    free = Benefit.objects.create(range=ranges[CANDLES], type=Benefit.MULTIBUY)
    offer = _offer("Three candles for two", ConditionalOffer.SITE, three, free)
    offer.description = "Put three candles in your basket and the cheapest of them is free."
    offer.save()


def write_wishlists(items: list[Plan]) -> None:
    """Give the customer role one wish list, and some others one each."""
    rng = Random("wishes")
    names = {item.words.name for item in items}
    groups = [[i for i in items if i.words.name == name and i.price] for name in sorted(names)]
    owners = [CUSTOMER_ID, *sorted(rng.sample(range(3, 500), 40))]
    line_id = 1
    for number, owner in enumerate(owners, start=1):
        wishlist = WishList(
            id=number,
            owner_id=owner,
            name="Autumn trip" if owner == CUSTOMER_ID else "Wish list",
            key=f"{number:06x}".replace("0", "h"),
            date_created=moment(rng, NOW - timedelta(days=300)),
        )
        WishList.objects.bulk_create([wishlist])  # its own save would draw a random key
        if owner == CUSTOMER_ID:
            chosen = [rng.choice(group) for group in groups if group[0].words.name in WISHES]
        else:
            chosen = [rng.choice(rng.choice(groups)) for _ in range(rng.randint(1, 6))]
        for item in {item.id: item for item in chosen}.values():
            WishListLine.objects.create(
                id=line_id, wishlist=wishlist, product_id=item.id, quantity=1, title=item.title
            )
            line_id += 1
