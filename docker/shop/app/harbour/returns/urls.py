"""URLs of returns, beside those of the orders that they belong to."""

from __future__ import annotations

from django.urls import path

from harbour.returns import views

urlpatterns = [
    path(
        "accounts/orders/<str:order_number>/return/",
        views.ReturnRequestView.as_view(),
        name="return-request",
    ),
    path("dashboard/returns/", views.ReturnListView.as_view(), name="return-list"),
    path("dashboard/returns/<int:pk>/", views.ReturnUpdateView.as_view(), name="return-update"),
    path(
        "dashboard/orders/<str:order_number>/returns/new/",
        views.ReturnRegisterView.as_view(),
        name="return-register",
    ),
]
