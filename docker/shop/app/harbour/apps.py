"""The shop's own application: what it takes out of Oscar and Django, and what it puts in."""

from __future__ import annotations

from django.apps import AppConfig


class HarbourConfig(AppConfig):
    """Changes what Oscar and Django do by default, where a setting cannot."""

    name = "harbour"
    label = "harbour"

    def ready(self) -> None:
        """Make reading free of writes, name fields, set the delivery, list telephones."""
        from django.contrib.auth.signals import user_logged_in
        from oscar.apps.analytics import receivers
        from oscar.apps.basket.formsets import BasketLineFormSet
        from oscar.apps.catalogue.signals import product_viewed
        from oscar.apps.customer.wishlists.views import WishListAddProduct
        from oscar.apps.dashboard.catalogue.formsets import StockRecordFormSet
        from oscar.apps.search.signals import user_search
        from oscar.apps.shipping.repository import Repository

        from harbour.customers import extend_customers
        from harbour.shipping import Express, Standard

        # Both are tables that name their columns and leave their fields without a name.
        for formset in (BasketLineFormSet, StockRecordFormSet):
            for field in formset.form.base_fields.values():
                field.widget.attrs["aria-label"] = str(field.label)
        WishListAddProduct.http_method_names = ["post"]
        Repository.methods = (Standard(), Express())
        product_viewed.disconnect(receivers.receive_product_view)
        user_search.disconnect(receivers.receive_product_search)
        user_logged_in.disconnect(dispatch_uid="update_last_login")
        extend_customers()
