"""Writes which orders a voucher was used on.

What was paid stays: it was the price of that day, which was higher, less the voucher. So only orders of one line for
which such a price exists used one, and no total of the shop hangs on this.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from decimal import ROUND_DOWN, Decimal
from random import Random
from typing import Any

from django.db.models import Count
from oscar.core.loading import get_model

from shopseed.offers import CUSTOMER_ID
from shopseed.plan import Plan
from shopseed.vocabulary import Department, phrases

BasketLine = get_model("basket", "Line")
Order = get_model("order", "Order")
OrderDiscount = get_model("order", "OrderDiscount")
OrderLineDiscount = get_model("order", "OrderLineDiscount")
Voucher = get_model("voucher", "Voucher")
VoucherApplication = get_model("voucher", "VoucherApplication")

PENCE = tuple(Decimal(end) for end in ("0.00", "0.50", "0.95", "0.99"))
PENNY = Decimal("0.01")


def price_before(paid: Decimal, count: int, terms: dict[str, Any]) -> Decimal | None:
    """Return the price of one piece of which `count` cost `paid` with the voucher, if a shop would ask it."""
    if "pounds" in terms:
        return paid + terms["pounds"] if count == 1 else None
    near = int(paid / count / (1 - Decimal(terms["percent"]) / 100))
    for price in (near + pounds + pence for pounds in (-1, 0, 1) for pence in PENCE):
        whole = price * count
        off = (whole * terms["percent"] / 100).quantize(PENNY, ROUND_DOWN)
        if price > 0 and whole - off == paid:
            return price
    return None


def _fits(terms: dict[str, Any], order: Order, department: str, before: Decimal) -> bool:
    return (
        terms["usage"] != "Single use"
        and terms["start"] <= order.date_placed.date() <= terms["end"]
        and terms["department"] in {"", department}
        and before >= terms["least"]
    )


def _redeem(order: Order, voucher: Voucher, before: Decimal) -> Decimal:
    """Write that an order used a voucher; return what the voucher took off."""
    line = order.lines.get()
    whole = before * line.quantity
    off = whole - line.line_price_incl_tax
    line.unit_price_incl_tax = line.unit_price_excl_tax = before
    line.line_price_before_discounts_incl_tax = whole
    line.line_price_before_discounts_excl_tax = whole
    line.save()
    BasketLine.objects.filter(basket_id=order.basket_id).update(
        price_incl_tax=before, price_excl_tax=before
    )
    order.basket.vouchers.add(voucher)
    offer = voucher.offers.get()
    discount = OrderDiscount.objects.create(
        order=order,
        offer_id=offer.id,
        offer_name=offer.name,
        voucher_id=voucher.id,
        voucher_code=voucher.code,
        frequency=1,
        amount=off,
    )
    OrderLineDiscount.objects.create(
        line=line, order_discount=discount, is_incl_tax=True, amount=off
    )
    VoucherApplication.objects.create(
        voucher=voucher, order=order, user=order.user, date_created=order.date_placed
    )
    return off


def write_redemptions(departments: list[Department], items: list[Plan]) -> None:
    """Let most orders that could have used a voucher use one; the customer role keeps all of hers."""
    rng = Random("redemptions")
    leaves = {words.name: dep.name for dep in departments for words in dep.categories}
    homes = {item.id: leaves[item.words.name] for item in items}
    vouchers = {voucher.code: voucher for voucher in Voucher.objects.all()}
    entries = sorted(phrases("vouchers")["voucher"], key=lambda one: one["start"], reverse=True)
    used: defaultdict[str, Counter[int]] = defaultdict(Counter)
    taken: Counter[str] = Counter()
    short = Order.objects.annotate(count=Count("lines")).filter(count=1)
    for order in short.exclude(user_id=CUSTOMER_ID).order_by("id"):
        line = order.lines.get()
        for terms in entries:
            code = terms["code"]
            before = price_before(line.line_price_incl_tax, line.quantity, terms)
            if before is None or not _fits(
                terms, order, homes[line.product_id], before * line.quantity
            ):
                continue
            if terms["usage"] == "Once per customer" and used[code][order.user_id]:
                continue
            if rng.random() < (0.4 if "pounds" in terms else 0.9):
                taken[code] += _redeem(order, vouchers[code], before)
                used[code][order.user_id] += 1
                break
    for code, off in taken.items():
        voucher, count = vouchers[code], used[code].total()
        voucher.num_orders, voucher.total_discount = count, off
        voucher.num_basket_additions = max(voucher.num_basket_additions, count)
        voucher.save()
        voucher.offers.update(num_applications=count, num_orders=count, total_discount=off)
