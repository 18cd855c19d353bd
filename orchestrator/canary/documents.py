"""A look as one JSON document."""

from __future__ import annotations

from typing import Any

from orchestrator.canary.history import document_of
from orchestrator.canary.looking import CanaryReport, LookedTask


def report_document(report: CanaryReport) -> dict[str, Any]:
    """Return what a look found as JSON."""
    return {
        "suite": report.suite,
        "origins": report.origins,
        "browser": report.browser,
        "at": report.at,
        "tasks": [_looked(one) for one in report.tasks],
        "not_there": list(report.not_there),
        "runs": [str(run) for run in report.runs],
    }


def _looked(looked: LookedTask) -> dict[str, Any]:
    return {
        **document_of(looked.finding),
        "since": looked.since,
        "before": looked.before,
        "is_flaky": looked.is_flaky,
        "first": None if looked.first is None else document_of(looked.first),
        "screenshot_then": looked.screenshot_then,
    }
