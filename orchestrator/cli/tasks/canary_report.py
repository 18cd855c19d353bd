"""What the canary's history says, as tables for people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Final

from orchestrator.authoring.canary.findings import CanaryStatus
from orchestrator.authoring.canary.lifetimes import CanaryLife, HalfLife
from orchestrator.cli.console import Column, Console

_LOOKS: Final = 20


def show_lives(lives: Sequence[CanaryLife], console: Console) -> None:
    """Print what a history says of suites."""
    if console.as_json:
        console.json([asdict(life) for life in lives])
        return
    for life in lives:
        console.line(
            f"suite '{life.place.suite}', {life.place.origins} origins, {life.place.browser}"
        )
        _show_looks(life, console)
        console.line(f"\n{half_life_line(life.half_life)}")
        _show_kinds(life, console)
        _show_bad(life, console)
        console.line("")


def half_life_line(found: HalfLife) -> str:
    """Say the half-life with its interval, or why there is none."""
    seen = f"{found.deaths} drifted in {found.task_days:.1f} task-days"
    if found.low is None:
        return f"half-life: not known yet ({seen}: it takes two looks some time apart)"
    if found.days is None:
        return f"half-life: at least {found.low:.1f} days at 95 % ({seen})"
    high = "∞" if found.high is None else f"{found.high:.1f}"
    where = f" at {found.sites} site{'' if found.sites == 1 else 's'}"
    return (
        f"half-life: {found.days:.1f} days, 95 % from {found.low:.1f} to {high} ({seen}{where};"
        " constant hazard, exact interval for independent tasks)"
    )


def _show_looks(life: CanaryLife, console: Console) -> None:
    names = [status.value for status in CanaryStatus]
    shown = life.looks[-_LOOKS:]
    if len(shown) < len(life.looks):
        console.line(f"the last {_LOOKS} of {len(life.looks)} looks")
    console.table(
        (
            Column("look"),
            Column("tasks", right=True),
            *(Column(name, right=True) for name in names),
            Column("valid", right=True),
        ),
        [
            (
                look.at,
                look.tasks,
                *(look.counts[name] for name in names),
                _share(look.valid_low, look.valid_high),
            )
            for look in shown
        ],
        None,
    )


def _share(low: float, high: float) -> str:
    """Return a share in percent; both bounds where some tasks are not known."""
    return f"{100 * low:.0f} %" if low == high else f"{100 * low:.0f} to {100 * high:.0f} %"


def _show_kinds(life: CanaryLife, console: Console) -> None:
    if not life.kinds:
        return
    console.line("\nwhat dies first:")
    console.table(
        (
            Column("kind"),
            Column("deaths", right=True),
            Column("item-days", right=True),
            Column("deaths per 100 item-days", right=True),
        ),
        [
            (
                one.kind,
                one.deaths,
                f"{one.item_days:.1f}",
                "" if one.per_100_days is None else f"{one.per_100_days:.2f}",
            )
            for one in life.kinds
        ],
        None,
    )


def _show_bad(life: CanaryLife, console: Console) -> None:
    bad = [one for one in life.now if one.status is not CanaryStatus.VALID]
    if not bad:
        return
    console.line("\nnow not valid:")
    console.table(
        (Column("task"), Column("status"), Column("since"), Column("why"), Column("evidence")),
        [(one.task, one.status, one.since, one.because, one.evidence or "") for one in bad],
        None,
    )
