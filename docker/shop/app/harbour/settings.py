"""Settings of the shop: django-oscar on MariaDB, sessions in cookies, nothing from outside."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from oscar.defaults import *  # noqa: F403  (Oscar reads its defaults from the settings module)
from oscar.defaults import OSCAR_DASHBOARD_NAVIGATION as OSCARS_MENU

from harbour.menu import is_merchant

ROOT = Path("/srv/shop")
BASE = Path(__file__).resolve().parent

# A replica has no secrets: fixed keys make every container accept the sessions of every other.
SECRET_KEY = "arena-shop-replica-key-which-protects-nothing-0123456789"
DEBUG = False
ALLOWED_HOSTS = ["*"]
USE_X_FORWARDED_HOST = False
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = None
SITE_ID = 1
APPEND_SLASH = True

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.sites",
    "django.contrib.flatpages",
    "oscar.config.Shop",
    "oscar.apps.analytics.apps.AnalyticsConfig",
    "oscar.apps.checkout.apps.CheckoutConfig",
    "oscar.apps.address.apps.AddressConfig",
    "oscar.apps.shipping.apps.ShippingConfig",
    "oscar.apps.catalogue.apps.CatalogueConfig",
    "oscar.apps.catalogue.reviews.apps.CatalogueReviewsConfig",
    "oscar.apps.communication.apps.CommunicationConfig",
    "oscar.apps.partner.apps.PartnerConfig",
    "oscar.apps.basket.apps.BasketConfig",
    "oscar.apps.payment.apps.PaymentConfig",
    "oscar.apps.offer.apps.OfferConfig",
    "oscar.apps.order.apps.OrderConfig",
    "oscar.apps.customer.apps.CustomerConfig",
    "harbour.search.apps.SearchConfig",
    "oscar.apps.voucher.apps.VoucherConfig",
    "oscar.apps.wishlists.apps.WishlistsConfig",
    "oscar.apps.dashboard.apps.DashboardConfig",
    "oscar.apps.dashboard.reports.apps.ReportsDashboardConfig",
    "oscar.apps.dashboard.users.apps.UsersDashboardConfig",
    "oscar.apps.dashboard.orders.apps.OrdersDashboardConfig",
    "oscar.apps.dashboard.catalogue.apps.CatalogueDashboardConfig",
    "oscar.apps.dashboard.offers.apps.OffersDashboardConfig",
    "oscar.apps.dashboard.partners.apps.PartnersDashboardConfig",
    "oscar.apps.dashboard.pages.apps.PagesDashboardConfig",
    "oscar.apps.dashboard.ranges.apps.RangesDashboardConfig",
    "oscar.apps.dashboard.reviews.apps.ReviewsDashboardConfig",
    "oscar.apps.dashboard.vouchers.apps.VouchersDashboardConfig",
    "oscar.apps.dashboard.communications.apps.CommunicationsDashboardConfig",
    "oscar.apps.dashboard.shipping.apps.ShippingDashboardConfig",
    "widget_tweaks",
    "haystack",
    "treebeard",
    "django_tables2",
    "harbour.apps.HarbourConfig",
    "harbour.returns.apps.ReturnsConfig",
    "harbour.groups.apps.GroupsConfig",
    "harbour.insights.apps.InsightsConfig",
    "harbour.service.apps.ServiceConfig",
]

MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.contrib.flatpages.middleware.FlatpageFallbackMiddleware",
    "harbour.basket.LazyBasketMiddleware",
]

ROOT_URLCONF = "harbour.urls"
WSGI_APPLICATION = "harbour.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "oscar.apps.search.context_processors.search_form",
                "oscar.apps.checkout.context_processors.checkout",
                "oscar.apps.communication.notifications.context_processors.notifications",
                "oscar.core.context_processors.metadata",
            ],
        },
    }
]

DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.mysql",
        "NAME": "shop",
        "USER": "arena",
        "OPTIONS": {
            "unix_socket": "/run/shop/mariadb.sock",
            "charset": "utf8mb4",
            # Oscar's own SQL for offers and ranges quotes names as the standard does.
            "init_command": "SET sql_mode='STRICT_TRANS_TABLES,ANSI_QUOTES'",
        },
        "ATOMIC_REQUESTS": True,
        "CONN_MAX_AGE": None,
    }
}
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"

AUTHENTICATION_BACKENDS = [
    "oscar.apps.customer.auth_backends.EmailBackend",
    "django.contrib.auth.backends.ModelBackend",
]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
SESSION_ENGINE = "django.contrib.sessions.backends.signed_cookies"
SESSION_COOKIE_AGE = 10 * 365 * 24 * 3600
EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}

LANGUAGE_CODE = "en-gb"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False

STATIC_URL = "/static/"
STATIC_ROOT = ROOT / "static"
MEDIA_URL = "/media/"
MEDIA_ROOT = ROOT / "state/media"
STATICFILES_DIRS = [BASE / "static"]

HAYSTACK_CONNECTIONS = {"default": {"ENGINE": "haystack.backends.simple_backend.SimpleEngine"}}
HAYSTACK_SIGNAL_PROCESSOR = "haystack.signals.BaseSignalProcessor"

OSCAR_SHOP_NAME = "Harbour & Pine"
OSCAR_SHOP_TAGLINE = "Good things for home and away"
OSCAR_DEFAULT_CURRENCY = "GBP"
OSCAR_FROM_EMAIL = "hello@harbourandpine.example"
OSCAR_THUMBNAILER = "harbour.thumbnails.OriginalImage"
OSCAR_MISSING_IMAGE_URL = "image_not_found.jpg"
OSCAR_DELETE_IMAGE_FILES = False  # a product and its first variant share one
OSCAR_EAGER_ALERTS = False
OSCAR_INITIAL_ORDER_STATUS = "Pending"
OSCAR_INITIAL_LINE_STATUS = "Pending"
OSCAR_ORDER_STATUS_PIPELINE = {
    "Pending": ("Being processed", "On hold", "Cancelled"),
    "On hold": ("Being processed", "Cancelled"),
    "Being processed": ("Shipped", "Cancelled"),
    "Shipped": ("Complete", "Returned"),
    "Complete": ("Returned",),
    "Returned": (),
    "Cancelled": (),
}
OSCAR_LINE_STATUS_PIPELINE = OSCAR_ORDER_STATUS_PIPELINE
OSCAR_ORDER_STATUS_CASCADE = {status: status for status in OSCAR_ORDER_STATUS_PIPELINE}
OSCAR_GOOGLE_ANALYTICS_ID = None
PHONENUMBER_DEFAULT_FORMAT = "INTERNATIONAL"


def _with_ours(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return Oscar's menu with this shop's entries behind those that they belong to."""
    ours = {
        "dashboard:stock-alert-list": [("Stock levels", "stock-levels")],
        "dashboard:order-list": [("Returns", "return-list")],
        "dashboard:users-index": [
            ("Customer groups", "group-list"),
            ("Messages", "enquiry-list"),
            ("Newsletter", "subscription-list"),
        ],
    }
    menu = []
    for entry in entries:
        menu.append({**entry, "children": _with_ours(entry.get("children", []))})
        for label, url_name in ours.get(entry.get("url_name", ""), []):
            menu.append({"label": label, "url_name": url_name, "access_fn": is_merchant})
    return menu


OSCAR_DASHBOARD_NAVIGATION = _with_ours(OSCARS_MENU)

LOGIN_REDIRECT_URL = "/"
WARM_PAGES = ("/", "/catalogue/", "/search/?q=kettle", "/accounts/login/")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "handlers": {"stderr": {"class": "logging.StreamHandler"}},
    "root": {"handlers": ["stderr"], "level": "WARNING"},
}
