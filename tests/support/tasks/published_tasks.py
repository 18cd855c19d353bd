"""Tasks as published sets write them, made up."""

from __future__ import annotations

import copy
from typing import Any

WEBARENA_TASK: dict[str, Any] = {
    "sites": ["shopping_admin"],
    "task_id": 7,
    "require_login": True,
    "storage_state": "./.auth/shopping_admin_state.json",
    "start_url": "__SHOPPING_ADMIN__",
    "geolocation": None,
    "intent_template": "Show {{what}}",
    "instantiation_dict": {"what": "the orders"},
    "intent": "Show the orders of the shop",
    "require_reset": False,
    "eval": {
        "eval_types": ["url_match"],
        "reference_answers": None,
        "reference_url": "__SHOPPING_ADMIN__/sales/order/",
        "program_html": [],
        "url_note": "GOLD in PRED",
    },
    "intent_template_id": 12,
}


def webarena_task(evaluation: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    """Return a WebArena task with other fields, and others in its evaluation."""
    task = copy.deepcopy(WEBARENA_TASK)
    task.update(fields)
    task["eval"].update(evaluation or {})
    return task


def asked_task(
    number: int, intent: str, evaluation: dict[str, Any], **fields: Any
) -> dict[str, Any]:
    """Return a WebArena task with this id, intent and evaluation, and nobody logged in."""
    bare: dict[str, Any] = {"reference_url": "", "reference_answers": None, "program_html": []}
    said = {"task_id": number, "intent": intent, "intent_template_id": number}
    state = {"require_login": "storage_state" in fields, "storage_state": None}
    return webarena_task({**bare, **evaluation}, **{**said, **state, **fields})


def verified_task(
    schema: dict[str, Any], gold: object, *events: dict[str, Any], kind: str = "retrieve"
) -> dict[str, Any]:
    """Return a task as WebArena-Verified writes it, with its data, its gold and its requests."""
    expected = {"task_type": kind, "status": "SUCCESS", "retrieved_data": gold}
    return {
        "sites": ["reddit"],
        "task_id": 5,
        "intent_template_id": 6,
        "start_urls": ["__REDDIT__"],
        "intent": "Find what is asked for in the forum",
        "intent_template": "Find {{what}}",
        "instantiation_dict": {"what": "it"},
        "revision": 2,
        "eval": [
            {
                "evaluator": "AgentResponseEvaluator",
                "results_schema": schema,
                "expected": expected,
            },
            *events,
        ],
    }


def network_event(url: str, **expected: Any) -> dict[str, Any]:
    """Return the evaluator of a request as WebArena-Verified writes it: a GET unless it says so."""
    return {"evaluator": "NetworkEventEvaluator", "expected": {"url": url, **expected}}


def mind2web_node(function: str, answer: str, url: str, **content: Any) -> dict[str, Any]:
    """Return a key node as Mind2Web-Live's file has it, recorded on a page."""
    said: dict[str, Any] = {"reference_answer": answer, "url": url, **content}
    if function.startswith("url_"):
        said.setdefault("key", "")
    else:
        said["netloc"] = url.split("/")[2].removeprefix("www.").split(".")[0]
    node = {"match_function_name": function, "content": said}
    return {**node, "method": "selector"} if "_path_" in function else node
