"""The office's data hangs together: what is ordered, by whom and from whom, is there."""

from __future__ import annotations

import tomllib
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

DATA: Final = Path(__file__).parents[3] / "docker" / "erp" / "seed" / "data"


def read(name: str) -> dict[str, Any]:
    return tomllib.loads((DATA / f"{name}.toml").read_text(encoding="utf-8"))


PRODUCTS: Final = {one["code"]: one for one in read("products")["product"]}
SUPPLIERS: Final = {one["name"] for one in read("suppliers")["supplier"]}
CUSTOMERS: Final = {one["email"] for one in read("customers")["customer"]}


def test_every_order_is_a_customers_and_of_products_that_there_are() -> None:
    orders = read("orders")["order"]
    assert {one["customer"] for one in orders} == CUSTOMERS
    assert {line["product"] for one in orders for line in one["lines"]} == set(PRODUCTS)


def test_a_purchase_holds_only_what_its_supplier_makes() -> None:
    for one in read("purchases")["purchase"]:
        assert {PRODUCTS[line["product"]]["brand"] for line in one["lines"]} == {one["supplier"]}


def test_every_maker_is_a_supplier_whose_country_has_a_name() -> None:
    countries = set(read("office")["countries"])
    assert {one["brand"] for one in PRODUCTS.values()} == SUPPLIERS
    for name, kind in (("suppliers", "supplier"), ("customers", "customer")):
        assert {one["country"] for one in read(name)[kind]} <= countries


def test_what_has_arrived_is_invoiced_after_it_was_ordered_and_overdue_a_month_later() -> None:
    last: dict[str, list[str]] = {}
    for one in read("purchases")["purchase"]:
        assert ("invoiced" in one) == (one["state"] in {"paid", "overdue", "owed"})
        if "invoiced" in one:
            assert one["invoiced"] > one["ordered"]
            last.setdefault(one["state"], []).append(one["invoiced"].isoformat())
    assert max(last["overdue"]) < "2026-08-31" <= min(last["owed"])


def test_everybody_works_on_something_that_is_a_work() -> None:
    office = read("office")
    for person in office["person"]:
        assert set(person["works"]) <= set(office["works"]), person["name"]
    assert all(Decimal(one["price"]) > 0 for one in PRODUCTS.values())
