"""Refinements beside a list: price ranges and stars, counted in the database."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Count, DecimalField, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import QueryDict
from oscar.core.loading import get_model

StockRecord = get_model("partner", "StockRecord")
PARAMETER = "selected_facets"


@dataclass(frozen=True, slots=True)
class Choice:
    """One refinement: its value in the URL, its label, and the condition on a product."""

    value: str
    label: str
    condition: Q


def _price(low: int, high: int | None) -> Choice:
    condition = Q(price__gte=Decimal(low))
    if high is None:
        return Choice(f"price:{low}-", f"£{low} and over", condition)
    return Choice(
        f"price:{low}-{high}", f"£{low} to £{high}", condition & Q(price__lt=Decimal(high))
    )


GROUPS: dict[str, tuple[Choice, ...]] = {
    "Price": (_price(0, 20), _price(20, 50), _price(50, 100), _price(100, 250), _price(250, None)),
    "Customer rating": tuple(
        Choice(f"rating:{stars}", f"{stars} stars and up", Q(rating__gte=stars))
        for stars in (4, 3, 2)
    ),
}


def with_price(products: QuerySet) -> QuerySet:
    """Annotate each product with its `price`: its own, or the lowest of its variants."""
    field = DecimalField(max_digits=12, decimal_places=2)
    own = StockRecord.objects.filter(product=OuterRef("pk")).order_by("price").values("price")[:1]
    variants = (
        StockRecord.objects.filter(product__parent=OuterRef("pk")).order_by("price").values("price")
    )
    return products.annotate(
        price=Coalesce(Subquery(own), Subquery(variants[:1]), output_field=field)
    )


def chosen(query: QueryDict) -> list[Choice]:
    """Return the refinements that the URL selects; unknown ones are ignored."""
    values = set(query.getlist(PARAMETER))
    return [choice for group in GROUPS.values() for choice in group if choice.value in values]


def narrowed(products: QuerySet, choices: list[Choice]) -> QuerySet:
    """Keep the products that meet one choice of each group that has one."""
    for group in GROUPS.values():
        condition = Q()
        for choice in group:
            if choice in choices:
                condition |= choice.condition
        products = products.filter(condition)
    return products


def _url(query: QueryDict, path: str, values: list[str]) -> str:
    changed = query.copy()
    changed.pop("page", None)
    changed.setlist(PARAMETER, values)
    return f"{path}?{changed.urlencode()}"


def facet_data(products: QuerySet, query: QueryDict, path: str) -> dict[str, dict[str, object]]:
    """Return what Oscar's facet template shows: per group its name and its counted choices."""
    selected = query.getlist(PARAMETER)
    everything = [choice for group in GROUPS.values() for choice in group]
    counts = products.order_by().aggregate(
        **{f"n{i}": Count("pk", filter=choice.condition) for i, choice in enumerate(everything)}
    )
    data: dict[str, dict[str, object]] = {}
    for name, group in GROUPS.items():
        results = []
        for choice in group:
            count = counts[f"n{everything.index(choice)}"]
            is_selected = choice.value in selected
            others = [value for value in selected if value != choice.value]
            results.append(
                {
                    "name": choice.label,
                    "count": count,
                    "show_count": True,
                    "selected": is_selected,
                    "disabled": count == 0 and not is_selected,
                    "select_url": _url(query, path, [*selected, choice.value]),
                    "deselect_url": _url(query, path, others),
                }
            )
        data[name] = {"name": name, "results": results}
    return data
