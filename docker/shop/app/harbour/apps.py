"""The shop's own application: takes out of Oscar and Django what would write while pages are read."""

from __future__ import annotations

from django.apps import AppConfig


class HarbourConfig(AppConfig):
    """Disconnects the receivers that write on views, searches and logins."""

    name = "harbour"
    label = "harbour"

    def ready(self) -> None:
        """Make viewing, searching and logging in free of writes."""
        from django.contrib.auth.signals import user_logged_in
        from oscar.apps.analytics import receivers
        from oscar.apps.catalogue.signals import product_viewed
        from oscar.apps.search.signals import user_search

        product_viewed.disconnect(receivers.receive_product_view)
        user_search.disconnect(receivers.receive_product_search)
        user_logged_in.disconnect(dispatch_uid="update_last_login")
