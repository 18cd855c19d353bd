"""Products side by side; which ones is in the URL, so that looking writes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.views.generic import TemplateView
from oscar.core.loading import get_model

from harbour.search.fulltext import matching
from harbour.shelf import shelf

Product = get_model("catalogue", "Product")
MOST = 4
FOUND = 8
PARAMETER = "product"


@dataclass(frozen=True, slots=True)
class Column:
    """One product of the comparison."""

    product: Any
    price: Decimal | None
    currency: str
    availability: str
    can_be_bought: bool
    facts: dict[str, str]
    without: str


def _url(ids: list[int]) -> str:
    return f"{reverse('compare')}?{urlencode([(PARAMETER, number) for number in ids])}"


class CompareView(TemplateView):
    """A table of up to four products: price, stars, stock and all their attributes."""

    template_name = "harbour/compare.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add the columns, the rows of attributes, and products to add."""
        ids = self._ids()
        known = Product.objects.filter(is_public=True).in_bulk(ids)
        ids = [number for number in ids if number in known]
        shown = ids[:MOST]
        columns = [self._column(product, shown) for product in shelf(shown)]
        prices = [column.price for column in columns if column.price is not None]
        stars = [column.product.rating for column in columns if column.product.rating]
        names = dict.fromkeys(name for column in columns for name in column.facts)
        text = self.request.GET.get("q", "").strip()
        return {
            **super().get_context_data(**kwargs),
            "columns": columns,
            "rows": [(name, [column.facts.get(name, "-") for column in columns]) for name in names],
            "lowest": min(prices) if len(prices) > 1 else None,
            "best": max(stars) if len(stars) > 1 else None,
            "is_full": len(shown) == MOST,
            "left_out": len(ids) - len(shown),
            "chosen": shown,
            "words": text,
            "found": self._found(text, shown),
        }

    def _ids(self) -> list[int]:
        texts = self.request.GET.getlist(PARAMETER)
        return list(
            dict.fromkeys(int(text) for text in texts if text.isdecimal() and len(text) < 9)
        )

    def _column(self, product: Any, shown: list[int]) -> Column:
        strategy = self.request.strategy
        fetch = strategy.fetch_for_parent if product.is_parent else strategy.fetch_for_product
        info = fetch(product)
        values = product.get_attribute_values().select_related("attribute")
        return Column(
            product=product,
            price=info.price.incl_tax if info.price.exists else None,
            currency=info.price.currency if info.price.exists else "",
            availability=str(info.availability.message),
            can_be_bought=not product.is_parent and info.availability.is_available_to_buy,
            facts={value.attribute.name: str(value.value_as_text) for value in values},
            without=_url([number for number in shown if number != product.pk]),
        )

    def _found(self, text: str, shown: list[int]) -> list[tuple[Any, str]]:
        if not text or len(shown) >= MOST:
            return []
        ids = matching(Product.objects.browsable().exclude(pk__in=shown), text)
        products = shelf(ids.values_list("pk", flat=True)[:FOUND])
        return [(product, _url([*shown, product.pk])) for product in products]
