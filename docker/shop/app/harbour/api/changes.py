"""What a caller may change, read from the body of the request."""

from __future__ import annotations

import json
from typing import Any

from django import forms
from django.http import HttpRequest


class ProductForm(forms.Form):
    """The fields of a product that the API changes."""

    title = forms.CharField(max_length=255, required=False)
    price = forms.DecimalField(min_value=0, max_digits=12, decimal_places=2, required=False)
    num_in_stock = forms.IntegerField(min_value=0, required=False)
    is_public = forms.NullBooleanField(required=False)


def fields_of(request: HttpRequest) -> dict[str, Any]:
    """Return the JSON object in the body; anything else is as good as an empty one."""
    try:
        found = json.loads(request.body or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def change_product(product: Any, fields: dict[str, Any]) -> dict[str, Any]:
    """Set the given fields and store them; return what is wrong with them, by field."""
    form = ProductForm(fields)
    unknown = sorted(set(fields) - set(form.fields))
    if unknown or not fields:
        return dict.fromkeys(unknown, "cannot be changed here") or {"body": "no field given"}
    if not form.is_valid():
        return json.loads(form.errors.as_json())
    record = product.stockrecords.first()
    if record is None and {"price", "num_in_stock"} & set(fields):
        return {"price": "a parent has no price and no stock of its own"}
    for name in fields:
        owner = record if name in {"price", "num_in_stock"} else product
        setattr(owner, name, form.cleaned_data[name])
    if {"price", "num_in_stock"} & set(fields):
        record.save()
    if {"title", "is_public"} & set(fields):
        product.save()
    return {}
