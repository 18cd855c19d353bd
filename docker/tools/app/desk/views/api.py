"""The scratchpad as JSON, for whoever logs in by HTTP Basic."""

from __future__ import annotations

import json
from collections.abc import Mapping

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt

from desk import clock
from desk.forms import NoteForm
from desk.models import Member, Note, notes_of
from desk.session import View, basic_member

_WRITTEN = ("title", "label", "body", "pinned")


def _for_accounts(*methods: str) -> View:
    """Answer 401 to whoever has no account, and 405 to other methods."""

    def decorate(view: View) -> View:
        @csrf_exempt
        def guarded(request: HttpRequest, **kwargs: object) -> HttpResponse:
            member = basic_member(request)
            if member is None:
                refusal = _problem(401, "log in by HTTP Basic, with an account of the scratchpad")
                refusal["WWW-Authenticate"] = 'Basic realm="Scratchpad", charset="UTF-8"'
                return refusal
            if request.method not in methods:
                refusal = _problem(405, f"allowed here: {', '.join(methods)}")
                refusal["Allow"] = ", ".join(methods)
                return refusal
            return view(request, member, **kwargs)

        return guarded

    return decorate


@_for_accounts("GET")
def account(request: HttpRequest, member: Member) -> HttpResponse:
    """Tell who is logged in."""
    count = Note.objects.filter(member=member).count()
    return JsonResponse({"username": member.username, "name": member.name, "notes": count})


@_for_accounts("GET", "POST")
def notes(request: HttpRequest, member: Member) -> HttpResponse:
    """List the notes, those with `q` and `label` only; or write one."""
    if request.method == "POST":
        return _write(request, Note(member=member), 201)
    found = notes_of(
        member, words=request.GET.get("q", ""), label=request.GET.get("label", "").strip()
    )
    return JsonResponse({"count": len(found), "notes": [_document(note) for note in found]})


@_for_accounts("GET", "PUT", "PATCH", "DELETE")
def note(request: HttpRequest, member: Member, number: int) -> HttpResponse:
    """Tell, change or throw away one note."""
    found = Note.objects.filter(id=number, member=member).first()
    if found is None:
        return _problem(404, f"there is no note {number} of yours")
    match request.method:
        case "DELETE":
            found.delete()
            return HttpResponse(status=204)
        case "PUT" | "PATCH":
            return _write(request, found, 200)
        case _:
            return JsonResponse(_document(found))


def _write(request: HttpRequest, note: Note, status: int) -> HttpResponse:
    """Fill a note with what was sent; what a change leaves out stays."""
    try:
        sent = json.loads(request.body)
    except ValueError:
        return _problem(400, "the body is not JSON")
    if not isinstance(sent, Mapping) or sent.keys() - set(_WRITTEN):
        return _problem(400, f"the body must be an object with some of: {', '.join(_WRITTEN)}")
    known = {} if note.id is None or request.method == "PUT" else _document(note)
    form = NoteForm({name: {**known, **sent}.get(name) for name in _WRITTEN})
    if not form.is_valid():
        return _problem(400, "; ".join(f"{name}: {text[0]}" for name, text in form.errors.items()))
    for name, value in form.cleaned_data.items():
        setattr(note, name, value)
    note.updated = clock.now()
    note.save()
    return JsonResponse(_document(note), status=status)


def _document(note: Note) -> dict[str, object]:
    return {
        "id": note.id,
        "title": note.title,
        "label": note.label,
        "body": note.body,
        "pinned": note.pinned,
        "created": note.created.isoformat(),
        "updated": note.updated.isoformat(),
    }


def _problem(status: int, text: str) -> JsonResponse:
    return JsonResponse({"problem": text}, status=status)
