"""URLs: the home page, the health probe, and Oscar's own."""

from __future__ import annotations

from django.apps import apps
from django.urls import include, path

from harbour.views import HomeView, health

urlpatterns = [
    path("health/", health),
    path("", HomeView.as_view()),
    path("", include(apps.get_app_config("oscar").urls[0])),
]
