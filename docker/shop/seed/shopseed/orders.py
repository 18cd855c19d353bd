"""Writes three years of orders with their baskets, addresses, lines and status changes."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from random import Random

from django.contrib.auth.models import User
from oscar.core.loading import get_model

from shopseed.clock import NOW, moment
from shopseed.customers import Home, address_values
from shopseed.plan import Plan

Basket = get_model("basket", "Basket")
BasketLine = get_model("basket", "Line")
BillingAddress = get_model("order", "BillingAddress")
Line = get_model("order", "Line")
LinePrice = get_model("order", "LinePrice")
Order = get_model("order", "Order")
OrderNote = get_model("order", "OrderNote")
OrderStatusChange = get_model("order", "OrderStatusChange")
ProductRecord = get_model("analytics", "ProductRecord")
ShippingAddress = get_model("order", "ShippingAddress")
StockAlert = get_model("partner", "StockAlert")
StockRecord = get_model("partner", "StockRecord")
UserRecord = get_model("analytics", "UserRecord")

ORDERS = 3000
OPEN_BASKETS = 40
NOTED = 120
CUSTOMER_ID = 2
CUSTOMER_ORDERS = 37
FIRST_ORDER = datetime(2023, 10, 2, 8, 0, tzinfo=NOW.tzinfo)
FREE_FROM = Decimal(75)
DELIVERY = Decimal("3.95")
EXPRESS = Decimal("9.95")
BATCH = 1000
PATH = ("Pending", "Being processed", "Shipped", "Complete")
NOTES = (
    "Customer asked for delivery to the neighbour at number 12.",
    "Gift: no invoice in the parcel, please.",
    "Address confirmed by telephone.",
    "Second parcel follows from the Rotterdam warehouse.",
    "Customer called about the delivery date.",
)


@dataclass(slots=True)
class Sale:
    """One order to be: who bought what, when."""

    number: int
    user: User
    placed: datetime
    goods: list[tuple[StockRecord, Plan, int]]
    status: str
    is_express: bool

    @property
    def value(self) -> Decimal:
        """Return the price of the goods."""
        return sum((stock.price * count for stock, _, count in self.goods), Decimal(0))

    @property
    def shipping(self) -> Decimal:
        """Return what the delivery costs."""
        if self.is_express:
            return EXPRESS
        return Decimal(0) if self.value >= FREE_FROM else DELIVERY


def _status(rng: Random, placed: datetime) -> str:
    age = NOW - placed
    chance = rng.random()
    if chance < 0.04:
        return "Cancelled"
    if age < timedelta(days=4):
        return "Pending" if chance < 0.8 else "On hold"
    if age < timedelta(days=9):
        return "Being processed" if chance < 0.7 else "Shipped"
    if age < timedelta(days=21):
        return "Shipped"
    return "Returned" if chance < 0.07 else "Complete"


def _sales(items: list[Plan], stock: dict[int, StockRecord]) -> list[Sale]:
    rng = Random("orders")
    users = {user.id: user for user in User.objects.all()}
    others = [number for number in users if number > CUSTOMER_ID]
    buyers = [CUSTOMER_ID] * CUSTOMER_ORDERS
    buyers += rng.choices(
        others, weights=[1 + 9 * (number % 7 == 0) for number in others], k=ORDERS - len(buyers)
    )
    rng.shuffle(buyers)
    goods = [item for item in items if item.price is not None]
    plans = {item.id: item for item in goods}
    favourites = rng.sample(goods, 400)
    dates = sorted(moment(rng, FIRST_ORDER) for _ in range(ORDERS))
    sales = []
    for number, (buyer, placed) in enumerate(zip(buyers, dates, strict=True), start=1):
        user = users[buyer]
        if user.date_joined > placed:
            user.date_joined = placed - timedelta(hours=2)
        lines = rng.choices((1, 2, 3, 4, 5), weights=(28, 32, 22, 12, 6))[0]
        chosen = {rng.choice(favourites if rng.random() < 0.4 else goods).id for _ in range(lines)}
        bought = [
            (stock[key], plans[key], rng.choices((1, 2, 3), weights=(8, 2, 1))[0])
            for key in sorted(chosen)
        ]
        is_express = rng.random() < 0.15
        sales.append(Sale(number, user, placed, bought, _status(rng, placed), is_express))
    User.objects.bulk_update(users.values(), ["date_joined"])
    return sales


def _write_baskets(sales: list[Sale]) -> None:
    baskets, lines = [], []
    for sale in sales:
        baskets.append(
            Basket(
                id=sale.number,
                owner=sale.user,
                status=Basket.SUBMITTED,
                date_created=sale.placed - timedelta(minutes=25),
                date_submitted=sale.placed,
            )
        )
        lines += _basket_lines(sale.number, sale.goods, sale.placed - timedelta(minutes=12))
    Basket.objects.bulk_create(baskets, batch_size=BATCH)
    BasketLine.objects.bulk_create(lines, batch_size=BATCH)


def _basket_lines(
    basket: int, goods: list[tuple[StockRecord, Plan, int]], when: datetime
) -> list[BasketLine]:
    return [
        BasketLine(
            basket_id=basket,
            line_reference=f"{item.id}_{record.id}",
            product_id=item.id,
            stockrecord=record,
            quantity=count,
            price_currency="GBP",
            price_excl_tax=record.price,
            price_incl_tax=record.price,
            date_created=when,
            date_updated=when,
        )
        for record, item, count in goods
    ]


def _order(sale: Sale) -> Order:
    return Order(
        id=sale.number,
        number=str(100000 + sale.number),
        site_id=1,
        basket_id=sale.number,
        user=sale.user,
        billing_address_id=sale.number,
        shipping_address_id=sale.number,
        currency="GBP",
        total_incl_tax=sale.value + sale.shipping,
        total_excl_tax=sale.value + sale.shipping,
        shipping_incl_tax=sale.shipping,
        shipping_excl_tax=sale.shipping,
        shipping_method="Express delivery" if sale.is_express else "Standard delivery",
        shipping_code="express" if sale.is_express else "standard",
        status=sale.status,
        date_placed=sale.placed,
    )


def _lines(sale: Sale, first_id: int) -> list[Line]:
    is_allocated = sale.status in {"Pending", "On hold", "Being processed"}
    return [
        Line(
            id=first_id + offset,
            order_id=sale.number,
            partner_id=record.partner_id,
            partner_name=record.partner.name,
            partner_sku=record.partner_sku,
            stockrecord=record,
            product_id=item.id,
            title=item.title,
            upc=f"HP{item.id:06d}",
            quantity=count,
            line_price_incl_tax=record.price * count,
            line_price_excl_tax=record.price * count,
            line_price_before_discounts_incl_tax=record.price * count,
            line_price_before_discounts_excl_tax=record.price * count,
            unit_price_incl_tax=record.price,
            unit_price_excl_tax=record.price,
            status=sale.status,
            num_allocated=count if is_allocated else 0,
        )
        for offset, (record, item, count) in enumerate(sale.goods)
    ]


def _changes(sale: Sale) -> list[OrderStatusChange]:
    path = list(PATH[: PATH.index(sale.status) + 1]) if sale.status in PATH else []
    if sale.status == "Returned":
        path = [*PATH[:3], "Returned"]
    if sale.status in {"Cancelled", "On hold"}:
        path = ["Pending", sale.status]
    return [
        OrderStatusChange(
            order_id=sale.number,
            old_status=old,
            new_status=new,
            date_created=min(sale.placed + timedelta(hours=20 * step), NOW),
        )
        for step, (old, new) in enumerate(pairwise(path), start=1)
    ]


def _write_records(sales: list[Sale], items: list[Plan]) -> None:
    """Write the analytics that Oscar would have gathered, for the reports."""
    rng = Random("records")
    added = Random("additions")  # some put things into the basket and take them out again
    bought: Counter[int] = Counter()
    per_user: dict[int, list[Sale]] = defaultdict(list)
    for sale in sales:
        per_user[sale.user.id].append(sale)
        for _, item, count in sale.goods:
            bought[item.id] += count
    ProductRecord.objects.bulk_create(
        [
            ProductRecord(
                product_id=item.id,
                num_views=bought[item.id] * rng.randint(8, 30) + rng.randint(0, 40),
                num_basket_additions=bought[item.id] + added.randint(0, 2 + 2 * bought[item.id]),
                num_purchases=bought[item.id],
                score=0,
            )
            for item in items
            if bought[item.id]
        ],
        batch_size=BATCH,
    )
    UserRecord.objects.bulk_create(
        [
            UserRecord(
                user_id=number,
                num_product_views=len(theirs) * rng.randint(5, 20),
                num_basket_additions=sum(len(sale.goods) + added.randint(0, 2) for sale in theirs),
                num_orders=len(theirs),
                num_order_lines=sum(len(sale.goods) for sale in theirs),
                num_order_items=sum(count for sale in theirs for _, _, count in sale.goods),
                total_spent=sum(sale.value + sale.shipping for sale in theirs),
                date_last_order=max(sale.placed for sale in theirs),
            )
            for number, theirs in sorted(per_user.items())
        ]
    )


def _write_open_baskets(
    sales: list[Sale], items: list[Plan], stock: dict[int, StockRecord]
) -> None:
    """Leave some customers with a basket of what they looked at; the customer role has none."""
    rng, wanted = Random("open baskets"), Random("what is in them")
    goods = [item for item in items if item.price is not None]
    number = ORDERS
    seen = {CUSTOMER_ID}
    for sale in rng.sample(sales, 200):
        if sale.user.id in seen or number == ORDERS + OPEN_BASKETS:
            continue
        seen.add(sale.user.id)
        number += 1
        when = moment(rng, NOW - timedelta(days=30))
        Basket.objects.create(id=number, owner=sale.user, status=Basket.OPEN, date_created=when)
        picked = [
            (stock[item.id], item, wanted.choices((1, 2, 4), weights=(7, 2, 1))[0])
            for item in sorted(wanted.sample(goods, len(sale.goods)), key=lambda one: one.id)
        ]
        BasketLine.objects.bulk_create(_basket_lines(number, picked, when))


def _settle_stock(stock: dict[int, StockRecord], lines: list[Line]) -> None:
    """Allocate what open orders hold, and raise an alert where little is left."""
    allocated: Counter[int] = Counter()
    for line in lines:
        allocated[line.stockrecord_id] += line.num_allocated
    for row in stock.values():
        row.num_allocated = allocated[row.id]
        row.num_in_stock = max(row.num_in_stock, row.num_allocated)
    touched = [row for row in stock.values() if row.num_allocated]
    StockRecord.objects.bulk_update(touched, ["num_allocated", "num_in_stock"])
    StockAlert.objects.bulk_create(
        [
            StockAlert(stockrecord=row, threshold=row.low_stock_threshold, date_created=NOW)
            for row in stock.values()
            if row.num_in_stock - row.num_allocated < row.low_stock_threshold
        ]
    )


def _write_addresses(sales: list[Sale], homes: dict[int, Home]) -> None:
    for model in (BillingAddress, ShippingAddress):
        rows = [
            model(id=sale.number, **address_values(sale.user, homes[sale.user.id]))
            for sale in sales
        ]
        for row in rows:
            row.search_text = ", ".join(row.active_address_fields())
        model.objects.bulk_create(rows, batch_size=BATCH)


def _write_lines(sales: list[Sale]) -> list[Line]:
    lines: list[Line] = []
    for sale in sales:
        lines += _lines(sale, len(lines) + 1)
    Line.objects.bulk_create(lines, batch_size=BATCH)
    prices = [
        LinePrice(
            order_id=line.order_id,
            line_id=line.id,
            quantity=line.quantity,
            price_incl_tax=line.unit_price_incl_tax,
            price_excl_tax=line.unit_price_excl_tax,
        )
        for line in lines
    ]
    LinePrice.objects.bulk_create(prices, batch_size=BATCH)
    return lines


def _write_history(sales: list[Sale]) -> None:
    changes = [change for sale in sales for change in _changes(sale)]
    OrderStatusChange.objects.bulk_create(changes, batch_size=BATCH)
    rng = Random("notes")
    notes = [
        OrderNote(
            order_id=sale.number,
            user_id=1,
            note_type="Info",
            message=rng.choice(NOTES),
            date_created=sale.placed + timedelta(hours=3),
            date_updated=sale.placed + timedelta(hours=3),
        )
        for sale in rng.sample(sales, NOTED)
    ]
    OrderNote.objects.bulk_create(notes)


def write_orders(items: list[Plan], homes: dict[int, Home]) -> None:
    """Write all orders and what hangs on them: baskets, addresses, lines, stock, analytics."""
    stock = {row.product_id: row for row in StockRecord.objects.select_related("partner")}
    sales = _sales(items, stock)
    _write_baskets(sales)
    _write_addresses(sales, homes)
    Order.objects.bulk_create([_order(sale) for sale in sales], batch_size=BATCH)
    lines = _write_lines(sales)
    _write_history(sales)
    _settle_stock(stock, lines)
    _write_records(sales, items)
    _write_open_baskets(sales, items, stock)
