"""Episodes made from the golds of WebArena's tasks: the answer, the last page, what pages show."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from arena_core.actions import Stop
from evaluators.evidence import Evidence, Located
from evaluators.responses import response_of
from support.runs.make_evidence import make_evidence, make_step
from tasks.schema import Task

_NUMBER = re.compile(r"(?:original-)?html-(\d+)")


def gold_episode(task: Task) -> Evidence:
    """Return the episode of an agent that leaves everything as the record asks for it."""
    assert task.original is not None
    record: Mapping[str, Any] = task.original.record["eval"]  # type: ignore[assignment]
    bases = task.original.bases
    said = _answer(record)
    left_on = _left_on(record, bases)
    logical = _logical(left_on, bases)
    stop = Stop(answer=said)
    last = make_step(1, logical).model_copy(update={"url": left_on, "action": stop})
    looked = [*(way for check in task.checks for way in check.ways), *task.looks]
    located = [
        Located(check=one.name, values=(_content(record, int(named[1]), bases),))
        for one in looked
        if (named := _NUMBER.match(one.name)) is not None
    ]
    played = make_evidence(make_step(0), last, answer=said, located=located)
    return played.model_copy(update={"response": response_of(stop)})


def _answer(record: Mapping[str, Any]) -> str | None:
    answers = record.get("reference_answers") or {}
    if "N/A" in {str(one) for one in answers.values()}:
        return "N/A"
    golds: list[str] = []
    for given in answers.values():
        golds += [str(one) for one in given] if isinstance(given, list) else [str(given)]
    return ", ".join(one.split(" |OR| ")[0] for one in golds) or None


def _left_on(record: Mapping[str, Any], bases: Mapping[str, str]) -> str:
    gold = (record.get("reference_url") or "__HOME__/").split(" |OR| ")[0]
    posts = any(
        str(one["url"]).startswith("func:reddit_get_post_url")
        for one in record.get("program_html") or ()
    )
    return _rendered(gold, bases) + ("/12/a-post" if posts and gold != "__HOME__/" else "")


def _logical(url: str, bases: Mapping[str, str]) -> str:
    for base in bases.values():
        origin = "/".join(base.split("/")[:3])
        if url.startswith(origin):
            site = origin.removeprefix("http://").removesuffix(".arena.test")
            return f"{site}:{url[len(origin) :] or '/'}"
    return "home:/"


def _content(record: Mapping[str, Any], number: int, bases: Mapping[str, str]) -> str:
    wanted = record["program_html"][number]["required_contents"]
    if "exact_match" in wanted:
        return _rendered(str(wanted["exact_match"]), bases)
    parts = (str(one).split(" |OR| ")[0] for one in wanted["must_include"])
    return "\n".join(_rendered(one, bases) for one in parts)


def _rendered(text: str, bases: Mapping[str, str]) -> str:
    for base, replica in bases.items():
        text = text.replace(base, replica)
    return text
