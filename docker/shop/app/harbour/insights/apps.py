"""What the merchant learns from sales and searches."""

from __future__ import annotations

from django.apps import AppConfig


class InsightsConfig(AppConfig):
    """Puts two reports into Oscar's dashboard: best sellers and search terms."""

    name = "harbour.insights"
    label = "insights"

    def ready(self) -> None:
        """Offer the reports in the form, which Oscar has filled by now."""
        from oscar.core.loading import get_class

        from harbour.insights.reports import BestSellers, SearchTerms

        form = get_class("dashboard.reports.forms", "ReportForm")
        choice = form.base_fields["report_type"]
        for report in (BestSellers, SearchTerms):
            form.generators.append(report)  # the list that Oscar looks reports up in
            choice.choices = [*choice.choices, (report.code, report.description)]
