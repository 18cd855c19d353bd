"""Private conversations."""

from __future__ import annotations

from django.contrib import messages as alerts
from django.core.exceptions import PermissionDenied
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect

from waypost import clock
from waypost.forms import MessageForm, ReplyForm
from waypost.models import Block, Member, Message, Thread
from waypost.session import for_members
from waypost.templating import page
from waypost.views.lookup import member_named

NEWEST = 100


def _may_write(sender: Member, receiver: Member) -> None:
    if sender.id == receiver.id:
        message = "You cannot send messages to yourself."
        raise PermissionDenied(message)
    if Block.objects.filter(blocker=receiver, blocked=sender).exists():
        message = f"{receiver.username} does not accept messages from you."
        raise PermissionDenied(message)


@for_members
def inbox(request: HttpRequest) -> HttpResponse:
    """Show one's conversations, the last active first."""
    rows = Thread.objects.filter(Q(starter=request.member) | Q(receiver=request.member))
    related = rows.select_related("starter", "receiver").order_by("-last_active", "-id")
    return page(request, "messages.html", threads=list(related[:NEWEST]))


@for_members
def compose(request: HttpRequest, username: str) -> HttpResponse:
    """Begin a conversation."""
    receiver = member_named(username)
    _may_write(request.member, receiver)
    form = MessageForm(request.POST or None, prefix="message")
    if request.method == "POST" and form.is_valid():
        made = Thread.objects.create(
            title=form.cleaned_data["title"], starter=request.member, receiver=receiver
        )
        Message.objects.create(thread=made, sender=request.member, body=form.cleaned_data["body"])
        return HttpResponseRedirect(f"/messages/thread/{made.id}")
    return page(request, "compose.html", form=form, receiver=receiver)


@for_members
def thread(request: HttpRequest, number: int) -> HttpResponse:
    """Show a conversation of one's own, and answer in it."""
    rows = Thread.objects.filter(Q(starter=request.member) | Q(receiver=request.member))
    found = rows.select_related("starter", "receiver").filter(id=number).first()
    if found is None:
        raise Http404
    form = ReplyForm(request.POST or None, prefix="message")
    if request.method == "POST":
        is_starter = found.starter_id == request.member.id
        _may_write(request.member, found.receiver if is_starter else found.starter)
        if form.is_valid():
            Message.objects.create(
                thread=found, sender=request.member, body=form.cleaned_data["body"]
            )
            found.last_active = clock.now()
            found.save(update_fields=["last_active"])
            alerts.success(request, "The message was sent.")
            return HttpResponseRedirect(f"/messages/thread/{found.id}")
    return page(
        request,
        "message_thread.html",
        thread=found,
        entries=list(found.messages.select_related("sender").order_by("id")),
        form=form,
    )
