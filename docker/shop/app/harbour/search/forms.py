"""The search box and the sort-by choice, without an index server behind them."""

from __future__ import annotations

from typing import ClassVar

from django import forms
from django.forms.widgets import Input


class SearchInput(Input):
    """A search field of HTML 5."""

    input_type = "search"


class SearchForm(forms.Form):
    """What a visitor searches for, and in which order the products come."""

    q = forms.CharField(
        required=False,
        label="Search",
        widget=SearchInput({"placeholder": "Search", "tabindex": "1", "class": "form-control"}),
    )
    RELEVANCY, TOP_RATED, NEWEST, BEST_SELLING = "relevancy", "rating", "newest", "best-selling"
    PRICE_DOWN, PRICE_UP, A_TO_Z, Z_TO_A = "price-desc", "price-asc", "title-asc", "title-desc"
    sort_by = forms.ChoiceField(
        label="Sort by",
        required=False,
        choices=[
            (RELEVANCY, "Relevancy"),
            (TOP_RATED, "Customer rating"),
            (BEST_SELLING, "Best selling"),
            (NEWEST, "Newest"),
            (PRICE_DOWN, "Price high to low"),
            (PRICE_UP, "Price low to high"),
            (A_TO_Z, "Title A to Z"),
            (Z_TO_A, "Title Z to A"),
        ],
    )
    ORDER: ClassVar[dict[str, tuple[str, ...]]] = {
        TOP_RATED: ("-rating", "id"),
        BEST_SELLING: ("-sold", "id"),
        NEWEST: ("-date_created", "id"),
        PRICE_DOWN: ("-price", "id"),
        PRICE_UP: ("price", "id"),
        A_TO_Z: ("title", "id"),
        Z_TO_A: ("-title", "id"),
    }


class BrowseCategoryForm(SearchForm):
    """Oscar's name for the form of the catalogue page."""


class CategoryForm(SearchForm):
    """Oscar's name for the form of a category page."""
