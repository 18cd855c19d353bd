"""A task without mistakes, and edits that put one in."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from evaluators.lint import Finding
from sites.registry import SiteRegistry
from tasks.lint.linter import lint_suite
from tasks.schema import Suite

Edit = Callable[[dict[str, Any]], object]

ANSWER: dict[str, Any] = {
    "name": "said",
    "when": "end",
    "locate": {"by": "answer"},
    "match": {"how": "number", "value": 49},
    "computed": {"site": "shop", "sql": "SELECT price FROM products"},
}
NODE: dict[str, Any] = {
    "name": "product",
    "when": "step",
    "locate": {"by": "url"},
    "match": {"how": "exact", "value": "shop:/product/12/kettle"},
}
ROW: dict[str, Any] = {
    "name": "row",
    "when": "end",
    "locate": {"by": "db", "site": "shop", "sql": "SELECT total FROM orders"},
    "match": {"how": "exact", "value": "49.00"},
    "worlds": ["offline"],
}
DELTA: dict[str, Any] = {
    "name": "delta",
    "when": "end",
    "locate": {"by": "db_delta", "site": "shop"},
    "match": {"how": "delta", "changes": [{"table": "orders", "kind": "added"}]},
    "worlds": ["offline"],
}
PAGE: dict[str, Any] = {
    "name": "page",
    "when": "end",
    "locate": {"by": "page", "at": "shop:/basket", "selector": ".total"},
    "match": {"how": "number", "value": 49},
}
API: dict[str, Any] = {
    "name": "api",
    "when": "end",
    "locate": {"by": "api", "site": "shop", "path": "/api/basket"},
    "match": {"how": "exact", "value": "1"},
}
SOUND: dict[str, Any] = {
    "id": "price",
    "family": "information",
    "intent": "Say what the kettle costs.",
    "sites": ["shop"],
    "roles": {"shop": "customer"},
    "start": ["shop:/"],
    "checks": [NODE, ANSWER],
    "requires": [{**PAGE, "name": "on-sale"}],
    "reference": [
        {"do": "goto", "page": "shop:/product/12/kettle"},
        {"do": "stop", "answer": "49"},
    ],
}


def make_suite(edit: Edit) -> Suite:
    task = copy.deepcopy(SOUND)
    edit(task)
    return Suite.model_validate({"suite": "mine", "version": 1, "title": "Mine", "tasks": [task]})


def computed_of(**fields: Any) -> Edit:
    return checks(NODE, {**ANSWER, "computed": fields})


def acts_of(*actions: dict[str, Any]) -> Edit:
    return put(reference=[*actions, {"do": "stop", "answer": "49"}])


def changes(*changes: dict[str, Any], **match: Any) -> Edit:
    asked = {**DELTA, "match": {"how": "delta", "changes": list(changes), **match}}
    return content_of(checks=[ROW, {**PAGE, "worlds": ["online"]}, asked])


def findings(edit: Edit, registry: SiteRegistry) -> tuple[Finding, ...]:
    return lint_suite(make_suite(edit), registry)


def put(**fields: Any) -> Edit:
    return lambda task: task.update(fields)


def content_of(**fields: Any) -> Edit:
    sound: dict[str, Any] = {
        "family": "content",
        "live_writes": True,
        "checks": [ROW, {**PAGE, "worlds": ["online"]}, DELTA],
        "reference": [{"do": "stop"}],
    }
    return put(**{**sound, **fields})


def checks(*checks: dict[str, Any]) -> Edit:
    return put(checks=list(checks))


def look(check: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {**check, "locate": {**check["locate"], **fields}}


def val(check: dict[str, Any], value: Any, **fields: Any) -> dict[str, Any]:
    return {**check, "match": {**check["match"], "value": value}, **fields}
