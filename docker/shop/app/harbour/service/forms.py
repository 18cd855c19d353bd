"""Forms of customer service: to write to the shop, and to find what was written."""

from __future__ import annotations

from django import forms

from harbour.service.models import Enquiry


class EnquiryForm(forms.ModelForm):
    """Writes to the shop."""

    class Meta:
        model = Enquiry
        fields = ("name", "email", "telephone", "order_number", "message")
        labels = {
            "name": "Your name",
            "email": "Your e-mail",
            "telephone": "Your telephone",
            "order_number": "Order number",
            "message": "Your message",
        }
        help_texts = {"order_number": "If it is about an order, for example 102958."}
        widgets = {"message": forms.Textarea({"rows": 6})}

    def clean_message(self) -> str:
        """Return the text with the line ends of a file, which a browser sends otherwise."""
        return str(self.cleaned_data["message"]).replace("\r\n", "\n")


class EnquirySearchForm(forms.Form):
    """Finds messages in the dashboard."""

    text = forms.CharField(required=False, label="Name, e-mail or words")
    order_number = forms.CharField(required=False, label="Order number")
    state = forms.ChoiceField(
        required=False,
        label="State",
        choices=[("", "Any state"), ("open", "Open"), ("answered", "Answered")],
    )


class SubscriptionForm(forms.Form):
    """Takes an address for the newsletter."""

    newsletter_email = forms.EmailField(label="Newsletter", max_length=254)


class SubscriptionSearchForm(forms.Form):
    """Finds subscriptions in the dashboard."""

    email = forms.CharField(required=False, label="E-mail")
