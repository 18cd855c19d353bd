"""Lists of submissions: their orders, periods, and where the next part begins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from urllib.parse import urlencode

from django.db.models import Q, QuerySet

from waypost import clock
from waypost.models import Member, Submission, Visibility

PAGE_SIZE = 25


class Sort(StrEnum):
    """The orders, as paths name them."""

    HOT = "hot"
    NEW = "new"
    ACTIVE = "active"
    TOP = "top"
    CONTROVERSIAL = "controversial"
    MOST_COMMENTED = "most_commented"

    @property
    def column(self) -> str:
        """The column that is ordered by, greatest first."""
        return _COLUMNS[self]

    @property
    def label(self) -> str:
        """The order's name for a reader."""
        return self.value.replace("_", " ").capitalize()

    @property
    def has_period(self) -> bool:
        """Whether the order may be kept to a period."""
        return self in {Sort.TOP, Sort.CONTROVERSIAL, Sort.MOST_COMMENTED}


_COLUMNS = {
    Sort.HOT: "ranking",
    Sort.NEW: "id",
    Sort.ACTIVE: "last_active",
    Sort.TOP: "net_score",
    Sort.CONTROVERSIAL: "controversy",
    Sort.MOST_COMMENTED: "comment_count",
}


class Period(StrEnum):
    """How far back a list reaches, as `?t=` says it."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    YEAR = "year"
    ALL = "all"

    @property
    def label(self) -> str:
        """The period's name for a reader."""
        return {"all": "All time", "day": "Past 24 hours"}.get(self.value, f"Past {self.value}")

    @property
    def start(self) -> datetime | None:
        """When the period began; None for all time."""
        return clock.now() - timedelta(days=_DAYS[self]) if self in _DAYS else None


_DAYS = {Period.DAY: 1, Period.WEEK: 7, Period.MONTH: 30, Period.YEAR: 365}


@dataclass(frozen=True, slots=True)
class Listing:
    """One part of a list.

    Attributes:
        rows: its submissions, sticky ones first.
        more: the query of the next part; empty where there is none.
    """

    rows: list[Submission]
    sort: Sort
    period: Period
    more: str


def period_of(query: Mapping[str, str]) -> Period:
    """Return the period that a query asks for; the past day where it names none or no known one.

    The tabs of the orders ask for the past day, and a path without a query shows the same.
    """
    try:
        return Period(query.get("t", Period.DAY))
    except ValueError:
        return Period.DAY


def visible(reader: Member | None) -> QuerySet[Submission]:
    """Return the submissions that a reader may see, without those of members they block."""
    rows = Submission.objects.filter(visibility=Visibility.VISIBLE)
    if reader is not None:
        blocked = list(reader.blocks.values_list("blocked_id", flat=True))
        rows = rows.exclude(author_id__in=blocked) if blocked else rows
    return rows


def loaded(rows: QuerySet[Submission]) -> list[Submission]:
    """Return ordered rows with their authors and forums.

    The ids come first, from one table: joined, MariaDB would sort all rows before it takes some.
    """
    ids = list(rows.values_list("id", flat=True))
    found = Submission.objects.select_related("author", "forum").in_bulk(ids)
    return [found[number] for number in ids]


def listing(
    rows: QuerySet[Submission], sort: Sort, query: Mapping[str, str], *, sticky: bool = False
) -> Listing:
    """Return the part of a list that a query asks for.

    `next[COLUMN]` and `next[id]` name the first submission of the part, as Postmill has it.
    Where `sticky` is set, pinned submissions stand before the first part of `hot`.
    """
    period = period_of(query) if sort.has_period else Period.ALL
    if period.start is not None:
        rows = rows.filter(created__gte=period.start)
    top: list[Submission] = []
    if sticky and sort is Sort.HOT:
        top = [] if _cursor(sort, query) else loaded(rows.filter(is_sticky=True).order_by("-id"))
        rows = rows.filter(is_sticky=False)
    found = _cursor(sort, query)
    if found:
        rows = rows.filter(found)
    order = ["-id"] if sort is Sort.NEW else [f"-{sort.column}", "-id"]
    part = loaded(rows.order_by(*order)[: PAGE_SIZE + 1])
    more = _next(sort, period, part[PAGE_SIZE]) if len(part) > PAGE_SIZE else ""
    return Listing(top + part[:PAGE_SIZE], sort, period, more)


def _cursor(sort: Sort, query: Mapping[str, str]) -> Q | None:
    column = sort.column
    try:
        number = int(query["next[id]"])
        if column == "id":
            return Q(id__lte=number)
        text = query[f"next[{column}]"]
        value = datetime.fromisoformat(text) if sort is Sort.ACTIVE else int(text)
    except (KeyError, ValueError):
        return None
    return Q(**{f"{column}__lt": value}) | Q(**{column: value, "id__lte": number})


def _next(sort: Sort, period: Period, first: Submission) -> str:
    cursor: dict[str, object] = {"t": period.value} if sort.has_period else {}
    if sort.column != "id":
        value = getattr(first, sort.column)
        cursor[f"next[{sort.column}]"] = value.isoformat() if sort is Sort.ACTIVE else value
    return urlencode(cursor | {"next[id]": first.id})
