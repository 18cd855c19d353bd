"""The renamed routes: /catalogue/slug_id/ became /p/id/slug, and /basket/ became /bag/."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path, re_path
from oscar.apps.catalogue.apps import CatalogueConfig
from oscar.config import Shop

Routes = list[URLPattern | URLResolver]
SLUG = r"(?P<product_slug>[\w-]*)"


class LiveCatalogue(CatalogueConfig):
    """Oscar's catalogue with product pages at /p/id/slug."""

    def get_urls(self) -> Routes:
        """Return the catalogue's routes, to be mounted at the root."""
        return [
            path("catalogue/", self.catalogue_view.as_view(), name="index"),
            re_path(rf"^p/(?P<pk>\d+)/{SLUG}$", self.detail_view.as_view(), name="detail"),
            re_path(
                r"^catalogue/category/(?P<category_slug>[\w-]+(/[\w-]+)*)_(?P<pk>\d+)/$",
                self.category_view.as_view(),
                name="category",
            ),
            re_path(
                r"^catalogue/ranges/(?P<slug>[\w-]+)/$", self.range_view.as_view(), name="range"
            ),
            re_path(rf"^p/(?P<product_pk>\d+)/{SLUG}/reviews/", include(self.reviews_app.urls[0])),
        ]


class LiveShop(Shop):
    """Oscar's shop with the basket at /bag/."""

    def get_urls(self) -> Routes:
        """Return all routes of the shop."""
        replaced = ("catalogue/", "basket/")
        kept = [route for route in super().get_urls() if str(route.pattern) not in replaced]
        return [path("bag/", self.basket_app.urls), *kept, path("", self.catalogue_app.urls)]
