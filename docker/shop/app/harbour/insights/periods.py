"""The reports by month: tax, shipping and refunds, and by code: coupons; each between two dates."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, DecimalField, QuerySet, Sum
from django.db.models.functions import Round, TruncMonth
from oscar.core.loading import get_class, get_model

from harbour.insights.reports import Csv, Report
from harbour.returns.models import Return, Status
from harbour.vat import SHARE

Order = get_model("order", "Order")
OrderDiscount = get_model("order", "OrderDiscount")
ReportHTMLFormatter = get_class("dashboard.reports.reports", "ReportHTMLFormatter")
MONEY = DecimalField(max_digits=12, decimal_places=2)


def _by_month(rows: QuerySet, column: str, *more: str) -> Any:
    return rows.order_by().annotate(month=TruncMonth(column)).values("month", *more)


class TaxCsv(Csv):
    """VAT for a spreadsheet."""

    filename_template = "tax.csv"
    columns = ("month", "orders", "sales", "tax")


class TaxPage(ReportHTMLFormatter):
    """VAT as a page."""

    filename_template = "harbour/reports/tax.html"


class Tax(Report):
    """The VAT in the takings of each month, worked out of their sum."""

    code = "tax"
    description = "Tax (VAT)"
    date_range_field_name = "date_placed"
    formatters = {"CSV_formatter": TaxCsv, "HTML_formatter": TaxPage}

    def get_queryset(self) -> QuerySet:
        """Return a row per month with orders."""
        taken = Sum("total_incl_tax")
        months = _by_month(Order.objects.exclude(status="Cancelled"), "date_placed")
        return months.annotate(
            orders=Count("id"),
            sales=taken,
            tax=Round(taken * SHARE, 2, output_field=MONEY),
        ).order_by("month")


class ShippingCsv(Csv):
    """Shipping for a spreadsheet."""

    filename_template = "shipping.csv"
    columns = ("month", "shipping_method", "orders", "charged")


class ShippingPage(ReportHTMLFormatter):
    """Shipping as a page."""

    filename_template = "harbour/reports/shipping.html"


class Shipping(Report):
    """What customers paid for delivery in each month, by the way of delivery."""

    code = "shipping"
    description = "Shipping"
    date_range_field_name = "date_placed"
    formatters = {"CSV_formatter": ShippingCsv, "HTML_formatter": ShippingPage}

    def get_queryset(self) -> QuerySet:
        """Return a row per month and way of delivery."""
        sent = Order.objects.exclude(status="Cancelled")
        rows = _by_month(sent, "date_placed", "shipping_method")
        rows = rows.annotate(orders=Count("id"), charged=Sum("shipping_incl_tax"))
        return rows.order_by("month", "shipping_method")


class RefundsCsv(Csv):
    """Refunds for a spreadsheet."""

    filename_template = "refunds.csv"
    columns = ("month", "returns", "pieces", "refunded")


class RefundsPage(ReportHTMLFormatter):
    """Refunds as a page."""

    filename_template = "harbour/reports/refunds.html"


class Refunds(Report):
    """What was paid back in each month, by the day of the refund."""

    code = "refunds"
    description = "Refunds"
    date_range_field_name = "date_updated"
    formatters = {"CSV_formatter": RefundsCsv, "HTML_formatter": RefundsPage}

    def get_queryset(self) -> QuerySet:
        """Return a row per month with refunds."""
        rows = _by_month(Return.objects.filter(status=Status.REFUNDED), "date_updated")
        rows = rows.annotate(
            returns=Count("id"), pieces=Sum("quantity"), refunded=Sum("refund_amount")
        )
        return rows.order_by("month")


class CouponsCsv(Csv):
    """Coupons for a spreadsheet."""

    filename_template = "coupons.csv"
    columns = ("voucher_code", "orders", "discount")


class CouponsPage(ReportHTMLFormatter):
    """Coupons as a page."""

    filename_template = "harbour/reports/coupons.html"


class Coupons(Report):
    """The voucher codes that orders of a time used, and what they took off."""

    code = "coupons"
    description = "Coupons"
    date_range_field_name = "order__date_placed"
    formatters = {"CSV_formatter": CouponsCsv, "HTML_formatter": CouponsPage}

    def get_queryset(self) -> QuerySet:
        """Return a row per code."""
        used = OrderDiscount.objects.exclude(voucher_code="").exclude(order__status="Cancelled")
        rows: Any = used.order_by().values("voucher_code")
        rows = rows.annotate(orders=Count("order", distinct=True), discount=Sum("amount"))
        return rows.order_by("-discount", "voucher_code")


BY_PERIOD = (Tax, Shipping, Refunds, Coupons)
