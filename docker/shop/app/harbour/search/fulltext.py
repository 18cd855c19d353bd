"""Product search on MariaDB's FULLTEXT indexes (made by the seed on catalogue_product)."""

from __future__ import annotations

import re

from django.db.models import FloatField, QuerySet
from django.db.models.expressions import RawSQL

WORD = re.compile(r"\w+")
TITLE = "MATCH (catalogue_product.title) AGAINST (%s IN BOOLEAN MODE)"
EVERYTHING = (
    "MATCH (catalogue_product.title, catalogue_product.description) AGAINST (%s IN BOOLEAN MODE)"
)
TITLE_WEIGHT = 4


def boolean_query(text: str, *, every_word: bool) -> str:
    """Return `text` in FULLTEXT's boolean syntax, plurals cut to their stem, words as prefixes."""
    words = [word for word in WORD.findall(text.lower()) if len(word) > 1]
    stems = [word[:-1] if len(word) > 3 and word.endswith("s") else word for word in words]
    sign = "+" if every_word else ""
    return " ".join(f"{sign}{stem}*" for stem in stems)


def matching(products: QuerySet, text: str) -> QuerySet:
    """Return the products with all words of `text` (with any, where none has all), best first."""
    for every_word in (True, False):
        query = boolean_query(text, every_word=every_word)
        if not query:
            return products.none()
        score = RawSQL(  # noqa: S611  its words are parameters
            f"({TITLE_WEIGHT} * {TITLE} + {EVERYTHING})", (query, query), output_field=FloatField()
        )
        found = products.annotate(relevance=score).filter(
            id__in=RawSQL(  # noqa: S611  the same
                f"SELECT id FROM catalogue_product WHERE {EVERYTHING}",  # noqa: S608  a constant
                (query,),
            )
        )
        if found.exists():
            break
    return found.order_by("-relevance", "id")
