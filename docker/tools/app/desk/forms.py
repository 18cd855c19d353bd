"""What members may send."""

from __future__ import annotations

from django import forms
from django.forms import Textarea

from desk.models import BODY_LENGTH, LABEL_LENGTH, TITLE_LENGTH


class NoteForm(forms.Form):
    """A note to be, or its new text."""

    title = forms.CharField(
        max_length=TITLE_LENGTH, error_messages={"required": "A note needs a title."}
    )
    label = forms.CharField(max_length=LABEL_LENGTH, required=False)
    body = forms.CharField(max_length=BODY_LENGTH, required=False, widget=Textarea)
    pinned = forms.BooleanField(required=False)

    def clean_label(self) -> str:
        """Keep labels in lower case, so that one has one spelling."""
        return " ".join(self.cleaned_data["label"].lower().split())

    def clean_body(self) -> str:
        """Keep lines as they are written here, not as forms send them."""
        return self.cleaned_data["body"].replace("\r\n", "\n")
