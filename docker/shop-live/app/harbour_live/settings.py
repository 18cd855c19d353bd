"""Settings of the staged live origin: the replica's, with other markup and two renamed routes."""

from __future__ import annotations

from pathlib import Path

from harbour.settings import *  # noqa: F403  (the replica's settings are the ground this stands on)
from harbour.settings import INSTALLED_APPS as REPLICA_APPS
from harbour.settings import STATICFILES_DIRS as REPLICA_STATIC
from harbour.settings import TEMPLATES as REPLICA_TEMPLATES

HERE = Path(__file__).resolve().parent
RENAMED = {
    "oscar.config.Shop": "harbour_live.apps.LiveShop",
    "oscar.apps.catalogue.apps.CatalogueConfig": "harbour_live.apps.LiveCatalogue",
}

INSTALLED_APPS = [RENAMED.get(app, app) for app in REPLICA_APPS]
TEMPLATES = [{**REPLICA_TEMPLATES[0], "DIRS": [HERE / "templates", *REPLICA_TEMPLATES[0]["DIRS"]]}]
STATICFILES_DIRS = [HERE / "static", *REPLICA_STATIC]
OSCAR_SHOP_TAGLINE = "Well made, well kept"
OSCAR_PRODUCTS_PER_PAGE = 24
