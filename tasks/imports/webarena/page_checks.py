"""`program_html`: what pages show when the agent is done."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Final
from urllib.parse import parse_qs, urlsplit

from evaluators.values.logical_urls import parse_logical_url
from tasks.imports.formats import Untranslated, Written, either, end_check
from tasks.imports.webarena.records import Addresses, Evaluation, HtmlTarget, UnknownAddressError

_OR: Final = " |OR| "
_LAST: Final = "last"
_POST: Final = "func:reddit_get_post_url('__last_url__')"
_POST_PATH: Final = "/f/*/*/"
_ROLE: Final = re.compile(r"""func:gitlab_get_project_memeber_role\(__page__, (['"])(.+)\1\)""")
# What the published helper of that name reads: the role beside the account's name.
_ROLE_SCRIPT: Final = (
    "document.querySelectorAll('td.col-max-role span')["
    "[...document.querySelectorAll(\"td[data-label='Account'] span.gl-avatar-labeled-sublabel\")]"
    ".findIndex(one => one.outerText === '@' + {account})].outerText"
)
_QUERY: Final = re.compile(
    r"""document\.querySelector\((?P<q>['"])(?P<selector>(?:(?!(?P=q)).)+)(?P=q)\)\??\."""
    r"""(?:(?P<text>outerText|innerText)|(?P<value>value)|"""
    r"""getAttribute\((?P<r>['"])(?P<name>[\w-]+)(?P=r)\))"""
)


_FIELD: Final = "eval.reference_url"
_NOTE: Final = "GOLD in PRED"
# What is posted gets an address below the forum that the gold names.
_POSTED: Final = "func:reddit_get_post_url("


@dataclass(frozen=True, slots=True)
class _Target:
    """One published target with its place, and what its placeholders stand for."""

    number: int
    target: HtmlTarget
    addresses: Addresses
    bases: dict[str, str]

    @property
    def field(self) -> str:
        return f"eval.program_html[{self.number}]"


def page_checks(
    evaluation: Evaluation, addresses: Addresses, bases: dict[str, str]
) -> Iterator[Written | Untranslated]:
    """Yield the checks of each page that the published task looks at, in its order."""
    for target in _targets(evaluation, addresses, bases):
        at, locate, match = _page(target), _locate(target), _match(target)
        if isinstance(at, Untranslated):
            yield at
        elif isinstance(locate, Untranslated):
            yield locate
        elif isinstance(match, Untranslated):
            yield match
        else:
            here: Written = {"by": "page", "at": at, **locate, **_prepared(target)}
            for part, ways in enumerate(match):
                name = f"html-{target.number}"
                name = name if len(match) == 1 else f"{name}-{part}"
                yield either(name, [{"locate": here, "match": way} for way in ways])


def page_looks(
    evaluation: Evaluation, addresses: Addresses, bases: dict[str, str]
) -> Iterator[Written]:
    """Yield what the published code would compare, for the scorers, as far as it can be seen."""
    for target in _targets(evaluation, addresses, bases):
        at, script = _page(target), _script(target.target.locator)
        if isinstance(at, Untranslated):
            continue
        if not target.target.locator:
            found: Written = {"html": True}
        elif script is not None:
            found = {"script": script, "spelling": "python"}
        else:
            continue
        yield {
            "name": f"original-html-{target.number}",
            "when": "end",
            "locate": {"by": "page", "at": at, **found, **_prepared(target)},
        }


def _targets(
    evaluation: Evaluation, addresses: Addresses, bases: dict[str, str]
) -> Iterator[_Target]:
    if "program_html" in evaluation.eval_types:
        for number, target in enumerate(evaluation.program_html or ()):
            yield _Target(number, target, addresses, bases)


def _prepared(target: _Target) -> Written:
    return {"prep": list(target.target.prep_actions)} if target.target.prep_actions else {}


def _page(target: _Target) -> str | Written | Untranslated:
    url = target.target.url
    if url == _LAST:
        return "own"
    if url == _POST:
        return {"last_url": _POST_PATH}
    if url.startswith("func:"):
        return Untranslated(f"{target.field}.url", "is found by an API login of the shop's admin")
    try:
        return target.addresses.logical(url)
    except UnknownAddressError as unknown:
        return Untranslated(f"{target.field}.url", str(unknown))


def _script(locator: str) -> str | None:
    """Return the published locator as a script; None where it is neither."""
    role = _ROLE.fullmatch(locator.strip())
    if role is not None:
        return _ROLE_SCRIPT.replace("{account}", json.dumps(role[2]))
    if locator.startswith(("document.", "[...document.")):
        return locator
    return None


def _locate(target: _Target) -> Written | Untranslated:
    locator = target.target.locator
    if not locator:
        return {"html": True}
    found = _QUERY.fullmatch(locator.strip())
    if found is not None:
        locate: Written = {"selector": closed(found["selector"])}
        attribute = "value" if found["value"] else found["name"]
        return {**locate, "attribute": attribute} if attribute else locate
    script = _script(locator)
    if script is None:
        return Untranslated(f"{target.field}.locator", "calls a helper that asks the shop's API")
    return {"script": script}


def _match(target: _Target) -> list[list[Written]] | Untranslated:
    """Return what must match: of each entry, any of its alternatives."""
    field = f"{target.field}.required_contents"
    wanted = target.target.required_contents
    if "exact_match" in wanted:
        return [[{"how": "exact", "value": _expanded(str(wanted["exact_match"]), target)}]]
    listed = wanted.get("must_include")
    if set(wanted) != {"must_include"} or not isinstance(listed, list):
        return Untranslated(field, f"asks in a way that is not known: {', '.join(sorted(wanted))}")
    if not listed:
        return Untranslated(field, "asks for nothing: the published code accepts every page")
    texts = [_expanded(str(one), target) for one in listed]
    is_html = not target.target.locator
    if not any(_OR in one or (is_html and escape(one) != one) for one in texts):
        return [[{"how": "include", "value": texts[0] if len(texts) == 1 else texts}]]
    return [
        [
            {"how": "include", "value": spelling}
            for one in text.split(_OR)
            for spelling in dict.fromkeys((one, escape(one)) if is_html else (one,))
        ]
        for text in texts
    ]


def _expanded(text: str, target: _Target) -> str:
    """Return text with the replicas' URLs in place of what stands for them in the file."""
    for base, replica in target.bases.items():
        text = text.replace(base, replica)
    return text


def closed(selector: str) -> str:
    """Return a CSS selector whose last bracket is closed, as a browser closes it at the end."""
    quote = ""
    depth = 0
    for letter in selector:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter in "[]":
            depth += 1 if letter == "[" else -1
    return selector + quote + "]" * max(depth, 0)


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
