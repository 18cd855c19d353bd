"""Pages of customer service: the visitor's forms, and what the merchant sees of them."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.generic import CreateView, DetailView, ListView, View
from oscar.core.loading import get_model
from oscar.core.utils import redirect_to_referrer

from harbour.merchant import MerchantOnly
from harbour.service.forms import (
    EnquiryForm,
    EnquirySearchForm,
    SubscriptionForm,
    SubscriptionSearchForm,
)
from harbour.service.models import Enquiry, Subscription

Order = get_model("order", "Order")


class ContactView(CreateView):
    """How to reach the shop, and a form that does."""

    form_class = EnquiryForm
    template_name = "harbour/service/contact.html"

    def get_initial(self) -> dict[str, str]:
        """Begin with who is logged in."""
        user = self.request.user
        return {"name": user.get_full_name(), "email": user.email} if user.is_authenticated else {}

    def form_valid(self, form: EnquiryForm) -> HttpResponse:
        """Keep whose message it is."""
        if self.request.user.is_authenticated:
            form.instance.user = self.request.user
        return super().form_valid(form)

    def get_success_url(self) -> str:
        """Return to the page, with a word of thanks."""
        messages.success(
            self.request, "Thank you: your message is here, and we answer within two working days."
        )
        return reverse("contact")


class SubscribeView(View):
    """Puts an address on the newsletter's list."""

    def get(self, request: HttpRequest) -> HttpResponse:
        """Show whoever opens the form's address the form."""
        return redirect(f"{reverse('contact')}#newsletter_email")

    def post(self, request: HttpRequest) -> HttpResponse:
        """Subscribe it, and return to the page that the visitor comes from."""
        form = SubscriptionForm(request.POST)
        if form.is_valid():
            email = form.cleaned_data["newsletter_email"].lower()
            _, is_new = Subscription.objects.get_or_create(email=email)
            word = "now" if is_new else "already"
            messages.success(request, f"{email} is {word} subscribed to our newsletter.")
        else:
            messages.error(request, "Give a valid e-mail address for the newsletter.")
        return redirect_to_referrer(request, "contact")


class EnquiryListView(MerchantOnly, ListView):
    """All messages, newest first, found by words, order and state."""

    template_name = "harbour/service/enquiries.html"
    context_object_name = "enquiries"
    paginate_by = settings.OSCAR_DASHBOARD_ITEMS_PER_PAGE

    def get_queryset(self) -> QuerySet:
        """Return the messages that the form asks for."""
        self.form = EnquirySearchForm(self.request.GET)
        self.form.is_valid()
        asked = self.form.cleaned_data
        found = Enquiry.objects.all()
        if text := asked.get("text"):
            found = found.filter(
                Q(name__icontains=text) | Q(email__icontains=text) | Q(message__icontains=text)
            )
        if number := asked.get("order_number"):
            found = found.filter(order_number=number)
        if state := asked.get("state"):
            found = found.filter(is_answered=state == "answered")
        return found

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add the search form."""
        return {**super().get_context_data(**kwargs), "form": self.form}


class EnquiryView(MerchantOnly, DetailView):
    """One message, and whether it is answered."""

    model = Enquiry
    template_name = "harbour/service/enquiry.html"
    context_object_name = "enquiry"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add the order, where the number is that of one."""
        order = Order.objects.filter(number=self.object.order_number).first()
        return {**super().get_context_data(**kwargs), "order": order}

    def post(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Mark it as answered, or as open again."""
        enquiry = get_object_or_404(Enquiry, pk=pk)
        enquiry.is_answered = request.POST.get("is_answered") == "yes"
        enquiry.save(update_fields=["is_answered"])
        state = "answered" if enquiry.is_answered else "open"
        messages.success(request, f"Message #{pk} is {state}.")
        return redirect("enquiry", pk=pk)


class SubscriptionListView(MerchantOnly, ListView):
    """Who gets the newsletter, newest first."""

    template_name = "harbour/service/subscriptions.html"
    context_object_name = "subscriptions"
    paginate_by = settings.OSCAR_DASHBOARD_ITEMS_PER_PAGE

    def get_queryset(self) -> QuerySet:
        """Return the subscriptions that the form asks for."""
        self.form = SubscriptionSearchForm(self.request.GET)
        self.form.is_valid()
        return Subscription.objects.filter(email__icontains=self.form.cleaned_data.get("email", ""))

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add the search form."""
        return {**super().get_context_data(**kwargs), "form": self.form}


class SubscriptionRemoveView(MerchantOnly, View):
    """Takes an address off the list."""

    http_method_names = ("post",)

    def post(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Remove it."""
        subscription = get_object_or_404(Subscription, pk=pk)
        subscription.delete()
        messages.success(request, f"{subscription.email} is no longer subscribed.")
        return redirect("subscription-list")
