"""Which other products a product's page names."""

from __future__ import annotations

from django.db.models import Count
from oscar.core.loading import get_model

from harbour.shelf import shelf

Line = get_model("order", "Line")
Product = get_model("catalogue", "Product")
ProductRecommendation = get_model("catalogue", "ProductRecommendation")
SHOWN = 4


def related(product: object) -> list[object]:
    """Return what the merchant recommends with it, filled up with the best rated of its kind."""
    top = product.parent or product
    wanted = ProductRecommendation.objects.filter(primary=top, recommendation__is_public=True)
    ids = list(wanted.order_by("-ranking", "id").values_list("recommendation", flat=True)[:SHOWN])
    categories = Product.categories.through.objects.filter(product=top).values("category")
    siblings = Product.categories.through.objects.filter(category__in=categories)
    others = Product.objects.browsable().filter(pk__in=siblings.values("product"))
    others = others.exclude(pk__in=[top.pk, *ids]).order_by("-rating", "id")
    return shelf([*ids, *others.values_list("pk", flat=True)[: SHOWN - len(ids)]])


def also_bought(product: object) -> list[object]:
    """Return what stands most often in the same orders; nothing where it was never sold along."""
    family = [product.pk, *product.children.values_list("pk", flat=True)]
    orders = Line.objects.filter(product__in=family).values("order")
    together = (
        Line.objects.filter(order__in=orders, product__is_public=True)
        .exclude(product__in=family)
        .order_by()
        .values_list("product", flat=True)
        .annotate(times=Count("order", distinct=True))
        .order_by("-times", "product")
    )
    return shelf(together[:SHOWN])
