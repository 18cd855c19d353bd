"""URLs of customer service."""

from __future__ import annotations

from django.urls import path

from harbour.service import views

urlpatterns = [
    path("contact/", views.ContactView.as_view(), name="contact"),
    path("newsletter/", views.SubscribeView.as_view(), name="newsletter"),
    path("dashboard/messages/", views.EnquiryListView.as_view(), name="enquiry-list"),
    path("dashboard/messages/<int:pk>/", views.EnquiryView.as_view(), name="enquiry"),
    path("dashboard/newsletter/", views.SubscriptionListView.as_view(), name="subscription-list"),
    path(
        "dashboard/newsletter/<int:pk>/remove/",
        views.SubscriptionRemoveView.as_view(),
        name="subscription-remove",
    ),
]
