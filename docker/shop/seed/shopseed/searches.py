"""Writes the searches of the last year, with what each finds."""

from __future__ import annotations

from datetime import timedelta
from random import Random

from django.contrib.auth.models import User
from harbour.insights.models import Search
from harbour.search.fulltext import matching
from oscar.core.loading import get_model

from shopseed.clock import NOW, moment
from shopseed.dealings import phrases

Product = get_model("catalogue", "Product")
KNOWN_SHARE = 0.3  # of the searches are by somebody who is logged in


def write_searches() -> None:
    """Write them in the order of their dates; the FULLTEXT indexes must be there."""
    words = phrases("searches")
    rng = Random("searches")
    terms = words["terms"]
    weights = [1 / (place + 4) for place in range(len(terms))]
    found = {term: matching(Product.objects.browsable(), term).count() for term in terms}
    users = list(User.objects.filter(is_staff=False).order_by("id").values_list("id", flat=True))
    rows = []
    for term in rng.choices(terms, weights=weights, k=words["searches"]):
        user = rng.choice(users) if rng.random() < KNOWN_SHARE else None
        when = moment(rng, NOW - timedelta(days=365))
        rows.append(Search(query=term, results=found[term], user_id=user, date_created=when))
    rows.sort(key=lambda row: row.date_created)
    for number, row in enumerate(rows, start=1):
        row.id = number
    Search.objects.bulk_create(rows, batch_size=1000)
