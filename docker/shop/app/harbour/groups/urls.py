"""URLs of customer groups in the dashboard."""

from __future__ import annotations

from django.urls import path

from harbour.groups import views

ROOT = "dashboard/customer-groups/"
urlpatterns = [
    path(ROOT, views.GroupListView.as_view(), name="group-list"),
    path(f"{ROOT}new/", views.GroupCreateView.as_view(), name="group-create"),
    path(f"{ROOT}<int:pk>/", views.GroupUpdateView.as_view(), name="group-update"),
    path(f"{ROOT}<int:pk>/delete/", views.GroupDeleteView.as_view(), name="group-delete"),
    path(f"{ROOT}<int:pk>/members/", views.MemberView.as_view(), name="group-add"),
    path(
        f"{ROOT}<int:pk>/members/<int:user_pk>/remove/",
        views.MemberRemoveView.as_view(),
        name="group-remove",
    ),
    path(
        "dashboard/users/<int:pk>/groups/", views.MembershipView.as_view(), name="customer-groups"
    ),
]
