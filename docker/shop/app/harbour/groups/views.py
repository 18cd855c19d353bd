"""The dashboard's pages of customer groups."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth import get_user_model
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.generic import CreateView, ListView, UpdateView, View

from harbour.groups.forms import GroupForm, MemberForm, MembershipForm
from harbour.groups.models import CustomerGroup
from harbour.merchant import MerchantOnly

User = get_user_model()


class GroupListView(MerchantOnly, ListView):
    """All groups with the number of their members."""

    template_name = "harbour/groups/list.html"
    context_object_name = "groups"

    def get_queryset(self) -> QuerySet:
        """Return the groups by name."""
        groups = CustomerGroup.objects.prefetch_related("vouchers")
        return groups.annotate(size=Count("members")).order_by("name")


class _GroupForm(MerchantOnly):
    model = CustomerGroup
    form_class = GroupForm
    template_name = "harbour/groups/group.html"
    context_object_name = "group"

    def get_success_url(self) -> str:
        """Return to the group."""
        messages.success(self.request, f"Group '{self.object}' saved.")
        return reverse("group-update", kwargs={"pk": self.object.pk})


class GroupCreateView(_GroupForm, CreateView):
    """A new group."""


class GroupUpdateView(_GroupForm, UpdateView):
    """One group: its name, its vouchers, its members."""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add the members and the form that adds one."""
        members = self.object.members.order_by("last_name", "first_name", "id")
        kwargs.setdefault("member_form", MemberForm())
        return {**super().get_context_data(**kwargs), "members": members}


class MemberView(MerchantOnly, View):
    """Puts a customer into a group."""

    http_method_names = ("post",)

    def post(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Add the customer whose address is given."""
        group = get_object_or_404(CustomerGroup, pk=pk)
        form = MemberForm(request.POST)
        if form.is_valid():
            group.members.add(form.cleaned_data["email"])
            messages.success(request, f"{form.cleaned_data['email'].email} is in '{group}'.")
        else:
            messages.error(request, " ".join(form.errors["email"]))
        return redirect("group-update", pk=pk)


class MemberRemoveView(MerchantOnly, View):
    """Takes a customer out of a group."""

    http_method_names = ("post",)

    def post(self, request: HttpRequest, pk: int, user_pk: int) -> HttpResponse:
        """Remove the customer."""
        group = get_object_or_404(CustomerGroup, pk=pk)
        user = get_object_or_404(User, pk=user_pk)
        group.members.remove(user)
        messages.success(request, f"{user.email} is no longer in '{group}'.")
        return redirect("group-update", pk=pk)


class GroupDeleteView(MerchantOnly, View):
    """Deletes a group; its members and vouchers stay."""

    http_method_names = ("post",)

    def post(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Delete it."""
        group = get_object_or_404(CustomerGroup, pk=pk)
        group.delete()
        messages.success(request, f"Group '{group}' deleted.")
        return redirect("group-list")


class MembershipView(MerchantOnly, View):
    """Sets the groups of one customer, from the customer's page in the dashboard."""

    http_method_names = ("post",)

    def post(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Put the customer into the ticked groups and no others."""
        user = get_object_or_404(User, pk=pk)
        form = MembershipForm(request.POST)
        if form.is_valid():
            user.customer_groups.set(form.cleaned_data["groups"])
            messages.success(request, f"Groups of {user.email} saved.")
        return redirect("dashboard:user-detail", pk=pk)
