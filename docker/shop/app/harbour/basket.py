"""The basket of a request, saved only when something is put into it."""

from __future__ import annotations

from django.http import HttpRequest
from oscar.apps.basket.middleware import BasketMiddleware
from oscar.core.loading import get_model

Basket = get_model("basket", "Basket")


class LazyBasketMiddleware(BasketMiddleware):
    """Oscar saves an empty basket at a customer's first page; here it waits for the first thing."""

    def get_basket(self, request: HttpRequest) -> object:
        """Return the open basket of the request, unsaved where the customer has none yet."""
        user = getattr(request, "user", None)
        is_new = (
            request._basket_cache is None  # noqa: SLF001  where Oscar keeps it
            and user is not None
            and user.is_authenticated
            and self.get_cookie_key(request) not in request.COOKIES
            and not Basket.open.filter(owner=user).exists()
        )
        if is_new:
            request._basket_cache = Basket(owner=user)  # noqa: SLF001  the same
        return super().get_basket(request)
