"""Pages of returns: the customer's request, and the merchant's list, page and registration."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.mixins import LoginRequiredMixin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse, reverse_lazy
from django.views.generic import CreateView, ListView, UpdateView
from oscar.core.loading import get_model

from harbour.merchant import MerchantOnly
from harbour.returns.forms import ReturnForm, ReturnSearchForm, ReturnUpdateForm
from harbour.returns.models import RETURNABLE, Return

Order = get_model("order", "Order")


class _NewReturn(CreateView):
    """A form that asks for the return of one line of the order in the URL."""

    form_class = ReturnForm

    def orders(self) -> QuerySet:
        """Return the orders of which the visitor may return something."""
        raise NotImplementedError

    def order_url(self) -> str:
        """Return the page of the order."""
        raise NotImplementedError

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Look the order up; send the visitor back where nothing of it can be returned."""
        self.order = get_object_or_404(self.orders(), number=kwargs["order_number"])
        if self.order.status not in RETURNABLE:
            messages.error(request, "Nothing of this order can be returned yet.")
            return redirect(self.order_url())
        return super().dispatch(request, *args, **kwargs)

    def get_form_kwargs(self) -> dict[str, Any]:
        """Tell the form which order it is about."""
        return {**super().get_form_kwargs(), "instance": Return(order=self.order)}

    def form_valid(self, form: ReturnForm) -> HttpResponse:
        """Store the return and show the order."""
        form.save()
        messages.success(self.request, f"Return of {form.instance.line.title} requested.")
        return HttpResponseRedirect(self.order_url())

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add the order and what the account's pages read."""
        context = super().get_context_data(**kwargs)
        title = f"Return items of order {self.order.number}"
        return {**context, "order": self.order, "page_title": title, "active_tab": "orders"}


class ReturnRequestView(LoginRequiredMixin, _NewReturn):
    """The customer asks for a return."""

    template_name = "harbour/returns/request.html"
    login_url = reverse_lazy("customer:login")

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Ask strangers to log in before the order is looked up."""
        if not request.user.is_authenticated:
            return self.handle_no_permission()
        return super().dispatch(request, *args, **kwargs)

    def orders(self) -> QuerySet:
        """Return the customer's own orders."""
        return Order.objects.filter(user=self.request.user)

    def order_url(self) -> str:
        """Return the order in the customer's history."""
        return reverse("customer:order", kwargs={"order_number": self.order.number})


class ReturnRegisterView(MerchantOnly, _NewReturn):
    """The merchant registers a return that came in without a request."""

    template_name = "harbour/returns/register.html"

    def orders(self) -> QuerySet:
        """Return all orders."""
        return Order.objects.all()

    def order_url(self) -> str:
        """Return the order in the dashboard."""
        return reverse("dashboard:order-detail", kwargs={"number": self.order.number})


class ReturnListView(MerchantOnly, ListView):
    """All returns, newest first, found by order, status and reason."""

    template_name = "harbour/returns/list.html"
    context_object_name = "returns"
    paginate_by = settings.OSCAR_DASHBOARD_ITEMS_PER_PAGE

    def get_queryset(self) -> QuerySet:
        """Return the returns that the form asks for."""
        self.form = ReturnSearchForm(self.request.GET)
        self.form.is_valid()
        found = Return.objects.select_related("order__user", "line")
        wanted = {"order_number": "order__number", "status": "status", "reason": "reason"}
        for name, column in wanted.items():
            if value := self.form.cleaned_data.get(name):
                found = found.filter(**{column: value})
        return found

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add the search form."""
        return {**super().get_context_data(**kwargs), "form": self.form}


class ReturnUpdateView(MerchantOnly, UpdateView):
    """The merchant decides about one return."""

    model = Return
    form_class = ReturnUpdateForm
    template_name = "harbour/returns/update.html"
    context_object_name = "one"

    def get_success_url(self) -> str:
        """Return to the same page, which shows the new status."""
        messages.success(self.request, f"Return #{self.object.pk} saved: {self.object.status}.")
        return reverse("return-update", kwargs={"pk": self.object.pk})
