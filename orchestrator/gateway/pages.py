"""The small pages that say to an agent, and a person, why the gateway did not pass a request on."""

from __future__ import annotations

from html import escape
from http import HTTPStatus

from orchestrator.gateway.policy import Policy, Route


def refusal(policy: Policy, host: str, port: int) -> str:
    """Return the page for a host that has no route: which, why, and which sites there are."""
    links = "".join(
        f'<li><a href="{escape(route.origin)}/">{escape(route.origin)}/</a>'
        f" ({escape(route.site)})</li>"
        for route in policy.routes
    )
    return _page(
        "This host is not available",
        f"<p>{escape(policy.why_refused(host, port))}. The sites of this task are:</p>"
        f"<ul>{links}</ul>",
    )


def read_only(route: Route, method: str) -> str:
    """Return the page for a request that might change a live site."""
    return _page(
        "This site is read-only",
        f"<p>{escape(route.host)} is read-only in this task: "
        f"{escape(method)} was not sent. Pages can be read (GET, HEAD, OPTIONS).</p>",
    )


def unreachable(route: Route, why: str) -> str:
    """Return the page for a site that did not answer as it should."""
    return _page(
        "The site did not answer",
        f"<p>{escape(route.host)} (site {escape(route.site)}): {escape(why)}. "
        "This is a fault of the test bed, not of the page.</p>",
    )


def malformed(reason: str) -> str:
    """Return the page for a request that is not HTTP/1.1 as it should be."""
    return _page("Bad request", f"<p>The request was not sent on: {escape(reason)}.</p>")


def response(status: int, page: str, *, method: str, closes: bool) -> bytes:
    """Return a whole response with a page; without its body where the method is HEAD."""
    body = page.encode()
    head = (
        f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n"
        "Content-Type: text/html; charset=utf-8\r\n"
        f"Content-Length: {len(body)}\r\n"
        "Cache-Control: no-store\r\n" + ("Connection: close\r\n" if closes else "") + "\r\n"
    )
    return head.encode() + (b"" if method == "HEAD" else body)


def _page(title: str, content: str) -> str:
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{title}</title></head><body><h1>{title}</h1>{content}"
        "<p>This page comes from the gateway that this browser is bound to.</p></body></html>\n"
    )
