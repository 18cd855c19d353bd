"""Forms of a return: to ask for one, to find some, and to decide about one."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django import forms

from harbour.returns.models import Reason, Return, Status, returnable


class _LineChoice(forms.ModelChoiceField):
    def label_from_instance(self, line: Any) -> str:
        """Name a line by its product."""
        return f"{line.title} ({line.quantity} ordered)"


class ReturnForm(forms.ModelForm):
    """Asks for the return of one line of an order."""

    line = _LineChoice(queryset=None, label="Item", empty_label="Choose an item")

    class Meta:
        model = Return
        fields = ("line", "quantity", "reason", "comment")
        widgets = {"comment": forms.Textarea({"rows": 3})}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["line"].queryset = self.instance.order.lines.order_by("id")
        self.fields["quantity"].min_value = 1

    def clean_quantity(self) -> int:
        """Take back no more than was sent and has not come back yet."""
        quantity, line = self.cleaned_data["quantity"], self.cleaned_data.get("line")
        if quantity < 1:
            msg = "Return at least one piece."
            raise forms.ValidationError(msg)
        if line is not None and quantity > returnable(line):
            msg = f"Only {returnable(line)} of these can be returned."
            raise forms.ValidationError(msg)
        return quantity


class ReturnSearchForm(forms.Form):
    """Finds returns in the dashboard."""

    order_number = forms.CharField(required=False, label="Order number")
    status = forms.ChoiceField(
        required=False, label="Status", choices=[("", "Any status"), *Status.choices]
    )
    reason = forms.ChoiceField(
        required=False, label="Reason", choices=[("", "Any reason"), *Reason.choices]
    )


class ReturnUpdateForm(forms.ModelForm):
    """Moves a return on in its pipeline, with what is refunded and what the customer reads."""

    class Meta:
        model = Return
        fields = ("status", "refund_amount", "note")
        labels = {
            "status": "Return status",
            "refund_amount": "Refund amount (£)",
            "note": "Note to the customer",
        }
        widgets = {"note": forms.Textarea({"rows": 3})}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        now = Status(self.instance.status)
        self.fields["status"].choices = [
            (one, one.label) for one in (now, *self.instance.next_statuses)
        ]

    def clean_refund_amount(self) -> Decimal | None:
        """Refund no more than was paid."""
        amount = self.cleaned_data["refund_amount"]
        if amount is not None and not 0 <= amount <= self.instance.most_refund:
            msg = f"At most £{self.instance.most_refund:.2f} was paid."
            raise forms.ValidationError(msg)
        return amount

    def clean(self) -> dict[str, Any]:
        """Ask for the amount once the money goes back."""
        data = super().clean()
        if data.get("status") == Status.REFUNDED and not data.get("refund_amount"):
            self.add_error("refund_amount", "Say how much is refunded.")
        return data
