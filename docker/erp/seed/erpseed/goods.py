"""Customers, suppliers and products: the shop's."""

from __future__ import annotations

import datetime as dt
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from proteus import Model

from erpseed.accounts import account
from erpseed.data import create, read
from erpseed.firm import address, found

DELIVERY = "Delivery"
_COST = Decimal("0.55")
_PENCE = Decimal("0.01")


def cost_of(price: str) -> Decimal:
    """Return what the firm pays for a product that it sells at a price."""
    return (Decimal(price) * _COST).quantize(_PENCE, ROUND_HALF_UP)


def write_parties() -> dict[str, Any]:
    """Write suppliers and customers; return them by name, customers by e-mail."""
    party_model = Model.get("party.party")
    month, at_once = (found("account.invoice.payment_term", one) for one in ("30 days", "At once"))
    parties = {}
    for key, one in (
        *((one["name"], one) for one in read("suppliers")["supplier"]),
        *((one["email"], one) for one in read("customers")["customer"]),
    ):
        party = party_model(name=one["name"])
        address(party, one)
        party.customer_payment_term, party.supplier_payment_term = at_once, month
        parties[key] = party
    party_model.save(list(parties.values()))
    return parties


def write_products(parties: dict[str, Any]) -> dict[str, Any]:
    """Write the products with their suppliers; return them by code, the delivery by its name."""
    category_model = Model.get("product.category")
    booked = category_model(name="Trade goods", accounting=True)
    booked.account_expense, booked.account_revenue = account("expense"), account("revenue")
    booked.save()
    unit = found("product.uom", "Unit").id
    shelves: dict[str, int] = {}
    records = []
    told = read("products")["product"]
    for one in told:
        if one["department"] not in shelves:
            (shelf,) = create("product.category", [{"name": one["department"]}])
            shelves[one["department"]] = shelf.id
        cost = cost_of(one["price"])
        offer = {
            "party": parties[one["brand"]].id,
            "lead_time": dt.timedelta(days=5),
            "prices": [("create", [{"quantity": 0, "unit_price": cost}])],
        }
        records.append(
            {
                **_template(one["name"], one["price"], cost, unit, booked.id),
                "type": "goods",
                "code": one["code"],
                "purchasable": True,
                "purchase_uom": unit,
                "categories": [("add", [shelves[one["department"]]])],
                "product_suppliers": [("create", [offer])],
            }
        )
    delivery = _template(DELIVERY, "3.95", Decimal(0), unit, booked.id)
    templates = create("product.template", [*records, {**delivery, "type": "service"}])
    codes = [*(one["code"] for one in told), DELIVERY]
    return {code: one.products[0] for code, one in zip(codes, templates, strict=True)}


def _template(name: str, price: str, cost: Decimal, unit: int, booked: int) -> dict[str, Any]:
    return {
        "name": name,
        "default_uom": unit,
        "salable": True,
        "sale_uom": unit,
        "list_price": Decimal(price),
        "account_category": booked,
        "products": [("create", [{"cost_price": cost}])],
    }


def count_stock(products: dict[str, Any]) -> None:
    """Write the count of the last evening, by which the warehouse has what the shop says."""
    (storage,) = Model.get("stock.location").find([("code", "=", "STO")])
    lines = [
        {"product": products[one["code"]].id, "quantity": float(one["stock"])}
        for one in read("products")["product"]
    ]
    record = {"location": storage.id, "date": dt.date(2026, 9, 30)}
    (count,) = create("stock.inventory", [{**record, "lines": [("create", lines)]}])
    count.click("confirm")
