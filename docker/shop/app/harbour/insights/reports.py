"""The reports on best sellers and on search terms, as pages and as CSV."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, Max, QuerySet, Sum
from django.http import HttpResponse
from oscar.core.loading import get_class, get_model

from harbour.insights.models import Search

Line = get_model("order", "Line")
ReportCSVFormatter = get_class("dashboard.reports.reports", "ReportCSVFormatter")
ReportGenerator = get_class("dashboard.reports.reports", "ReportGenerator")
ReportHTMLFormatter = get_class("dashboard.reports.reports", "ReportHTMLFormatter")


class Csv(ReportCSVFormatter):
    """A report for a spreadsheet: its columns, one line a row."""

    columns: tuple[str, ...]

    def generate_csv(self, response: HttpResponse, rows: QuerySet) -> None:
        """Write the report's columns, one line a row."""
        writer = self.get_csv_writer(response)
        writer.writerow(self.columns)
        writer.writerows([[row[name] for name in self.columns] for row in rows])


class Report(ReportGenerator):
    """A report that names the dates which bound it, where there are some."""

    def report_description(self) -> str:
        """Name the report with the dates that bound it."""
        bounds = (("from", self.start_date), ("to", self.end_date))
        return " ".join(
            [self.description, *(f"{word} {day:%-d %B %Y}" for word, day in bounds if day)]
        )


class BestSellersCsv(Csv):
    """Best sellers for a spreadsheet."""

    filename_template = "best-sellers.csv"
    columns = ("title", "upc", "units", "orders", "revenue")


class BestSellersPage(ReportHTMLFormatter):
    """Best sellers as a page."""

    filename_template = "harbour/reports/best_sellers.html"


class BestSellers(Report):
    """Products by units sold, in orders placed within the dates that were not cancelled."""

    code = "best_sellers"
    description = "Best sellers"
    date_range_field_name = "order__date_placed"
    formatters = {"CSV_formatter": BestSellersCsv, "HTML_formatter": BestSellersPage}

    def get_queryset(self) -> QuerySet:
        """Return a row per product that was sold."""
        sold = Line.objects.exclude(order__status="Cancelled").order_by()
        rows: Any = sold.values("product_id", "title", "upc").annotate(
            units=Sum("quantity"),
            orders=Count("order", distinct=True),
            revenue=Sum("line_price_incl_tax"),
        )
        return rows.order_by("-units", "-revenue", "product_id")


class SearchTermsCsv(Csv):
    """Search terms for a spreadsheet."""

    filename_template = "search-terms.csv"
    columns = ("query", "searches", "found", "last")


class SearchTermsPage(ReportHTMLFormatter):
    """Search terms as a page."""

    filename_template = "harbour/reports/search_terms.html"


class SearchTerms(Report):
    """What visitors searched for within the dates, most often first."""

    code = "search_terms"
    description = "Search terms"
    date_range_field_name = "date_created"
    formatters = {"CSV_formatter": SearchTermsCsv, "HTML_formatter": SearchTermsPage}

    def get_queryset(self) -> QuerySet:
        """Return a row per term."""
        return (
            Search.objects.values("query")
            .annotate(searches=Count("id"), found=Max("results"), last=Max("date_created"))
            .order_by("-searches", "query")
        )
