"""Search, catalogue and category pages as ORM views; templates and URLs are Oscar's."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import unquote

from django.conf import settings
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponsePermanentRedirect
from django.shortcuts import get_object_or_404
from django.views.generic import ListView
from oscar.apps.search.signals import user_search
from oscar.core.loading import get_model

from harbour.search.facets import (
    PARAMETER,
    chosen,
    facet_data,
    narrowed,
    with_price,
    with_sold,
)
from harbour.search.filters import FilterForm
from harbour.search.forms import SearchForm
from harbour.search.fulltext import matching
from harbour.shelf import shelf

Category = get_model("catalogue", "Category")
Product = get_model("catalogue", "Product")


class Result(NamedTuple):
    """A search result as Oscar's templates expect it: the product is its `object`."""

    object: object


class ProductListView(ListView):
    """A page of products: filtered, narrowed by facets, sorted as asked."""

    paginate_by = settings.OSCAR_PRODUCTS_PER_PAGE
    default_order: tuple[str, ...] = ("-date_created", "id")

    def matching_products(self) -> QuerySet:
        """Return the products that this page is about, before facets and sorting."""
        return Product.objects.browsable()

    def get_queryset(self) -> QuerySet:
        """Return the ids of all pages' products, in the order asked for."""
        self.form = SearchForm(self.request.GET)
        self.filters = FilterForm(self.request.GET)
        self.unrefined = self.filters.kept(self.matching_products())
        products = narrowed(self.unrefined, chosen(self.request.GET))
        order = SearchForm.ORDER.get(self.request.GET.get("sort_by", ""))
        if order:
            key = order[0].lstrip("-")
            annotate = {"price": with_price, "sold": with_sold}.get(key, QuerySet.all)
            products = annotate(products).order_by(*order)
        elif not products.query.order_by:
            products = products.order_by(*self.default_order)
        return products.values_list("pk", flat=True)

    def get_context_data(self, **kwargs: object) -> dict[str, object]:
        """Add the form, the facets and the wrapped page that Oscar's templates read."""
        context = super().get_context_data(**kwargs)
        query = self.request.GET
        page = context["page_obj"]
        page.object_list = [Result(product) for product in shelf(page.object_list)]
        context[self.context_object_name] = page.object_list
        context.update(
            form=self.form,
            search_form=self.form,
            filters=self.filters,
            kept_by_sorting=self._others("sort_by"),
            kept_by_filters=self._others(*self.filters.fields),
            comparable=True,
            query=query.get("q", ""),
            page=page,
            has_facets=True,
            facet_data=facet_data(self.unrefined, query, self.request.path),
            selected_facets=query.getlist(PARAMETER),
        )
        return context

    def _others(self, *names: str) -> list[tuple[str, str]]:
        """Return the URL's parameters that a form without these fields has to keep."""
        lists = self.request.GET.lists()
        left = [(name, values) for name, values in lists if name not in {*names, "page"}]
        return [(name, value) for name, values in left for value in values]


class FacetedSearchView(ProductListView):
    """Results of a search, best first."""

    template_name = "oscar/search/results.html"
    context_object_name = "results"

    def matching_products(self) -> QuerySet:
        """Return the browsable products that match the visitor's words."""
        text = self.request.GET.get("q", "")
        user_search.send(
            sender=self, session=self.request.session, user=self.request.user, query=text
        )
        return matching(super().matching_products(), text)


class CatalogueView(ProductListView):
    """All products."""

    template_name = "oscar/catalogue/browse.html"
    context_object_name = "products"

    def get_context_data(self, **kwargs: object) -> dict[str, object]:
        """Add the page's heading and the departments."""
        departments = Category.get_root_nodes()
        context = super().get_context_data(**kwargs)
        return {**context, "summary": "All products", "side_categories": departments}


class ProductCategoryView(ProductListView):
    """The products of a category and of those below it."""

    template_name = "oscar/catalogue/category.html"
    context_object_name = "products"

    def get(self, request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        """Show the category, at its own URL only."""
        self.category = get_object_or_404(Category, pk=self.kwargs["pk"])
        if not (self.category.is_public or request.user.is_staff):
            raise Http404
        expected = self.category.get_absolute_url()
        if unquote(expected) != unquote(request.path):
            return HttpResponsePermanentRedirect(expected)
        return super().get(request, *args, **kwargs)

    def matching_products(self) -> QuerySet:
        """Return the browsable products of the category's subtree."""
        categories = self.category.get_descendants_and_self().values("pk")
        through = Product.categories.through.objects.filter(category__in=categories)
        return super().matching_products().filter(pk__in=through.values("product"))

    def get_context_data(self, **kwargs: object) -> dict[str, object]:
        """Add the category, its department and the department's categories."""
        department = self.category.get_root()
        context = super().get_context_data(**kwargs)
        return {
            **context,
            "category": self.category,
            "department": department,
            "side_categories": department.get_children(),
        }
