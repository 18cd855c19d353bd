"""Who may see the pages that this shop adds to Oscar's dashboard."""

from __future__ import annotations

from django.contrib.auth.mixins import UserPassesTestMixin
from django.urls import reverse_lazy

from harbour.menu import is_merchant


class MerchantOnly(UserPassesTestMixin):
    """Lets staff in; sends strangers to the dashboard's login and tells customers no."""

    login_url = reverse_lazy("dashboard:login")

    def test_func(self) -> bool:
        """Tell whether the visitor is the merchant."""
        return is_merchant(self.request.user)
