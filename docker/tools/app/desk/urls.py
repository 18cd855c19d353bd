"""URLs."""

from __future__ import annotations

from django.urls import path

from desk.views import api, calculator, converter, errors, front, notes, sessions

urlpatterns = [
    path("", front.home),
    path("health/", front.health),
    path("calculator", calculator.page),
    path("calculator.json", calculator.value),
    path("converter", converter.page),
    path("notes", notes.listing),
    path("notes/new", notes.new),
    path("notes/<int:number>", notes.note),
    path("notes/<int:number>/edit", notes.edit),
    path("notes/<int:number>/delete", notes.delete),
    path("notes/<int:number>/pin", notes.pin),
    path("login", sessions.login),
    path("logout", sessions.logout),
    path("api/account", api.account),
    path("api/notes", api.notes),
    path("api/notes/<int:number>", api.note),
]
handler404 = errors.not_found
handler500 = errors.broken
