"""What a visitor may ask of a list besides its words: prices, stars, stock."""

from __future__ import annotations

from django import forms
from django.db.models import Exists, F, OuterRef, QuerySet
from oscar.core.loading import get_model

from harbour.search.facets import with_price

StockRecord = get_model("partner", "StockRecord")


class FilterForm(forms.Form):
    """The filters beside a list, kept in the URL; a field that makes no sense filters nothing."""

    price_from = forms.DecimalField(required=False, min_value=0, label="Price from (£)")
    price_to = forms.DecimalField(required=False, min_value=0, label="Price to (£)")
    min_rating = forms.ChoiceField(
        required=False,
        label="Minimum rating",
        choices=[
            ("", "Any rating"),
            *((str(stars), f"{stars} stars and up") for stars in (4, 3, 2)),
        ],
    )
    in_stock = forms.BooleanField(required=False, label="In stock only")

    def kept(self, products: QuerySet) -> QuerySet:
        """Return the products that pass; both prices are included."""
        self.is_valid()
        wanted = self.cleaned_data
        low, high = wanted.get("price_from"), wanted.get("price_to")
        if low is not None or high is not None:
            products = with_price(products)
        if low is not None:
            products = products.filter(price__gte=low)
        if high is not None:
            products = products.filter(price__lte=high)
        if stars := wanted.get("min_rating"):
            products = products.filter(rating__gte=int(stars))
        if wanted.get("in_stock"):
            left = StockRecord.objects.filter(num_in_stock__gt=F("num_allocated"))
            own = left.filter(product=OuterRef("pk"))
            variant = left.filter(product__parent=OuterRef("pk"))
            products = products.filter(Exists(own) | Exists(variant))
        return products
