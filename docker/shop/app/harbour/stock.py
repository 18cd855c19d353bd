"""The dashboard's list of stock levels: every product that is sold, each variant by itself."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.db.models import QuerySet
from django.views.generic import ListView
from oscar.core.loading import get_model

from harbour.merchant import MerchantOnly

StockRecord = get_model("partner", "StockRecord")


class StockForm(forms.Form):
    """Asks for products by how many are in stock."""

    least = forms.IntegerField(required=False, min_value=0, label="In stock at least")
    most = forms.IntegerField(required=False, min_value=0, label="In stock at most")
    title = forms.CharField(required=False, label="Product title")


class StockLevelsView(MerchantOnly, ListView):
    """Stock levels, the lowest first."""

    template_name = "harbour/stock.html"
    context_object_name = "records"
    paginate_by = settings.OSCAR_DASHBOARD_ITEMS_PER_PAGE

    def get_queryset(self) -> QuerySet:
        """Return the stock records that the form asks for."""
        self.form = StockForm(self.request.GET)
        self.form.is_valid()
        asked = self.form.cleaned_data
        found = StockRecord.objects.select_related("product", "partner")
        for name, column in (("least", "num_in_stock__gte"), ("most", "num_in_stock__lte")):
            if asked.get(name) is not None:
                found = found.filter(**{column: asked[name]})
        found = found.filter(product__title__icontains=asked.get("title", ""))
        return found.order_by("num_in_stock", "product_id")

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add the form."""
        return {**super().get_context_data(**kwargs), "form": self.form}
