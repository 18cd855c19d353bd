"""Log in, log out, register."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.hashers import make_password
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.views.decorators.http import require_POST

from waypost import paths
from waypost.forms import RegistrationForm
from waypost.models import Member
from waypost.session import authenticate, log_in, log_out
from waypost.templating import page


def _next(request: HttpRequest) -> str:
    wanted = request.POST.get("next") or request.GET.get("next", "")
    return wanted if paths.is_local(wanted) else "/"


def login(request: HttpRequest) -> HttpResponse:
    """Show the form; a POST here is taken as one to /login_check."""
    if request.method == "POST":
        return login_check(request)
    return page(request, "login.html", next=_next(request), username="", failed=False)


@require_POST
def login_check(request: HttpRequest) -> HttpResponse:
    """Log in who gives a name and its password."""
    username = request.POST.get("_username", "")
    member = authenticate(username, request.POST.get("_password", ""))
    if member is None:
        shown = {"next": _next(request), "username": username, "failed": True}
        return page(request, "login.html", **shown)
    log_in(request, member)
    return HttpResponseRedirect(_next(request))


def logout(request: HttpRequest) -> HttpResponse:
    """Log out by POST; a GET asks first, so that a link alone ends no session."""
    if request.method != "POST":
        return page(request, "logout.html")
    log_out(request)
    return HttpResponseRedirect("/")


def registration(request: HttpRequest) -> HttpResponse:
    """Make an account and log in with it."""
    form = RegistrationForm(request.POST or None, prefix="user")
    if request.method == "POST" and form.is_valid():
        name = form.cleaned_data["username"]
        # The salt follows from the name: the same registration leaves the same row every time.
        salt = f"waypost{name:_>25}"
        password = make_password(form.cleaned_data["password"], salt=salt)
        member = Member.objects.create(username=name, password=password)
        log_in(request, member)
        messages.success(request, "Your account has been created.")
        return HttpResponseRedirect(_next(request))
    return page(request, "registration.html", form=form)
