"""Letters about orders: Oscar's e-mails and communication events, sent by the merchant."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.generic import View
from oscar.core.loading import get_class, get_model

from harbour.merchant import MerchantOnly

CommunicationEventType = get_model("communication", "CommunicationEventType")
Dispatcher = get_class("communication.utils", "Dispatcher")
Email = get_model("communication", "Email")
EventHandler = get_class("order.processing", "EventHandler")
Order = get_model("order", "Order")

KIND = "ORDER_MESSAGE"


def subject(order: Any) -> str:
    """Return the subject of every letter about an order."""
    return f"About your order {order.number}"


def letters(order: Any) -> QuerySet:
    """Return the letters that the merchant wrote about an order, the first one first."""
    sent = Email.objects.filter(user_id=order.user_id, subject=subject(order))
    return sent.order_by("date_sent", "id") if order.user_id else Email.objects.none()


class LetterForm(forms.Form):
    """What the customer reads."""

    letter = forms.CharField(
        label="Message to the customer", widget=forms.Textarea({"rows": 3}), max_length=4000
    )

    def clean_letter(self) -> str:
        """Return the text with the line ends of a file, which a browser sends otherwise."""
        return str(self.cleaned_data["letter"]).replace("\r\n", "\n")


class LetterView(MerchantOnly, View):
    """Sends a letter; the customer finds it on the order's page and in the e-mail history."""

    http_method_names = ("post",)

    def post(self, request: HttpRequest, number: str) -> HttpResponse:
        """Send it, and note the communication event of the order."""
        order = get_object_or_404(Order.objects.filter(user__isnull=False), number=number)
        form = LetterForm(request.POST)
        if form.is_valid():
            text = {"subject": subject(order), "body": form.cleaned_data["letter"]}
            Dispatcher().dispatch_user_messages(order.user, {**text, "html": "", "sms": ""})
            kind = CommunicationEventType.objects.get(code=KIND)
            EventHandler(request.user).create_communication_event(order, kind)
            messages.success(request, f"Message sent to {order.user.email}.")
        else:
            messages.error(request, "Write a message of at most 4,000 characters.")
        return redirect("dashboard:order-detail", number=number)
