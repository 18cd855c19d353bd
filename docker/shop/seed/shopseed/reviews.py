"""Writes reviews by customers who ordered the product, after it was delivered."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from random import Random
from typing import Any

from django.contrib.auth.models import User
from harbour.returns.models import Reason, Return
from oscar.core.loading import get_model

from shopseed.clock import NOW, moment
from shopseed.dealings import phrases
from shopseed.opinions import Case, compose
from shopseed.plan import Plan

Line = get_model("order", "Line")
Product = get_model("catalogue", "Product")
ProductReview = get_model("reviews", "ProductReview")

CUSTOMER_ID = 2  # the customer role has reviewed nothing
SHARE = 0.88  # of the purchases are reviewed
GIVEN_SHARE = 0.06
RECEIVED_SHARE = 0.01  # are reviewed by whoever got it as a present
MODERATION_SHARE = 0.03
ON_ITS_WAY = timedelta(hours=60)
SOONEST = 4  # days
DAY = timedelta(days=1)
BATCH = 1000


@dataclass(frozen=True, slots=True)
class Review:
    """One review to be: whose, when, and of what."""

    case: Case
    when: datetime
    is_waiting: bool
    title: str = ""  # one that is given
    id: int = 0

    @property
    def top(self) -> Plan:
        """Return the product that it stands at: a variant's parent."""
        return self.case.item.parent or self.case.item


def _month(delivered: datetime, when: datetime) -> str:
    return delivered.strftime("%B" if when - delivered < 300 * DAY else "%B %Y")


def _stars(rng: Random, item: Plan) -> int:
    return min(5, max(1, round(rng.gauss(item.model.quality, 0.9))))


def _day(rng: Random, delivered: datetime) -> datetime | None:
    """Return when somebody writes about it: mostly soon, sometimes after two years."""
    room = (NOW - DAY - delivered).days - 1
    if room < SOONEST:
        return None
    days = int(10 ** rng.uniform(0.7, 2.9))
    first = delivered + DAY * (days if days <= room else rng.randint(SOONEST, room))
    return moment(rng, first, first + DAY)


def _ordered(
    rng: Random, line: Any, item: Plan, back: Return | None, others: list[User]
) -> Review | None:
    """Return the review of one purchase, where it gets one."""
    if line.order.status not in {"Complete", "Returned"} or rng.random() > SHARE:
        return None
    delivered = line.order.date_placed + ON_ITS_WAY
    when = _day(rng, delivered)
    part, who, stars = "own", line.order.user, _stars(rng, item)
    if rng.random() < RECEIVED_SHARE:
        part, who = "received", rng.choice(others)
    elif rng.random() < GIVEN_SHARE:
        part = "given"
    if back is not None:
        if back.reason != Reason.FAULTY or line.order.status != "Returned":
            return None
        part, who, stars = "own", line.order.user, rng.choice((1, 1, 2))
        when = moment(rng, back.date_updated + DAY, back.date_updated + 30 * DAY)
    if when is None or when > NOW - DAY or who.date_joined > when:
        return None
    used = (when if back is None else back.date_requested) - delivered
    case = Case(
        item=item,
        who=who.id,
        stars=stars,
        days=max(used.days, 0),
        month=_month(delivered, when),
        quantity=line.quantity,
        part=part,
        is_returned=back is not None,
    )
    return Review(case, when, rng.random() < MODERATION_SHARE)


def _kept(items: dict[int, Plan]) -> Iterator[Review]:
    """Yield the reviews that are given one by one, of things got as presents."""
    users = {f"{user.first_name} {user.last_name}": user.id for user in User.objects.all()}
    for row in phrases("reviews")["reviews"]:
        item = items[row["product"]]
        rng = Random(f"review/{row['product']}/{row['by']}")
        bought = rng.choice(item.children) if item.children else item
        days = rng.randint(20, 150)
        when = row["when"]
        case = Case(
            item=bought,
            who=users[row["by"]],
            stars=row["stars"],
            days=days,
            month=_month(when - days * DAY, when),
            part="received",
        )
        yield Review(case, when, row.get("waits", False), row.get("title", ""), row.get("id", 0))


def _all(items: list[Plan]) -> list[Review]:
    """Return all reviews in the order of their dates: one per product and customer."""
    rng = Random("reviews")
    known = {item.id: item for item in items}
    found = list(_kept(known))
    closed = {one.top.id for one in found} | set(phrases("reviews")["unreviewed"])
    lines = list(Line.objects.select_related("order__user").order_by("id"))
    others = list(User.objects.filter(id__gt=CUSTOMER_ID).order_by("id"))
    backs = {back.line_id: back for back in Return.objects.all()}
    ordered = {(line.order.user_id, line.product_id) for line in lines}
    seen: set[tuple[int, int]] = set()
    for line in lines:
        item = known[line.product_id]
        if line.order.user_id == CUSTOMER_ID:
            continue
        review = _ordered(rng, line, item, backs.get(line.id), others)
        if review is None or review.top.id in closed:
            continue
        key = (review.top.id, review.case.who)
        is_stranger = review.case.part == "received"
        if key in seen or (is_stranger and (review.case.who, item.id) in ordered):
            continue
        seen.add(key)
        found.append(review)
    return sorted(found, key=lambda one: (one.when, one.top.id))


def write_reviews(items: list[Plan]) -> None:
    """Write the reviews and the mean stars of the products that have any."""
    found = _all(items)
    [anchor] = [place for place, one in enumerate(found) if one.id]
    first = found[anchor].id - anchor
    scores: dict[int, list[int]] = defaultdict(list)
    titled: dict[str, str] = phrases("reviews")["titled"]
    heard: dict[int, Counter[str]] = defaultdict(Counter)
    rows = []
    for number, one in enumerate(found, start=first):
        case = replace(one.case, title=titled.get(str(number), ""))
        rng = Random(f"opinion/{one.top.id}/{case.who}")
        title, body = compose(rng, case, heard[one.top.id])
        if not one.is_waiting:
            scores[one.top.id].append(case.stars)
        rows.append(
            ProductReview(
                id=number,
                product_id=one.top.id,
                user_id=case.who,
                score=case.stars,
                title=one.title or case.title or title,
                body=body,
                status=ProductReview.FOR_MODERATION if one.is_waiting else ProductReview.APPROVED,
                date_created=one.when,
            )
        )
    ProductReview.objects.bulk_create(rows, batch_size=BATCH)
    rated = list(Product.objects.filter(id__in=scores))
    for product in rated:
        product.rating = sum(scores[product.id]) / len(scores[product.id])
    Product.objects.bulk_update(rated, ["rating"], batch_size=BATCH)
