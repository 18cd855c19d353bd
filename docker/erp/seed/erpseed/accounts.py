"""The company's books: chart of accounts, fiscal years with their numbers, terms, way of paying."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

from proteus import Model, Wizard

YEARS = (2025, 2026)
_CHART = "account_template_root_en"


def company() -> Any:
    """Return the only company."""
    (only,) = Model.get("company.company").find([])
    return only


def account(kind: str) -> Any:
    """Return the account for what is receivable or payable, for revenue or expense."""
    (first,) = Model.get("account.account").find([(f"type.{kind}", "=", True)], limit=1)
    return first


def cash() -> Any:
    """Return the account of the bank."""
    (only,) = Model.get("account.account").find([("name", "=", "Main Cash")])
    return only


def write_pound() -> Any:
    """Write the currency."""
    pound = Model.get("currency.currency")(
        name="Pound Sterling", symbol="£", code="GBP", numeric_code="826"
    )
    pound.rates.new(date=dt.date(YEARS[0], 1, 1), rate=Decimal(1))
    pound.save()
    return pound


def write_company(party: Any, currency: Any) -> None:
    wizard = Wizard("company.company.config")
    wizard.execute("company")
    wizard.form.party, wizard.form.currency = party, currency
    wizard.execute("add")


def write_books() -> None:
    """Write fiscal years, chart and terms: customers pay at once, suppliers are paid in a month."""
    for year in YEARS:
        _write_year(year)
    (template,) = Model.get("ir.model.data").find(
        [("module", "=", "account"), ("fs_id", "=", _CHART)]
    )
    chart = Wizard("account.create_chart")
    chart.execute("account")
    chart.form.account_template = Model.get("account.account.template")(template.db_id)
    chart.form.company = company()
    chart.execute("create_account")
    chart.form.account_receivable, chart.form.account_payable = (
        account("receivable"),
        account("payable"),
    )
    chart.execute("create_properties")
    for name, days in (("At once", 0), ("30 days", 30)):
        term = Model.get("account.invoice.payment_term")(name=name)
        line = term.lines.new(type="remainder")
        if days:
            line.relativedeltas.new(days=days)
        term.save()
    (journal,) = Model.get("account.journal").find([("type", "=", "cash")])
    method = Model.get("account.invoice.payment.method")(name="Bank transfer", journal=journal)
    method.credit_account = method.debit_account = cash()
    method.save()


def _write_year(year: int) -> None:
    fiscal = Model.get("account.fiscalyear")(name=str(year), company=company())
    fiscal.start_date, fiscal.end_date = dt.date(year, 1, 1), dt.date(year, 12, 31)
    fiscal.post_move_sequence = _sequence("ir.sequence", "Account Move", str(year))
    (numbers,) = fiscal.invoice_sequences
    ours = _sequence("ir.sequence.strict", "Invoice", f"Customers {year}", prefix=f"{year}-")
    theirs = _sequence("ir.sequence.strict", "Invoice", f"Suppliers {year}", prefix=f"S{year}-")
    numbers.out_invoice_sequence = numbers.out_credit_note_sequence = ours
    numbers.in_invoice_sequence = numbers.in_credit_note_sequence = theirs
    fiscal.save()
    fiscal.click("create_period")


def _sequence(model: str, kind: str, name: str, prefix: str = "") -> Any:
    (found,) = Model.get("ir.sequence.type").find([("name", "=", kind)], limit=1)
    sequence = Model.get(model)(name=name, sequence_type=found, company=company(), prefix=prefix)
    if prefix:
        sequence.padding = 4
    sequence.save()
    return sequence


def pay(invoice: Any, on: dt.date) -> None:
    """Pay an invoice in full."""
    (method,) = Model.get("account.invoice.payment.method").find([])
    wizard = Wizard("account.invoice.pay", [invoice])
    wizard.form.payment_method, wizard.form.date = method, on
    wizard.execute("choice")
