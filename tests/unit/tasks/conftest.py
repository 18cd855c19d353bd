from __future__ import annotations

import pytest

from sites.manifest import Site
from sites.registry import SiteRegistry

ROLE: dict[str, object] = {
    "username": "emma",
    "password": "secret",
    "login": {"path": "/login", "fields": {"user": "{username}"}},
    "proof": {"path": "/account", "contains": "emma"},
}
LIVE_ROLE: dict[str, object] = {**ROLE, "password": "env:SHOP_PASSWORD"}
KEY: dict[str, object] = {
    "scheme": "header",
    "header": "X-Key",
    "secret": "key",
    "proof": {"path": "/api/me", "contains": "emma"},
}


def _site(name: str, **fields: object) -> Site:
    return Site.model_validate(
        {
            "name": name,
            "title": name.title(),
            "summary": "a site",
            "host": f"{name}.arena.test",
            "stateful": True,
            "image": {"tag": f"arena/{name}:1", "published": f"registry.test/{name}:1"},
            "port": 8000,
            "health": {"path": "/health", "contains": "ready"},
            "resources": {"memory_mb": 64, "cpus": 1, "pids": 8},
            **fields,
        }
    )


@pytest.fixture(scope="session")
def registry() -> SiteRegistry:
    """A shop with a live origin and a database, a wiki with routes, a forum without either."""
    shop = _site(
        "shop",
        roles={"customer": ROLE, "merchant": {**ROLE, "api": KEY}},
        database={"engine": "mariadb", "port": 3306, "name": "s", "user": "r", "password": "r"},
        fingerprint={"files": ["/srv/cache"]},
        routes=[
            {
                "logical": "/product/{id}/{slug}",
                "replica": "/catalogue/{slug}_{id}/",
                "live": "/p/{id}/{slug}",
            },
            {"logical": "/sale", "replica": "/sale/{season}/", "live": "/sale"},
            {"logical": "/basket", "replica": "/basket/", "live": "/bag/"},
        ],
        live={"origin": "https://shop.example", "roles": {"customer": LIVE_ROLE}},
    )
    wiki = _site(
        "wiki",
        routes=[{"logical": "/article/{a*}", "replica": "/content/{a*}", "live": "/wiki/{a*}"}],
        live={"origin": "https://wiki.example"},
    )
    forum = _site("forum", roles={"member": {**ROLE, "api": KEY}})
    board = _site(
        "board",
        database={"engine": "mariadb", "port": 3306, "name": "b", "user": "r", "password": "r"},
    )
    return SiteRegistry({site.name: site for site in (shop, wiki, forum, board)})
