"""Customer groups: who belongs together, and which vouchers are for them alone."""

from __future__ import annotations

from django.apps import AppConfig


class GroupsConfig(AppConfig):
    """Puts groups into Oscar's list of customers and into its vouchers."""

    name = "harbour.groups"
    label = "groups"

    def ready(self) -> None:
        """Filter the dashboard's customers by group; keep vouchers of a group to its members."""
        from harbour.groups.oscar import filter_customers, guard_vouchers

        filter_customers()
        guard_vouchers()
