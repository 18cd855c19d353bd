"""Writes reviews whose words fit their stars and the product's category."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime, timedelta
from random import Random
from typing import Any

from django.contrib.auth.models import User
from oscar.core.loading import get_model

from shopseed.clock import NOW, moment
from shopseed.plan import Plan
from shopseed.vocabulary import phrases

Product = get_model("catalogue", "Product")
ProductReview = get_model("reviews", "ProductReview")

REVIEWS = 12000
MODERATION_SHARE = 0.03
FIRST_REVIEW = datetime(2024, 1, 8, 8, 0, tzinfo=NOW.tzinfo)
BATCH = 1000


def _body(rng: Random, item: Plan, stars: int, texts: dict[str, Any]) -> str:
    key = str(stars)
    praise = rng.sample(item.words.praise, 2)
    gripe = rng.choice(item.words.gripe)
    middle = {
        5: praise,
        4: [praise[0], gripe if rng.random() < 0.4 else praise[1]],
        3: [praise[0], gripe],
        2: [gripe],
        1: [gripe],
    }[stars]
    sentences = [rng.choice(texts["opening"][key]), *middle, rng.choice(texts["closing"][key])]
    return " ".join(sentence for sentence in sentences if sentence)


def write_reviews(items: list[Plan]) -> None:
    """Write the reviews and the mean stars of the products that have any."""
    rng = Random("reviews")
    texts = phrases("reviews")
    users = list(User.objects.filter(id__gt=2).order_by("id"))
    tops = [item for item in items if item.parent is None]
    weights = [rng.paretovariate(1.2) for _ in tops]
    weights = [min(weight, 30) for weight in weights]
    seen: set[tuple[int, int]] = set()
    rows = []
    scores: dict[int, list[int]] = defaultdict(list)
    for item in rng.choices(tops, weights=weights, k=REVIEWS):
        user = rng.choice(users)
        if (item.id, user.id) in seen:
            continue
        seen.add((item.id, user.id))
        stars = min(5, max(1, round(rng.gauss(item.model.quality, 0.9))))
        is_waiting = rng.random() < MODERATION_SHARE
        if not is_waiting:
            scores[item.id].append(stars)
        rows.append(
            ProductReview(
                product_id=item.id,
                user=user,
                score=stars,
                title=rng.choice(texts["titles"][str(stars)]),
                body=_body(rng, item, stars, texts),
                status=ProductReview.FOR_MODERATION if is_waiting else ProductReview.APPROVED,
                date_created=moment(rng, FIRST_REVIEW, NOW - timedelta(days=1)),
            )
        )
    rows.sort(key=lambda row: row.date_created)
    ProductReview.objects.bulk_create(rows, batch_size=BATCH)
    rated = list(Product.objects.filter(id__in=scores))
    for product in rated:
        product.rating = sum(scores[product.id]) / len(scores[product.id])
    Product.objects.bulk_update(rated, ["rating"], batch_size=BATCH)
