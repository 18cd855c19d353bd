"""The start page as HTML; everything told is escaped."""

from __future__ import annotations

from html import escape

from telling import Account, Site, Telling

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="icon" href="/start.svg" type="image/svg+xml">
<link rel="stylesheet" href="/start.css">
</head>
<body>
<header><img src="/start.svg" alt="" width="40" height="40"><h1>{title}</h1></header>
<main>
{main}
</main>
</body>
</html>
"""
_UNTOLD = """<p>This page lists the sites that can be visited from here, and nobody has told it any.</p>
<p>In an episode of Arena the gateway tells it the episode's sites. After <code>arena up</code> it lists what was started,
if this page was started by the same command. <code>arena status</code> shows every address, <code>arena open NAME</code> opens a site.</p>"""


def start_page(told: Telling) -> str:
    """Return the page with a card for each site."""
    if not told.sites:
        return _PAGE.format(title="Start page", main=_UNTOLD)
    cards = "\n".join(_card(site) for site in told.sites)
    lead = "<p>These are the sites you can visit from here.</p>"
    return _PAGE.format(title="Start page", main=f'{lead}\n<ul class="sites">\n{cards}\n</ul>')


def missing() -> str:
    """Return the page for an address that there is not."""
    main = '<p>There is no such page here. <a href="/">Go to the start page</a></p>'
    return _PAGE.format(title="Page not found", main=main)


def _card(site: Site) -> str:
    accounts = "".join(_account(one) for one in site.accounts)
    address = site.url.partition("://")[2].rstrip("/")
    return (
        f'<li id="{escape(site.name)}"><h2><a href="{escape(site.url)}">{escape(site.title)}</a></h2>'
        f"<p>{escape(site.summary)}</p>"
        f'<p class="address">{escape(address)}</p>{accounts}</li>'
    )


def _account(account: Account) -> str:
    name = f"<strong>{escape(account.username)}</strong>"
    if not account.password:
        return f'<p class="account">You are logged in as {name}.</p>'
    password = f"<code>{escape(account.password)}</code>"
    return f'<p class="account">Log in as {name} with the password {password}.</p>'
