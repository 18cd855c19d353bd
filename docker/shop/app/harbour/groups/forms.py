"""Forms of customer groups."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth import get_user_model

from harbour.groups.models import CustomerGroup


class GroupForm(forms.ModelForm):
    """A group's name, what it is for, and the vouchers that are for it alone."""

    class Meta:
        model = CustomerGroup
        fields = ("name", "description", "vouchers")
        labels = {"vouchers": "Vouchers for this group only"}
        widgets = {"vouchers": forms.CheckboxSelectMultiple}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choice = self.fields["vouchers"]
        choice.queryset = choice.queryset.order_by("name")
        choice.label_from_instance = lambda voucher: f"{voucher.name} ({voucher.code})"


class MemberForm(forms.Form):
    """Names a customer by the e-mail address."""

    email = forms.EmailField(label="Customer's email")

    def clean_email(self) -> Any:
        """Return the customer."""
        found = get_user_model().objects.filter(email__iexact=self.cleaned_data["email"]).first()
        if found is None:
            msg = "No customer has this address."
            raise forms.ValidationError(msg)
        return found


class MembershipForm(forms.Form):
    """The groups of one customer."""

    groups = forms.ModelMultipleChoiceField(
        CustomerGroup.objects.all(),
        required=False,
        label="Customer groups",
        widget=forms.CheckboxSelectMultiple,
    )
