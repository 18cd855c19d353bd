from orchestrator.analysis.run_report.html import render_html
from orchestrator.analysis.run_report.run_report import RunReport


def test_where_the_worlds_part_on_purpose_the_report_says_why(report: RunReport) -> None:
    assert "expected: the price has changed" in render_html(report)
