"""What the shop adds to Oscar's list of customers: telephones and cancelled orders."""

from __future__ import annotations

import re
from typing import Any

from django import forms
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django_tables2 import Column
from oscar.core.loading import get_class, get_model

UserAddress = get_model("address", "UserAddress")


def telephone(customer: Any) -> str:
    """Return the number in a customer's address book, or nothing."""
    known = customer.addresses.exclude(phone_number="").order_by("-is_default_for_shipping", "id")
    address = known.first()
    return str(address.phone_number) if address else ""


def _having(customers: QuerySet, number: str) -> QuerySet:
    """Return the customers whose number holds these digits, however it is spaced or begins."""
    digits = re.sub(r"\D", "", number).lstrip("0")
    if not digits:
        return customers.none()
    found = UserAddress.objects.filter(phone_number__contains=digits)
    return customers.filter(pk__in=found.values("user_id"))


def extend_customers() -> None:
    """Put telephones and cancelled orders into the list; let it be searched by number."""
    form = get_class("dashboard.users.forms", "UserSearchForm")
    table = get_class("dashboard.users.tables", "UserTable")
    view = get_class("dashboard.users.views", "IndexView")

    form.base_fields["telephone"] = forms.CharField(required=False, label="Telephone")
    columns = table.base_columns
    actions = columns.pop("actions")
    columns["num_cancelled"] = Column(accessor="num_cancelled", verbose_name="Cancelled orders")
    columns["telephone"] = Column(
        accessor="telephone", verbose_name="Telephone", orderable=False, default="-"
    )
    columns["actions"] = actions
    plain_queryset, plain_filters = view.get_queryset, view.apply_search_filters

    def get_queryset(self: Any) -> QuerySet:
        numbers = UserAddress.objects.filter(user=OuterRef("pk")).exclude(phone_number="")
        numbers = numbers.order_by("-is_default_for_shipping", "id").values("phone_number")
        return plain_queryset(self).annotate(
            telephone=Subquery(numbers[:1]),
            num_cancelled=Count("orders", filter=Q(orders__status="Cancelled"), distinct=True),
        )

    def apply_search_filters(self: Any, customers: QuerySet, data: dict[str, Any]) -> QuerySet:
        customers = plain_filters(self, customers, data)
        if number := data.get("telephone"):
            customers = _having(customers, number)
            self.desc_ctx["name_filter"] += f" with telephone matching '{number}'"
        return customers

    view.get_queryset = get_queryset
    view.apply_search_filters = apply_search_filters
