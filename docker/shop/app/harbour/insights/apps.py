"""What the merchant learns from sales and searches."""

from __future__ import annotations

from django.apps import AppConfig


class InsightsConfig(AppConfig):
    """Puts the shop's own reports into Oscar's dashboard."""

    name = "harbour.insights"
    label = "insights"

    def ready(self) -> None:
        """Offer the reports in the form, which Oscar has filled by now."""
        from oscar.core.loading import get_class

        from harbour.insights.periods import BY_PERIOD
        from harbour.insights.reports import BestSellers, SearchTerms

        form = get_class("dashboard.reports.forms", "ReportForm")
        choice = form.base_fields["report_type"]
        for report in (BestSellers, SearchTerms, *BY_PERIOD):
            form.generators.append(report)  # the list that Oscar looks reports up in
            choice.choices = [*choice.choices, (report.code, report.description)]
