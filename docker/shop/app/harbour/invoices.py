"""The invoice of an order, as a page to print, for the customer and for the merchant."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.mixins import LoginRequiredMixin
from django.db.models import QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from django.urls import reverse, reverse_lazy
from django.views.generic import TemplateView
from oscar.core.loading import get_model

from harbour.merchant import MerchantOnly
from harbour.returns.models import RETURNABLE
from harbour.vat import RATE, vat_in

Order = get_model("order", "Order")
ProductAttributeValue = get_model("catalogue", "ProductAttributeValue")

OPTIONS = ("size", "finish")


def has_invoice(order: Any) -> bool:
    """Tell whether an order has an invoice: it goes with the parcel."""
    return order.status in RETURNABLE


def lines_with_options(order: Any) -> list[dict[str, Any]]:
    """Return the lines of an order with the size and the finish of what was bought."""
    lines = list(order.lines.order_by("id"))
    values = ProductAttributeValue.objects.filter(
        product_id__in=[line.product_id for line in lines], attribute__code__in=OPTIONS
    )
    known = {
        (product, code): text
        for product, code, text in values.values_list("product_id", "attribute__code", "value_text")
    }
    return [
        {"line": line, **{code: known.get((line.product_id, code), "") for code in OPTIONS}}
        for line in lines
    ]


class _Invoice(TemplateView):
    template_name = "harbour/invoice.html"

    order_page: str

    def orders(self) -> QuerySet:
        """Return the orders of which the visitor may see the invoice."""
        raise NotImplementedError

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add the order, its lines and the tax in its total."""
        order = get_object_or_404(self.orders(), number=kwargs["number"])
        if not has_invoice(order):
            msg = "The invoice comes with the parcel."
            raise Http404(msg)
        return {
            **super().get_context_data(**kwargs),
            "order": order,
            "back": reverse(self.order_page, args=[order.number]),
            "rows": lines_with_options(order),
            "rate": RATE,
            "tax": vat_in(order.total_incl_tax),
        }


class InvoiceView(LoginRequiredMixin, _Invoice):
    """The customer's copy."""

    order_page = "customer:order"
    login_url = reverse_lazy("customer:login")

    def orders(self) -> QuerySet:
        """Return the customer's own orders."""
        return Order.objects.filter(user=self.request.user)


class MerchantInvoiceView(MerchantOnly, _Invoice):
    """The merchant's copy."""

    order_page = "dashboard:order-detail"

    def orders(self) -> QuerySet:
        """Return all orders."""
        return Order.objects.all()
