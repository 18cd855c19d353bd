"""Writes ranges, site offers, vouchers and wish lists."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from random import Random

from oscar.core.loading import get_model

from shopseed.clock import NOW, moment
from shopseed.plan import Plan

Benefit = get_model("offer", "Benefit")
Category = get_model("catalogue", "Category")
Condition = get_model("offer", "Condition")
ConditionalOffer = get_model("offer", "ConditionalOffer")
Range = get_model("offer", "Range")
Voucher = get_model("voucher", "Voucher")
WishList = get_model("wishlists", "WishList")
WishListLine = get_model("wishlists", "Line")

ZONE = NOW.tzinfo
# name, code, kind of benefit, value, least basket value, usage, range, start, end
VOUCHERS = (
    ("Welcome to Harbour & Pine", "WELCOME10", "Percentage", 10, 0, "Once per customer", "", "2024-01-01", "2035-12-31"),
    ("Autumn at home", "AUTUMN15", "Percentage", 15, 60, "Multi-use", "", "2026-09-01", "2035-12-31"),
    ("Five pounds off", "FIVER", "Absolute", 5, 40, "Multi-use", "", "2025-05-01", "2035-12-31"),
    ("Coffee lovers", "COFFEE20", "Percentage", 20, 0, "Multi-use", "Kitchen & Coffee", "2026-03-01", "2035-12-31"),
    ("Trail season", "TRAIL12", "Percentage", 12, 100, "Multi-use", "Camping & Hiking", "2026-04-01", "2035-12-31"),
    ("Pen pals", "INKWELL", "Percentage", 25, 0, "Once per customer", "Writing & Paper", "2026-02-01", "2035-12-31"),
    ("Game night", "GAMENIGHT", "Absolute", 8, 50, "Multi-use", "Games & Puzzles", "2025-10-01", "2035-12-31"),
    ("Green fingers", "GREEN10", "Percentage", 10, 30, "Multi-use", "Garden", "2026-03-15", "2035-12-31"),
    ("Thank you for waiting", "SORRY20", "Absolute", 20, 0, "Single use", "", "2026-06-01", "2035-12-31"),
    ("Summer sale 2025", "SUMMER25", "Percentage", 25, 0, "Multi-use", "", "2025-06-01", "2025-08-31"),
    ("Black Friday 2025", "BLACK30", "Percentage", 30, 80, "Multi-use", "", "2025-11-27", "2025-12-01"),
    ("Spring clean 2026", "SPRING18", "Percentage", 18, 45, "Once per customer", "", "2026-03-01", "2026-05-31"),
)
CANDLES = "Candles"
WISHES = ("Tents", "Sleeping Bags", "Headlamps", "Kettles", "Fountain Pens", "Chess Sets")


def _date(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=ZONE)


def _ranges() -> dict[str, Range]:
    ranges = {"": Range.objects.create(name="Whole shop", includes_all_products=True)}
    for root in Category.get_root_nodes():
        ranges[root.name] = Range.objects.create(name=root.name)
        ranges[root.name].included_categories.add(root)
    candles = Category.objects.filter(name=CANDLES).first()
    if candles:
        ranges[CANDLES] = Range.objects.create(name=CANDLES)
        ranges[CANDLES].included_categories.add(candles)
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


def write_offers() -> None:
    """Write the ranges, the vouchers and one site offer."""
    ranges = _ranges()
    rng = Random("vouchers")
    for name, code, kind, value, least, usage, range_name, start, end in VOUCHERS:
        selected = ranges.get(range_name, ranges[""])
        rule = Condition.objects.create(
            range=selected,
            type=Condition.VALUE if least else Condition.COUNT,
            value=Decimal(least or 1),
        )
        benefit = Benefit.objects.create(
            range=selected,
            type=Benefit.PERCENTAGE if kind == "Percentage" else Benefit.FIXED,
            value=Decimal(value),
        )
        offer = _offer(f"Offer for voucher '{name}'", ConditionalOffer.VOUCHER, rule, benefit)
        voucher = Voucher.objects.create(
            name=name,
            code=code,
            usage=usage.replace("Single use", Voucher.SINGLE_USE)
            .replace("Multi-use", Voucher.MULTI_USE)
            .replace("Once per customer", Voucher.ONCE_PER_CUSTOMER),
            start_datetime=_date(start),
            end_datetime=_date(end) + timedelta(hours=23, minutes=59),
            num_basket_additions=0 if code == "SORRY20" else rng.randint(20, 160),
            date_created=_date(start) - timedelta(days=3),
        )
        voucher.offers.add(offer)
    if CANDLES in ranges:
        three = Condition.objects.create(
            range=ranges[CANDLES], type=Condition.COUNT, value=Decimal(3)
        )
        free = Benefit.objects.create(range=ranges[CANDLES], type=Benefit.MULTIBUY)
        offer = _offer("Three candles for two", ConditionalOffer.SITE, three, free)
        offer.description = "Put three candles in your basket and the cheapest of them is free."
        offer.save()


def write_wishlists(items: list[Plan]) -> None:
    """Give the customer role one wish list, and some others one each."""
    rng = Random("wishes")
    names = {item.words.name for item in items}
    groups = [[i for i in items if i.words.name == name and i.price] for name in sorted(names)]
    owners = [2, *sorted(rng.sample(range(3, 500), 40))]
    line_id = 1
    for number, owner in enumerate(owners, start=1):
        wishlist = WishList(
            id=number,
            owner_id=owner,
            name="Autumn trip" if owner == 2 else "Wish list",
            key=f"{number:06x}".replace("0", "h"),
            date_created=moment(rng, NOW - timedelta(days=300)),
        )
        WishList.objects.bulk_create([wishlist])  # its own save would draw a random key
        if owner == 2:
            chosen = [rng.choice(group) for group in groups if group[0].words.name in WISHES]
        else:
            chosen = [rng.choice(rng.choice(groups)) for _ in range(rng.randint(1, 6))]
        for item in {item.id: item for item in chosen}.values():
            WishListLine.objects.create(
                id=line_id, wishlist=wishlist, product_id=item.id, quantity=1, title=item.title
            )
            line_id += 1
