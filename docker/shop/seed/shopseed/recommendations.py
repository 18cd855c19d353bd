"""Writes what the merchant recommends beside the products that sell best."""

from __future__ import annotations

from collections import Counter, defaultdict
from random import Random

from oscar.core.loading import get_model

from shopseed.plan import Plan
from shopseed.vocabulary import Department

Line = get_model("order", "Line")
ProductRecommendation = get_model("catalogue", "ProductRecommendation")

PRODUCTS = 300
EACH = 2


def write_recommendations(departments: list[Department], items: list[Plan]) -> None:
    """Recommend two products, of other categories of its department, with each best seller."""
    rng = Random("recommendations")
    home = {words.name: shelf.name for shelf in departments for words in shelf.categories}
    beside: dict[str, list[Plan]] = defaultdict(list)
    for item in items:
        if item.parent is None:
            beside[home[item.words.name]].append(item)
    known = {item.id: item for item in items if item.parent is None}
    rows = []
    for number in _best_sellers(set(known)):
        name = known[number].words.name
        others = [item for item in beside[home[name]] if item.words.name != name]
        rows += [
            ProductRecommendation(primary_id=number, recommendation_id=item.id, ranking=rank)
            for rank, item in zip(range(EACH, 0, -1), rng.sample(others, EACH), strict=True)
        ]
    ProductRecommendation.objects.bulk_create(rows)


def _best_sellers(known: set[int]) -> list[int]:
    sold: Counter[int] = Counter()
    for number, pieces in Line.objects.order_by().values_list("product", "quantity"):
        if number in known:
            sold[number] += pieces
    ranked = sorted(sold.items(), key=lambda entry: (-entry[1], entry[0]))
    return [number for number, _ in ranked[:PRODUCTS]]
