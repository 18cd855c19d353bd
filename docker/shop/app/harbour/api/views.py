"""The JSON views: goods for everybody, orders for their owners, all for the merchant."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from django.contrib.auth import get_user_model
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from oscar.apps.order.exceptions import InvalidOrderStatus
from oscar.core.loading import get_model

from harbour.api import rows
from harbour.api.access import ApiView, pretty, refusal
from harbour.api.changes import change_product, fields_of
from harbour.groups.models import CustomerGroup
from harbour.insights.reports import BestSellers, SearchTerms
from harbour.returns.forms import ReturnUpdateForm
from harbour.returns.models import Return
from harbour.search.fulltext import matching

Category = get_model("catalogue", "Category")
Order = get_model("order", "Order")
Product = get_model("catalogue", "Product")
ProductReview = get_model("reviews", "ProductReview")
PAGE = 50


class ListApi(ApiView):
    """A list in pages of 50: `count`, `next`, `results`; `?page=2` is the second."""

    row: Callable[[Any], rows.Json]

    def rows(self) -> QuerySet:
        """Return all rows that the caller may see, in a fixed order."""
        raise NotImplementedError

    def get(self, request: HttpRequest, **_: Any) -> HttpResponse:
        """Answer one page."""
        page = Paginator(self.rows(), PAGE).get_page(request.GET.get("page"))
        following = request.GET.copy()
        if page.has_next():
            following["page"] = page.next_page_number()
        return pretty(
            {
                "count": page.paginator.count,
                "next": f"{request.path}?{following.urlencode()}" if page.has_next() else None,
                "results": [type(self).row(row) for row in page],
            }
        )


class Index(ApiView):
    """What there is."""

    def get(self, request: HttpRequest) -> HttpResponse:
        """Name the lists."""
        names = ("me", "categories", "products", "orders", "returns", "customers", "groups")
        reports = ("best-sellers", "search-terms")
        found = {name: f"/api/{name}/" for name in names}
        return pretty({**found, **{name: f"/api/reports/{name}/" for name in reports}})


class Me(ApiView):
    """Who is logged in."""

    needs = "customer"

    def get(self, request: HttpRequest) -> HttpResponse:
        """Answer the account."""
        role = "merchant" if self.user.is_staff else "customer"
        return pretty({**rows.customer(self.user), "role": role})


class Categories(ListApi):
    """All categories, departments before what is in them."""

    row = rows.category

    def rows(self) -> QuerySet:
        """Return them in the order of the tree."""
        return Category.objects.browsable().order_by("path")


class Products(ListApi):
    """Products; `?q=` searches, `?category=` takes a category's id."""

    row = rows.product

    def rows(self) -> QuerySet:
        """Return what matches, variants only under their parents."""
        found = Product.objects.browsable().order_by("pk")
        if text := self.request.GET.get("q"):
            found = matching(found, text)
        number = self.request.GET.get("category", "")
        if number.isdecimal():
            tree = get_object_or_404(Category, pk=number).get_descendants_and_self()
            through = Product.categories.through.objects.filter(category__in=tree)
            found = found.filter(pk__in=through.values("product"))
        return found.prefetch_related("stockrecords")


class ProductDetail(ApiView):
    """One product; PATCH changes title, price, num_in_stock or is_public, as the merchant."""

    def get(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Answer it in full."""
        product = get_object_or_404(Product, pk=pk)
        if not product.is_public and not self.user.is_staff:
            raise Http404
        return pretty(rows.product_in_full(product))

    def patch(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Change it."""
        product = get_object_or_404(Product, pk=pk)
        if wrong := change_product(product, fields_of(request)):
            return refusal(400, wrong)
        return pretty(rows.product_in_full(Product.objects.get(pk=pk)))


class Reviews(ListApi):
    """The approved reviews of a product."""

    row = rows.review

    def rows(self) -> QuerySet:
        """Return them as they were written."""
        product = get_object_or_404(Product, pk=self.kwargs["pk"])
        return ProductReview.objects.approved().filter(product=product).order_by("pk")


class Orders(ListApi):
    """The caller's orders, the merchant's are all; `?status=` keeps one status. Newest first."""

    needs = "customer"
    row = rows.order

    def rows(self) -> QuerySet:
        """Return the orders with their lines."""
        found = orders_of(self.user)
        if status := self.request.GET.get("status"):
            found = found.filter(status=status)
        return found.prefetch_related("lines").order_by("-pk")


class OrderDetail(ApiView):
    """One order; PATCH moves its status on in the pipeline, as the merchant."""

    needs = "customer"

    def get(self, request: HttpRequest, number: str) -> HttpResponse:
        """Answer it."""
        return pretty(rows.order(get_object_or_404(orders_of(self.user), number=number)))

    def patch(self, request: HttpRequest, number: str) -> HttpResponse:
        """Set the status."""
        order = get_object_or_404(Order, number=number)
        try:
            order.set_status(str(fields_of(request).get("status")))
        except InvalidOrderStatus as error:
            return refusal(400, {"status": str(error)})
        return pretty(rows.order(order))


class Returns(ListApi):
    """The caller's returns, the merchant's are all; newest first."""

    needs = "customer"
    row = rows.returned

    def rows(self) -> QuerySet:
        """Return the returns."""
        return returns_of(self.user).order_by("-pk")


class ReturnDetail(ApiView):
    """One return; PATCH sets status, refund_amount or note, as the merchant."""

    needs = "customer"

    def get(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Answer it."""
        return pretty(rows.returned(get_object_or_404(returns_of(self.user), pk=pk)))

    def patch(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Change it by the dashboard's form."""
        found = get_object_or_404(Return, pk=pk)
        kept = {name: getattr(found, name) for name in ReturnUpdateForm.Meta.fields}
        form = ReturnUpdateForm({**kept, **fields_of(request)}, instance=found)
        if not form.is_valid():
            return refusal(400, json.loads(form.errors.as_json()))
        return pretty(rows.returned(form.save()))


class Customers(ListApi):
    """All customers; `?group=` keeps the members of the group with this id."""

    needs = "merchant"
    row = rows.customer

    def rows(self) -> QuerySet:
        """Return the accounts that are not staff."""
        found = get_user_model().objects.filter(is_staff=False)
        number = self.request.GET.get("group", "")
        if number.isdecimal():
            found = found.filter(customer_groups=number)
        return found.prefetch_related("customer_groups").order_by("pk")


class Groups(ListApi):
    """All customer groups."""

    needs = "merchant"
    row = rows.group

    def rows(self) -> QuerySet:
        """Return them by name."""
        return CustomerGroup.objects.order_by("name")


class BestSellersApi(ListApi):
    """The report on best sellers, over all times."""

    needs = "merchant"
    row = dict

    def rows(self) -> QuerySet:
        """Return the report's rows."""
        return BestSellers(formatter="HTML").queryset


class SearchTermsApi(ListApi):
    """The report on search terms, over all times."""

    needs = "merchant"
    row = dict

    def rows(self) -> QuerySet:
        """Return the report's rows."""
        return SearchTerms(formatter="HTML").queryset


def orders_of(user: Any) -> QuerySet:
    """Return the orders that a user may see."""
    found = Order.objects.select_related("user")
    return found if user.is_staff else found.filter(user=user)


def returns_of(user: Any) -> QuerySet:
    """Return the returns that a user may see."""
    found = Return.objects.select_related("order", "line")
    return found if user.is_staff else found.filter(order__user=user)
