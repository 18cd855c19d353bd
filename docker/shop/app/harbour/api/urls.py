"""URLs of the JSON API."""

from __future__ import annotations

from django.urls import path

from harbour.api import views

urlpatterns = [
    path("", views.Index.as_view()),
    path("me/", views.Me.as_view()),
    path("categories/", views.Categories.as_view()),
    path("products/", views.Products.as_view()),
    path("products/<int:pk>/", views.ProductDetail.as_view()),
    path("products/<int:pk>/reviews/", views.Reviews.as_view()),
    path("orders/", views.Orders.as_view()),
    path("orders/<str:number>/", views.OrderDetail.as_view()),
    path("returns/", views.Returns.as_view()),
    path("returns/<int:pk>/", views.ReturnDetail.as_view()),
    path("customers/", views.Customers.as_view()),
    path("groups/", views.Groups.as_view()),
    path("reports/best-sellers/", views.BestSellersApi.as_view()),
    path("reports/search-terms/", views.SearchTermsApi.as_view()),
]
