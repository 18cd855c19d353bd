"""Small suites on the demo's real sites, and a scripted model that solves them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import yaml

from arena_core.actions import Action, Click, Goto, Stop
from support.agents.scripted_model import ChatRequest, Says

Entry = Mapping[str, object]

_BELLS = "47"
BRUGES = "http://wiki.arena.test/wiki/A/Bruges"
PROFILE = "http://shop.arena.test/accounts/profile/"


def bells(name: str, **more: object) -> Entry:
    """A task on the wiki: one link, one answer."""
    return {
        "id": name,
        "family": "information",
        "intent": "How many bells does the carillon of Bruges have? Answer with the number only.",
        "sites": ["wiki"],
        "start": ["wiki:/article/Belgium"],
        "worlds": ["offline"],
        "checks": [
            {
                "name": "article",
                "when": "step",
                "locate": {"by": "url"},
                "match": {"how": "exact", "value": "wiki:/article/Bruges"},
            },
            {
                "name": "bells",
                "when": "end",
                "locate": {"by": "answer"},
                "match": {"how": "number", "value": int(_BELLS)},
            },
        ],
        "reference": [
            {"do": "click", "role": "link", "name": "Bruges"},
            {"do": "stop", "answer": _BELLS},
        ],
        **more,
    }


def profile(name: str, **more: object) -> Entry:
    """A task on the shop, logged in: one page to open, proven in the database too."""
    return {
        "id": name,
        "family": "navigation",
        "intent": "Open the page of my account that shows my profile.",
        "sites": ["shop"],
        "roles": {"shop": "customer"},
        "start": ["shop:/"],
        "worlds": ["offline"],
        "checks": [
            {
                "name": "profile",
                "when": "step",
                "required": True,
                "locate": {"by": "url"},
                "match": {"how": "exact", "value": "shop:/accounts/profile/"},
            },
            {
                "name": "untouched",
                "when": "end",
                "locate": {
                    "by": "db",
                    "site": "shop",
                    "sql": "SELECT count(*) FROM catalogue_product WHERE id < 0",
                },
                "match": {"how": "exact", "value": "0"},
            },
        ],
        "reference": [{"do": "goto", "page": "shop:/accounts/profile/"}, {"do": "stop"}],
        **more,
    }


def write_suite(folder: Path, *tasks: Entry) -> Path:
    """Write tasks as a suite file and return its path."""
    path = folder / "small.yaml"
    document = {"suite": "small", "version": 1, "title": "Small", "tasks": list(tasks)}
    path.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
    return path


def current_url(request: ChatRequest) -> str:
    """Return the address that the model was told it is on."""
    found = re.findall(r"^Current page: .* (\S+)$", request.prompt, re.MULTILINE)
    return str(found[-1])


def solve_bells(request: ChatRequest) -> Says:
    """Find the link in the page as it was told, follow it, and answer."""
    if current_url(request) == BRUGES:
        return Says.action(Stop(answer=_BELLS))
    link = re.search(r"\[(\d+)\] link ['\"]Bruges['\"]", request.prompt)
    assert link is not None, request.prompt
    return Says.action(Click(element=int(link[1])))


def solve_profile(request: ChatRequest) -> Says:
    """Open the profile and stop."""
    done: Action = Stop() if current_url(request) == PROFILE else Goto(url=PROFILE)
    return Says.action(done)
