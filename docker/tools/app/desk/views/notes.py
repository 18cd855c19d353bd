"""The scratchpad: a member's notes, listed, read, written, pinned and thrown away."""

from __future__ import annotations

from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_POST

from desk import clock
from desk.forms import NoteForm
from desk.models import Member, Note, notes_of
from desk.session import for_members

_PAGE = 20


@for_members
def listing(request: HttpRequest) -> HttpResponse:
    """Show the notes, a page of them at a time, with search words and a label left aside."""
    words, label = request.GET.get("q", "").strip(), request.GET.get("label", "").strip()
    found = notes_of(request.member, words=words, label=label)
    shown = {
        "page": Paginator(found, _PAGE).get_page(request.GET.get("page")),
        "words": words,
        "label": label,
        "labels": _labels(request.member),
        "query": urlencode({"q": words, "label": label}),
    }
    return render(request, "notes.html", shown)


@for_members
def note(request: HttpRequest, number: int) -> HttpResponse:
    """Show one note."""
    return render(request, "note.html", {"note": _own(request, number)})


@for_members
def new(request: HttpRequest) -> HttpResponse:
    """Write a note."""
    form = NoteForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        made = Note.objects.create(member=request.member, **form.cleaned_data)
        messages.success(request, "Note created.")
        return HttpResponseRedirect(made.path)
    return _form(request, form, None)


@for_members
def edit(request: HttpRequest, number: int) -> HttpResponse:
    """Write a note anew."""
    found = _own(request, number)
    known = {name: getattr(found, name) for name in NoteForm.base_fields}
    form = NoteForm(request.POST if request.method == "POST" else None, initial=known)
    if request.method == "POST" and form.is_valid():
        for name, value in form.cleaned_data.items():
            setattr(found, name, value)
        found.updated = clock.now()
        found.save()
        messages.success(request, "Note saved.")
        return HttpResponseRedirect(found.path)
    return _form(request, form, found)


@for_members
def delete(request: HttpRequest, number: int) -> HttpResponse:
    """Ask, then throw a note away."""
    found = _own(request, number)
    if request.method != "POST":
        return render(request, "delete.html", {"note": found})
    found.delete()
    messages.success(request, f"“{found.title}” deleted.")
    return HttpResponseRedirect("/notes")


@require_POST
@for_members
def pin(request: HttpRequest, number: int) -> HttpResponse:
    """Keep a note on top, or no longer; that is no edit, so its date stays."""
    found = _own(request, number)
    found.pinned = request.POST.get("pinned") == "1"
    found.save(update_fields=["pinned"])
    messages.success(request, "Note pinned." if found.pinned else "Note unpinned.")
    return HttpResponseRedirect(found.path if request.POST.get("from") == "note" else "/notes")


def _own(request: HttpRequest, number: int) -> Note:
    """Return a note of the member's own; to anybody else it does not exist."""
    found = Note.objects.filter(id=number, member=request.member).first()
    if found is None:
        raise Http404
    return found


def _labels(member: Member) -> list[dict[str, object]]:
    counted = Note.objects.filter(member=member).exclude(label="").values("label").order_by("label")
    return list(counted.annotate(count=Count("id")))


def _form(request: HttpRequest, form: NoteForm, found: Note | None) -> HttpResponse:
    labels = [one["label"] for one in _labels(request.member)]
    shown = {"form": form, "note": found, "labels": labels}
    return render(request, "form.html", shown, status=400 if form.errors else 200)
