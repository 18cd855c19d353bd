"""The home page and the health probe."""

from __future__ import annotations

from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.views.generic import TemplateView
from oscar.core.loading import get_model

Category = get_model("catalogue", "Category")
Product = get_model("catalogue", "Product")
PICKS = 12


def health(request: HttpRequest) -> HttpResponse:
    """Answer `ready` and the number of products, which only a working database can tell."""
    count = Product.objects.filter(~Q(structure="child")).count()
    return HttpResponse(f"ready {count} products\n", content_type="text/plain")


class HomeView(TemplateView):
    """The front page: departments, best rated products and the newest ones."""

    template_name = "harbour/home.html"

    def get_context_data(self, **kwargs: object) -> dict[str, object]:
        """Add what the front page shows."""
        context = super().get_context_data(**kwargs)
        products = Product.objects.browsable().base_queryset()
        context["departments"] = Category.get_root_nodes()
        context["best_rated"] = products.filter(structure="standalone").order_by("-rating", "id")[:PICKS]
        context["newest"] = products.filter(structure="standalone").order_by("-date_created", "id")[:PICKS]
        return context
