"""Fills the migrated database: `python3 -m shopseed`."""

from __future__ import annotations

import time

import django

django.setup()

from django.conf import settings  # noqa: E402  (models exist after setup)
from django.contrib.auth.models import User  # noqa: E402
from django.contrib.sites.models import Site  # noqa: E402
from django.db import connection, transaction  # noqa: E402

from shopseed import (  # noqa: E402
    catalogue,
    clock,
    customers,
    groups,
    letters,
    offers,
    orders,
    parcels,
    recommendations,
    redemptions,
    returns,
    reviews,
    searches,
    service,
    telephones,
)
from shopseed.vocabulary import load  # noqa: E402


def main() -> None:
    """Seed the shop, in one transaction, and tell how long each part took."""
    started = time.monotonic()
    clock.freeze()
    departments = load()
    with transaction.atomic():
        Site.objects.update_or_create(
            id=1, defaults={"domain": "shop.arena.test", "name": settings.OSCAR_SHOP_NAME}
        )
        customers.write_countries()
        homes = customers.write_accounts()
        items = catalogue.write_products(departments, User.objects.get(id=1))
        orders.write_orders(items, homes)
        offers.write_offers()
        offers.write_wishlists(items)
        groups.write_groups()
        redemptions.write_redemptions(departments, items)
        recommendations.write_recommendations(departments, items)
        returns.write_returns()
        reviews.write_reviews(items)
        telephones.write_telephones()
        parcels.write_parcels()
        letters.write_letters()
        service.write_enquiries()
        service.write_subscriptions()
    catalogue.index_text()
    searches.write_searches()
    with connection.cursor() as cursor:
        cursor.execute("UPDATE django_migrations SET applied = %s", [clock.NOW])
    print(f"seeded {len(items)} products in {time.monotonic() - started:.1f} s")


main()
