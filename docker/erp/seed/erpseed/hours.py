"""Timesheets of a month: who worked on what, for how long."""

from __future__ import annotations

import datetime as dt
from random import Random
from typing import Any

from erpseed.accounts import company as only_company
from erpseed.data import create, read

_FIRST, _LAST = dt.date(2026, 9, 1), dt.date(2026, 9, 30)
_QUARTERS = (4, 6, 8, 10, 12, 14, 16)
_DAY = 32  # quarters of an hour that a day may have


def write_hours(employees: dict[str, Any]) -> None:
    """Write works, and for each employee the lines of every working day but a few."""
    rng, company, office = Random("erp hours"), only_company().id, read("office")
    records = [{"name": name, "company": company} for name in office["works"]]
    made = create("timesheet.work", records)
    works = {name: work.id for name, work in zip(office["works"], made, strict=True)}
    lines = []
    for number in range((_LAST - _FIRST).days + 1):
        day = _FIRST + dt.timedelta(days=number)
        if day.weekday() > 4:
            continue
        for person in office["person"]:
            if rng.random() < 0.08:
                continue
            left = _DAY
            for work in rng.sample(person["works"], rng.choice((1, 2, 2, 3))):
                quarters = min(left, rng.choice(_QUARTERS))
                if not quarters:
                    break
                left -= quarters
                lines.append(
                    {
                        "employee": employees[person["name"]].id,
                        "company": company,
                        "date": day,
                        "work": works[work],
                        "duration": dt.timedelta(minutes=15 * quarters),
                        "description": rng.choice(office["works"][work]),
                    }
                )
    create("timesheet.line", lines)
