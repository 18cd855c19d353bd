"""Logging a role in by its HTML form, and proving that the site knows it afterwards."""

from __future__ import annotations

import asyncio
import html
import logging
import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from http.cookiejar import Cookie as JarCookie
from typing import TYPE_CHECKING, NoReturn
from urllib.parse import quote_plus, urljoin, urlsplit

import requests

from arena_core.cookie import Cookie
from arena_core.errors import InputError, LoginError, UnknownNameError
from arena_core.names import offered
from orchestrator.sandbox.engine.containers import Endpoint
from orchestrator.sandbox.engine.origin_client import PAGE_TIMEOUT_S, OriginClient, origin_session
from sites.accounts import HeaderLogin, Login, Role
from sites.manifest import Site
from sites.upstreams import ReplicaUpstream, Upstream, kind_in_words

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_BUTTONS = frozenset({"submit", "button", "image", "reset", "file"})


@dataclass(slots=True)
class Form:
    """One form of a page.

    Attributes:
        fields: name and value of every control that a browser would send untouched.
        asks_password: whether it has a password field.
    """

    id: str | None
    action: str
    method: str
    fields: dict[str, str] = field(default_factory=dict)
    asks_password: bool = False

    def filled(self, values: Mapping[str, str], submit: Mapping[str, str]) -> dict[str, str]:
        """Return what is sent when a person fills `values` in and presses `submit`."""
        return {**self.fields, **values, **submit}


@dataclass(frozen=True, slots=True)
class FormPage:
    """What matters of a page for logging in."""

    title: str
    forms: tuple[Form, ...]

    def login_form(self, form_id: str | None) -> Form | None:
        if form_id is not None:
            return next((form for form in self.forms if form.id == form_id), None)
        asking = [form for form in self.forms if form.asks_password]
        return asking[0] if len(asking) == 1 else None


def read_page(text: str) -> FormPage:
    """Parse title and forms of a page, however broken its markup is."""
    document = parse_html(text)
    title = document.findtext(".//title") or ""
    return FormPage(" ".join(title.split()), tuple(map(_form, document.iter("form"))))


def parse_html(text: str) -> HtmlElement:
    """Parse a whole page, however broken its markup is.

    Elements more than 2,048 levels deep are left out; Chromium flattens them after 512.
    """
    from lxml import etree, html  # noqa: PLC0415  takes 40 ms

    parser = html.HTMLParser(encoding="utf-8", huge_tree=True)
    try:
        return html.document_fromstring(text.encode(errors="replace"), parser)
    except etree.ParserError:  # nothing but space or comments
        return html.Element("html")


def _form(element: HtmlElement) -> Form:
    form = Form(
        id=element.get("id"),
        action=element.get("action", ""),
        method=element.get("method", "get").lower(),
    )
    for control in element.iter("input", "select", "textarea"):
        name, value = control.get("name"), _value(control)
        if control.get("type", "").lower() == "password":
            form.asks_password = True
        if name and value is not None and control.get("disabled") is None:
            form.fields[name] = value
    return form


def _value(control: HtmlElement) -> str | None:
    """Return what a control sends untouched; None where it sends nothing."""
    match control.tag, control.get("type", "text").lower():
        case "textarea", _:
            return str(control.text_content())
        case "select", _:
            options = list(control.iter("option"))
            chosen = [one for one in options if one.get("selected") is not None] or options[:1]
            return chosen[-1].get("value", chosen[-1].text_content().strip()) if chosen else None
        case _, "checkbox" | "radio":
            return control.get("value", "on") if control.get("checked") is not None else None
        case _, kind:
            return None if kind in _BUTTONS else control.get("value", "")


_LOG = logging.getLogger(__name__)

_OK = 200
_BAD = 400
_BARRED = frozenset({401, 403})


def replica_client(site: Site, endpoint: Endpoint) -> OriginClient:
    return OriginClient(origin=f"http://{site.host}", address=endpoint)


def role_of(site: Site, name: str) -> Role:
    return role_at(ReplicaUpstream(site), name)


def role_at(upstream: Upstream, name: str) -> Role:
    if name not in upstream.roles:
        where = f"the {kind_in_words(upstream)} of site '{upstream.site.name}'"
        raise UnknownNameError(f"{where} has no role '{name}'; {offered(name, upstream.roles)}")
    role = upstream.roles[name].from_environment(os.environ)
    if role is None:
        variable = upstream.roles[name].variable
        message = f"site '{upstream.site.name}', role '{name}': {variable} is not set"
        raise InputError(message, hint=f"set the environment variable {variable} to its password")
    return role


async def login(site: Site, role_name: str, role: Role, client: OriginClient) -> tuple[Cookie, ...]:
    """Log a role in and return the cookies that prove it.

    Args:
        role: `role_of` or `role_at`.
    """
    began = time.monotonic()
    cookies = await asyncio.to_thread(_Attempt(site, role_name, role, client).log_in)
    fields = {"site": site.name, "seconds": round(time.monotonic() - began, 3)}
    _LOG.info("%s: %s is logged in", site.name, role_name, extra=fields)
    return cookies


async def is_logged_in(
    site: Site, role_name: str, role: Role, client: OriginClient, cookies: Iterable[Cookie]
) -> bool:
    attempt = _Attempt(site, role_name, role, client)
    return await asyncio.to_thread(attempt.is_known, tuple(cookies))


async def is_logged_out(
    site: Site, role_name: str, role: Role, client: OriginClient, cookies: Iterable[Cookie]
) -> bool:
    """Whether the site sends whoever has these cookies to the login, or bars the way.

    Weaker than not `is_logged_in`: a page without the role's name says nothing, for a role may be
    renamed.
    """
    attempt = _Attempt(site, role_name, role, client)
    return await asyncio.to_thread(attempt.is_barred, tuple(cookies))


class _Attempt:
    """One role at one origin; blocking."""

    def __init__(self, site: Site, role_name: str, role: Role, client: OriginClient) -> None:
        self._site = site
        self._who = f"site '{site.name}', role '{role_name}'"
        self._role = role
        self._client = client

    def log_in(self) -> tuple[Cookie, ...]:
        with origin_session(self._client) as session:
            login = self._role.login
            if isinstance(login, HeaderLogin):
                landing = self._send_header(session, login)
            else:
                landing = self._submit(session, login)
            answer = self._proof(session)
            if landing is not None and not self._recognised(answer):
                # Most sites set their cookie with the form's own answer. Only where that was not
                # enough is the page after it worth its time: it may set more.
                self._ask(session, "follow the form", "GET", landing)
                answer = self._proof(session)
            if not self._recognised(answer):
                self._fail(
                    f"prove it on {self._role.proof.path}"
                    f" (wants 200 and '{self._role.proof.contains}')",
                    answer,
                )
            return tuple(_from_jar(cookie) for cookie in session.cookies)

    def is_known(self, cookies: tuple[Cookie, ...]) -> bool:
        return self._recognised(self._proof_with(cookies))

    def is_barred(self, cookies: tuple[Cookie, ...]) -> bool:
        answer = self._proof_with(cookies)
        if answer.is_redirect:
            to = urljoin(answer.url, answer.headers["Location"])
            return urlsplit(to).path == self._role.login.path
        return answer.status_code in _BARRED

    def _proof_with(self, cookies: tuple[Cookie, ...]) -> requests.Response:
        with origin_session(self._client) as session:
            for cookie in cookies:
                session.cookies.set(
                    cookie.name, cookie.value, domain=cookie.domain, path=cookie.path
                )
            return self._proof(session)

    def _send_header(self, session: requests.Session, login: HeaderLogin) -> str | None:
        """Ask for the page with the header; return the URL that the answer leads to, if any."""
        url = self._client.url(login.path)
        headers = {login.header: self._of_role(login.value)}
        step = f"send the header {login.header}"
        answer = self._ask(session, step, "GET", url, headers=headers, allow_redirects=False)
        if answer.status_code >= _BAD:
            self._fail(f"{step} to {login.path}", answer)
        return urljoin(url, answer.headers["Location"]) if answer.is_redirect else None

    def _of_role(self, value: str) -> str:
        return value.replace("{username}", self._role.username).replace(
            "{password}", self._role.password
        )

    def _submit(self, session: requests.Session, login: Login) -> str | None:
        """Fill the form in and send it; return the URL that the answer leads to, if any."""
        answer = self._ask(session, "open the form", "GET", self._client.url(login.path))
        page = read_page(answer.text)
        form = page.login_form(login.form)
        if answer.status_code != _OK or form is None:
            self._fail(f"find {_form_words(login)} on {login.path}", answer, page)
        url, sent = urljoin(answer.url, form.action or answer.url), self._filled(form, login)
        headers = {"Referer": answer.url}
        data, params = (sent, None) if form.method == "post" else (None, sent)
        answer = self._ask(
            session,
            "send the form",
            form.method.upper(),
            url,
            data=data,
            params=params,
            headers=headers,
            allow_redirects=False,
        )
        if answer.status_code >= _BAD:
            self._fail(f"send the form to {form.action or login.path}", answer)
        return urljoin(url, answer.headers["Location"]) if answer.is_redirect else None

    def _filled(self, form: Form, login: Login) -> dict[str, str]:
        values = {name: self._of_role(value) for name, value in login.fields.items()}
        return form.filled(values, login.submit)

    def _proof(self, session: requests.Session) -> requests.Response:
        url = self._client.url(self._role.proof.path)
        return self._ask(session, "open the proof page", "GET", url, allow_redirects=False)

    def _recognised(self, answer: requests.Response) -> bool:
        wanted = self._role.proof.contains
        found = wanted in answer.text or wanted in html.unescape(answer.text)
        return answer.status_code == _OK and found

    def _ask(
        self,
        session: requests.Session,
        step: str,
        method: str,
        url: str,
        *,
        data: dict[str, str] | None = None,
        params: dict[str, str] | None = None,
        headers: dict[str, str] | None = None,
        allow_redirects: bool = True,
    ) -> requests.Response:
        try:
            return session.request(
                method,
                url,
                data=data,
                params=params,
                headers=headers,
                allow_redirects=allow_redirects,
                timeout=PAGE_TIMEOUT_S,
            )
        except requests.RequestException as cause:
            message = f"{self._who}: could not {step}: {self._without_secret(str(cause))}"
            raise LoginError(message, site=self._site.name, is_unanswered=True) from None

    def _without_secret(self, text: str) -> str:
        """Return a foreign message that may quote a URL, with the password blotted out."""
        for form in (self._role.password, quote_plus(self._role.password)):
            text = text.replace(form, "***")
        return text

    def _fail(self, step: str, answer: requests.Response, page: FormPage | None = None) -> NoReturn:
        title = (page or read_page(answer.text)).title
        moved = answer.headers.get("Location")
        went = f" to {moved}" if moved else ""
        message = f"{self._who}: could not {step}: got {answer.status_code}{went}, page '{title}'"
        raise LoginError(message, site=self._site.name)


def _form_words(login: Login) -> str:
    return f"form '{login.form}'" if login.form else "exactly one form with a password field"


def _from_jar(cookie: JarCookie) -> Cookie:
    return Cookie(
        name=cookie.name,
        value=cookie.value or "",
        domain=cookie.domain,
        path=cookie.path,
        secure=cookie.secure,
        http_only=cookie.has_nonstandard_attr("HttpOnly"),
        expires=None if cookie.expires is None else float(cookie.expires),
    )
