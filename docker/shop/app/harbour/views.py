"""The home page and the health probe."""

from __future__ import annotations

from django.db.models import Avg, Count, Q
from django.http import HttpRequest, HttpResponse
from django.views.generic import TemplateView
from oscar.core.loading import get_model

from harbour.shelf import shelf

Category = get_model("catalogue", "Category")
Product = get_model("catalogue", "Product")
ProductReview = get_model("reviews", "ProductReview")
PICKS = 12
ENOUGH_REVIEWS = 8


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
        singles = Product.objects.browsable().filter(structure="standalone")
        newest = singles.order_by("-date_created", "id").values_list("pk", flat=True)
        best = (
            ProductReview.objects.approved()
            .filter(product__structure="standalone")
            .values_list("product", flat=True)
            .annotate(count=Count("pk"), mean=Avg("score"))
            .filter(count__gte=ENOUGH_REVIEWS)
            .order_by("-mean", "product")
        )
        context["departments"] = Category.get_root_nodes()
        context["best_rated"] = shelf(best[:PICKS])
        context["newest"] = shelf(newest[:PICKS])
        return context
