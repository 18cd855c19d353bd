"""The home page and the health probe."""

from __future__ import annotations

from django.db.models import Avg, Count, F, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.views.generic import TemplateView
from oscar.core.loading import get_model

from harbour.shelf import shelf

Category = get_model("catalogue", "Category")
Product = get_model("catalogue", "Product")
ProductReview = get_model("reviews", "ProductReview")
PICKS = 8
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
        best, newest = _best_rated(), _newest()
        products = shelf([*best, *newest])
        context["departments"] = Category.get_root_nodes()
        context["best_rated"] = products[: len(best)]
        context["newest"] = products[len(best) :]
        return context


def _best_rated() -> list[int]:
    # Grouped by a term and not by the column: else MariaDB walks the column's index and looks up
    # each review, which takes five times as long as reading all of them.
    rated = (
        ProductReview.objects.approved()
        .values(number=F("product_id") * 1)
        .annotate(count=Count("pk"), mean=Avg("score"))
        .filter(count__gte=ENOUGH_REVIEWS)
        .order_by("-mean", "number")
    )
    numbers = [row["number"] for row in rated]
    shown = set(_singles().filter(pk__in=numbers).values_list("pk", flat=True))
    return [number for number in numbers if number in shown][:PICKS]


def _newest() -> list[int]:
    newest = _singles().order_by("-date_created", "-id")
    return list(newest.values_list("pk", flat=True)[:PICKS])


def _singles() -> QuerySet[Product]:
    """Return the products that are sold as they are: they have no parent, so none is asked for."""
    return Product.objects.filter(is_public=True, structure=Product.STANDALONE)
