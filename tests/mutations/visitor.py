"""A visitor of a site's pages: follows links, fills forms in, as a browser without scripts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final
from urllib.parse import urljoin

import requests

from arena_core.cookie import Cookie
from orchestrator.sandbox.engine.origin_client import PAGE_TIMEOUT_S, OriginClient, origin_session
from orchestrator.sandbox.logins import Form, read_page

_OK: Final = 200

# What a file input sends: name of the file, content, media type.
Upload = tuple[str, bytes, str]


@dataclass(frozen=True, slots=True)
class Visitor:
    """One session of HTTP on one site; blocking."""

    client: OriginClient
    session: requests.Session

    def ask(self, path: str) -> requests.Response:
        """Return the answer to a path, redirects followed, whatever its status."""
        return self.session.get(self.client.url(path), timeout=PAGE_TIMEOUT_S)

    def open(self, path: str) -> requests.Response:
        """Return the page of a path. Raises AssertionError unless it is there."""
        return _there(self.ask(path))

    def send(
        self,
        page: requests.Response,
        form: str,
        values: Mapping[str, str],
        files: Mapping[str, Upload] | None = None,
    ) -> requests.Response:
        """Fill in and send a form of a page, follow where that leads, and return the page there.

        Args:
            page: where the form stands.
            form: its id, a part of the path that it is sent to, or the name of one of its fields.
            values: what is filled in, the pressed button included.
            files: what its file inputs hold, by name.
        """
        found = _form(page, form)
        fields = {name: value.removeprefix("\n") for name, value in found.fields.items()}
        answer = self.session.post(
            urljoin(page.url, found.action),
            data={**fields, **values},
            files=files,
            headers={"Referer": page.url},
            timeout=PAGE_TIMEOUT_S,
        )
        return _there(answer)


@contextmanager
def visit(client: OriginClient, cookies: Sequence[Cookie]) -> Iterator[Visitor]:
    """Open a session with a role's cookies."""
    with origin_session(client) as session:
        for one in cookies:
            session.cookies.set(one.name, one.value, domain=one.domain, path=one.path)
        yield Visitor(client, session)


def _there(answer: requests.Response) -> requests.Response:
    request = answer.request
    assert answer.status_code == _OK, f"{request.method} {answer.url}: {answer.status_code}"
    return answer


def _form(page: requests.Response, wanted: str) -> Form:
    forms = read_page(page.text).forms
    for form in forms:
        is_sent_there = wanted.startswith("/") and wanted in form.action
        if form.id == wanted or is_sent_there or wanted in form.fields:
            return form
    there = ", ".join(form.id or form.action for form in forms)
    message = f"no form '{wanted}' on {page.url}; there are: {there}"
    raise AssertionError(message)
