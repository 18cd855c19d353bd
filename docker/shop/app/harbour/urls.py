"""URLs: the home page, the health probe, what this shop adds, and Oscar's own."""

from __future__ import annotations

from django.apps import apps
from django.urls import include, path

from harbour.compare import CompareView
from harbour.insights.views import wanted
from harbour.views import HomeView, health

urlpatterns = [
    path("health/", health),
    path("", HomeView.as_view()),
    path("compare/", CompareView.as_view(), name="compare"),
    path("search/wanted/", wanted, name="search-wanted"),
    path("", include("harbour.returns.urls")),
    path("", include("harbour.groups.urls")),
    path("api/", include("harbour.api.urls")),
    path("", include(apps.get_app_config("oscar").urls[0])),
]
