"""URLs: the home page, the health probe, what this shop adds, and Oscar's own."""

from __future__ import annotations

from django.apps import apps
from django.urls import include, path

from harbour.compare import CompareView
from harbour.insights.views import wanted
from harbour.invoices import InvoiceView, MerchantInvoiceView
from harbour.letters import LetterView
from harbour.parcels import ParcelCreateView, ParcelRemoveView
from harbour.stock import StockLevelsView
from harbour.views import HomeView, health

ACCOUNT = "accounts/orders/<str:number>/"
DASHBOARD = "dashboard/orders/<str:number>/"
urlpatterns = [
    path("health/", health),
    path("", HomeView.as_view()),
    path("compare/", CompareView.as_view(), name="compare"),
    path("search/wanted/", wanted, name="search-wanted"),
    path(f"{ACCOUNT}invoice/", InvoiceView.as_view(), name="invoice"),
    path(f"{DASHBOARD}invoice/", MerchantInvoiceView.as_view(), name="merchant-invoice"),
    path(f"{DASHBOARD}messages/", LetterView.as_view(), name="letter"),
    path(f"{DASHBOARD}parcels/", ParcelCreateView.as_view(), name="parcel-create"),
    path(f"{DASHBOARD}parcels/<int:pk>/remove/", ParcelRemoveView.as_view(), name="parcel-remove"),
    path("dashboard/stock/", StockLevelsView.as_view(), name="stock-levels"),
    path("", include("harbour.returns.urls")),
    path("", include("harbour.service.urls")),
    path("", include("harbour.groups.urls")),
    path("api/", include("harbour.api.urls")),
    path("", include(apps.get_app_config("oscar").urls[0])),
]
