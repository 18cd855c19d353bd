"""`make pictures`: the pictures of docs/sites.md, taken from replicas that `arena up` runs."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from playwright._impl._api_structures import SetCookieParam
from playwright.sync_api import Browser, ViewportSize, sync_playwright

from orchestrator.browser.process.chromium import find_chromium
from orchestrator.sandbox.engine.containers import Endpoint
from orchestrator.sandbox.logins import login, replica_client, role_of
from sites.registry import load_registry

_FOLDER: Final = Path(__file__).parents[2] / "docs" / "assets" / "sites"
_PAGES: Final = {
    "shop": "/catalogue/category/kitchen-coffee_1/",
    "erp": "/#erp/model/purchase.purchase",
    "forum": "/f/coffee/top?t=all",
    "forge": "/projects",
    "hub": "/harbour-store/pull-request/36",
    "cms": "/",
    "office": "/SOGo/so/ines.ferreira/Mail/view",
    "wiki": "/wiki/A/Kettle",
    "map": "/",
    "tools": "/calculator?expression=31.95%20%2B%2038%20%2B%2054.95",
    "miniwob": "/miniwob/book-flight.html",
}
# Who looks, where a stranger would see a login form alone.
_ROLES: Final = {"erp": "purchaser", "office": "ines"}
_VIEWPORT: Final[ViewportSize] = {"width": 1280, "height": 800}
_SCALE: Final = 0.5
# A page of MiniWoB++ is small, and shows its task once the episode has begun.
_SMALL: Final[ViewportSize] = {"width": 320, "height": 200}
_BEGIN: Final = "Math.seedrandom(7); core.EPISODE_MAX_TIME = 2e9; core.startEpisodeReal()"


def main(names: list[str]) -> None:
    """Take one picture of every named site that runs, or of all; say which do not run."""
    ports = _running()
    wanted = names or sorted(load_registry().sites)
    missing = sorted(set(wanted) - set(ports))
    if missing:
        sys.exit(f"not running: {', '.join(missing)}; first: arena up all")
    _FOLDER.mkdir(parents=True, exist_ok=True)
    # Before Playwright, which runs a loop of its own.
    cookies = {name: _cookies(name, ports[name]) for name in wanted if name in _ROLES}
    with sync_playwright() as playwright:
        bundled = Path(playwright.chromium.executable_path)
        browser = playwright.chromium.launch(
            executable_path=find_chromium(None, os.environ, bundled),
            args=["--no-sandbox", "--disable-gpu", _hosts(ports)],
        )
        for name in wanted:
            _take(browser, name, cookies.get(name, []))
        browser.close()


def _running() -> dict[str, str]:
    """Return by site the address its first replica listens at."""
    listed = subprocess.run(["arena", "status", "--json"], check=True, capture_output=True)
    found: dict[str, str] = {}
    for row in json.loads(listed.stdout):
        if row["owner"] != "up":
            continue
        found.setdefault(row["site"], row["url"].removeprefix("http://").rstrip("/"))
    return found


def _hosts(addresses: dict[str, str]) -> str:
    """Return Chromium's option by which each site is found under the host name agents use."""
    registry = load_registry()
    rules = [f"MAP {registry.site(name).host}:80 {address}" for name, address in addresses.items()]
    return f"--host-resolver-rules={', '.join(rules)}"


def _cookies(name: str, address: str) -> list[SetCookieParam]:
    """Log in at a site, and return what the browser gets of it."""
    site, role, (ip, port) = load_registry().site(name), _ROLES[name], address.split(":")
    client = replica_client(site, Endpoint(ip, int(port)))
    held = asyncio.run(login(site, role, role_of(site, role), client))
    return [
        {"name": one.name, "value": one.value, "domain": one.domain, "path": one.path}
        for one in held
    ]


def _take(browser: Browser, name: str, cookies: list[SetCookieParam]) -> None:
    is_small = name == "miniwob"
    page = browser.new_page(
        viewport=_SMALL if is_small else _VIEWPORT, device_scale_factor=2 if is_small else _SCALE
    )
    host = load_registry().site(name).host
    page.context.add_cookies(cookies)
    page.goto(f"http://{host}{_PAGES.get(name, '/')}", wait_until="networkidle")
    if is_small:
        page.evaluate(_BEGIN)
    page.screenshot(path=_FOLDER / f"{name}.png")
    page.close()


if __name__ == "__main__":
    main(sys.argv[1:])
