"""What groups change in Oscar: the customers' search form and who may use a voucher."""

from __future__ import annotations

from typing import Any

from django import forms
from django.db.models import QuerySet
from oscar.core.loading import get_class, get_model

from harbour.groups.models import CustomerGroup


def filter_customers() -> None:
    """Let the dashboard's list of customers be filtered by group."""
    form = get_class("dashboard.users.forms", "UserSearchForm")
    view = get_class("dashboard.users.views", "IndexView")
    form.base_fields["group"] = forms.ModelChoiceField(
        CustomerGroup.objects.all(), required=False, label="Group", empty_label="Any group"
    )
    plain = view.apply_search_filters

    def apply_search_filters(self: Any, customers: QuerySet, data: dict[str, Any]) -> QuerySet:
        customers = plain(self, customers, data)
        if group := data.get("group"):
            customers = customers.filter(customer_groups=group)
            self.desc_ctx["name_filter"] += f" in group '{group}'"
        return customers

    view.apply_search_filters = apply_search_filters


def guard_vouchers() -> None:
    """Refuse a voucher of a group to whoever is not a member."""
    voucher = get_model("voucher", "Voucher")
    plain = voucher.is_available_to_user

    def is_available_to_user(self: Any, user: Any = None) -> tuple[bool, str]:
        groups = self.customer_groups.all()
        if groups and not (user and groups.filter(members__pk=user.pk).exists()):
            names = " and ".join(group.name for group in groups)
            return False, f"This voucher is for members of {names} only"
        return plain(self, user=user)

    voucher.is_available_to_user = is_available_to_user
