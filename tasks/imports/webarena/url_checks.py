"""`url_match`: where the agent's tab is left."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import parse_qs, urlsplit

from evaluators.logical_urls import parse_logical_url
from tasks.imports.checking import Untranslated, Written, either, end_check
from tasks.imports.webarena.addresses import Addresses, UnknownAddressError
from tasks.imports.webarena.records import Evaluation

_OR: Final = " |OR| "
_FIELD: Final = "eval.reference_url"
_NOTE: Final = "GOLD in PRED"
# What is posted gets an address below the forum that the gold names.
_POSTED: Final = "func:reddit_get_post_url("


def url_checks(evaluation: Evaluation, addresses: Addresses) -> Iterator[Written | Untranslated]:
    """Yield the checks of the final URL: its page, and each parameter that the gold names.

    The published code looks for the gold anywhere in the URL. Here the page must be the gold's; one
    below it does where the task itself asks for a post in a forum.
    """
    gold = evaluation.reference_url or ""
    if not gold.strip():
        yield Untranslated(_FIELD, "is empty: the published code accepts every page")
        return
    golds = gold.split(_OR)
    if len(golds) > 1 and "?" in gold:
        yield Untranslated(_FIELD, "has alternatives (|OR|) with queries of their own")
        return
    if evaluation.url_note not in {None, _NOTE, "EXACT"}:
        yield Untranslated("eval.url_note", f"is none that is known: {evaluation.url_note!r}")
        return
    try:
        logicals = [addresses.logical(one) for one in golds]
    except UnknownAddressError as unknown:
        yield Untranslated(_FIELD, str(unknown))
        return
    page = parse_logical_url(logicals[0]).page
    is_posted = any(one.url.startswith(_POSTED) for one in evaluation.program_html or ())
    how = "include" if is_posted else "exact"
    pages: list[Written] = [
        {
            "locate": {"by": "url"},
            "match": {"how": how, "value": re.split(r"[?#]", one, maxsplit=1)[0]},
        }
        for one in logicals
    ]
    yield either("url", pages)
    for number, (key, values) in enumerate(parse_qs(urlsplit(gold).query).items()):
        wanted: object = values[0] if len(values) == 1 else values
        locate: Written = {"by": "url", "part": "query", "key": key}
        if not is_posted:
            locate["page"] = page
        yield end_check(f"url-query-{number}", locate, {"how": "exact", "value": wanted})
