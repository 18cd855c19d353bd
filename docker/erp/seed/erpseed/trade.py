"""Purchases and sales, each brought as far as its state says.

What several go through is done for all at once: each call is a transaction of its own.
"""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

from proteus import Model

from erpseed.accounts import pay
from erpseed.data import create, read
from erpseed.firm import found
from erpseed.goods import DELIVERY

_DAY = dt.timedelta(days=1)
_TODAY = dt.date(2026, 9, 30)
_ARRIVED = frozenset({"paid", "overdue", "owed"})
_GONE = frozenset({"Complete", "Shipped", "Returned"})
_LAST_PAID = dt.date(2026, 9, 19)  # what was shipped later is not paid yet


def write_purchases(parties: dict[str, Any], products: dict[str, Any]) -> None:
    """Write what was ordered from suppliers."""
    purchase_model, move_model = Model.get("purchase.purchase"), Model.get("stock.move")
    month = found("account.invoice.payment_term", "30 days")
    told = read("purchases")["purchase"]
    made = create(
        "purchase.purchase",
        [
            {
                **_common(parties[one["supplier"]], month),
                "purchase_date": one["ordered"],
                "reference": one.get("reference"),
                "invoice_method": "shipment",
                "lines": [
                    ("create", [_line(products[wanted["product"]], wanted["quantity"], None)])
                    for wanted in one["lines"]
                ],
            }
            for one in told
        ],
    )
    pairs = list(zip(made, told, strict=True))
    purchase_model.click([one for one, words in pairs if words["state"] == "cancelled"], "cancel")
    purchase_model.click([one for one, words in pairs if words["state"] == "quotation"], "quote")
    _process(
        purchase_model, [one for one, words in pairs if words["state"] in {"waiting", *_ARRIVED}]
    )
    arrived = [(one, words) for one, words in pairs if words["state"] in _ARRIVED]
    shipments = []
    for purchase, words in arrived:
        shipment = Model.get("stock.shipment.in")(supplier=purchase.party)
        shipment.reference, shipment.effective_date = words["reference"], words["invoiced"] - _DAY
        shipment.incoming_moves.extend(move_model(move.id) for move in purchase.moves)
        shipments.append(shipment)
    shipment_model = Model.get("stock.shipment.in")
    shipment_model.save(shipments)
    shipment_model.click(shipments, "receive")
    shipment_model.click(shipments, "done")
    invoices = []
    for purchase, words in arrived:
        purchase.reload()
        (invoice,) = purchase.invoices
        invoice.invoice_date, invoice.reference = words["invoiced"], words["reference"]
        invoices.append(invoice)
    _post(invoices)
    for invoice, (_, words) in zip(invoices, arrived, strict=True):
        if words["state"] == "paid":
            pay(invoice, words["invoiced"] + 21 * _DAY)


def write_sales(parties: dict[str, Any], products: dict[str, Any]) -> None:
    """Write the shop's orders of a month as sales; the shop's number is their reference."""
    sale_model = Model.get("sale.sale")
    at_once = found("account.invoice.payment_term", "At once")
    told = read("orders")["order"]
    made = create("sale.sale", [_sale(one, parties, products, at_once) for one in told])
    pairs = list(zip(made, told, strict=True))
    sale_model.click([one for one, words in pairs if words["status"] == "Cancelled"], "cancel")
    sale_model.click([one for one, words in pairs if words["status"] == "Pending"], "quote")
    gone = [(one, words) for one, words in pairs if words["status"] in _GONE]
    _process(
        sale_model,
        [one for one, words in pairs if words["status"] in {"Being processed", *_GONE}],
    )
    shipments, invoices, dates = [], [], []
    for sale, words in gone:
        for shipment in sale.shipments:
            shipment.effective_date = min(words["placed"] + _DAY, _TODAY)
            shipments.append(shipment)
        for invoice in sale.invoices:
            invoice.invoice_date = words["placed"]
            invoices.append(invoice)
            dates.append(words["placed"])
    shipment_model = Model.get("stock.shipment.out")
    shipment_model.save(shipments)
    for step in ("assign_force", "pick", "pack", "done"):
        shipment_model.click(shipments, step)
    _post(invoices)
    for invoice, placed in zip(invoices, dates, strict=True):
        if placed <= _LAST_PAID:
            pay(invoice, placed)


def _sale(
    one: dict[str, Any], parties: dict[str, Any], products: dict[str, Any], term: Any
) -> dict[str, Any]:
    lines = [
        _line(products[wanted["product"]], wanted["quantity"], wanted["price"])
        for wanted in one["lines"]
    ]
    if Decimal(one["delivery"]):
        lines.append(_line(products[DELIVERY], 1, one["delivery"]))
    party = parties[one["customer"]]
    return {
        **_common(party, term),
        "sale_date": one["placed"],
        "reference": one["number"],
        "shipment_address": party.addresses[0].id,
        "lines": [("create", lines)],
    }


def _common(party: Any, term: Any) -> dict[str, Any]:
    return {
        "party": party.id,
        "invoice_address": party.addresses[0].id,
        "payment_term": term.id,
    }


def _line(product: Any, quantity: int, price: str | None) -> dict[str, Any]:
    """Return a line; without a price it is what the product costs."""
    return {
        "product": product.id,
        "unit": product.default_uom.id,
        "quantity": float(quantity),
        "unit_price": product.cost_price if price is None else Decimal(price),
    }


def _process(kind: Any, records: list[Any]) -> None:
    for step in ("quote", "confirm"):  # confirming hands them on to be processed
        kind.click(records, step)
    for record in records:
        record.reload()


def _post(invoices: list[Any]) -> None:
    invoice_model = Model.get("account.invoice")
    invoice_model.save(invoices)
    invoice_model.click(invoices, "post")
    for invoice in invoices:
        invoice.reload()
