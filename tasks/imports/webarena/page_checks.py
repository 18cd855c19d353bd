"""`program_html`: what pages show when the agent is done."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tasks.imports.checking import Untranslated, Written, either
from tasks.imports.webarena.addresses import Addresses, UnknownAddressError
from tasks.imports.webarena.records import Evaluation, HtmlTarget

_OR: Final = " |OR| "
_LAST: Final = "last"
_QUERY: Final = re.compile(
    r"""document\.querySelector\((?P<q>['"])(?P<selector>(?:(?!(?P=q)).)+)(?P=q)\)\??\."""
    r"""(?:(?P<text>outerText|innerText)|(?P<value>value)|"""
    r"""getAttribute\((?P<r>['"])(?P<name>[\w-]+)(?P=r)\))"""
)


def page_checks(evaluation: Evaluation, addresses: Addresses) -> Iterator[Written | Untranslated]:
    """Yield a check for each page that the published task looks at, in its order."""
    for number, target in enumerate(evaluation.program_html or ()):
        yield from _target_checks(
            f"html-{number}", f"eval.program_html[{number}]", target, addresses
        )


def _target_checks(
    name: str, field: str, target: HtmlTarget, addresses: Addresses
) -> Iterator[Written | Untranslated]:
    if target.prep_actions:
        yield Untranslated(f"{field}.prep_actions", "no check runs a script before it looks")
        return
    at = _page(field, target, addresses)
    locate = _locate(field, target)
    match = _match(f"{field}.required_contents", target)
    if isinstance(at, Untranslated):
        yield at
        return
    if isinstance(locate, Untranslated):
        yield locate
        return
    if isinstance(match, Untranslated):
        yield match
        return
    here: Written = {"by": "page", "at": at, **locate}
    for number, ways in enumerate(match):
        part = name if len(match) == 1 else f"{name}-{number}"
        yield either(part, [{"locate": here, "match": way} for way in ways])


def _page(field: str, target: HtmlTarget, addresses: Addresses) -> str | Untranslated:
    if target.url == _LAST:
        return "own"
    if target.url.startswith("func:"):
        return Untranslated(f"{field}.url", "is computed, from the last URL or by an API")
    try:
        return addresses.logical(target.url)
    except UnknownAddressError as unknown:
        return Untranslated(f"{field}.url", str(unknown))


def _locate(field: str, target: HtmlTarget) -> Written | Untranslated:
    found = _QUERY.fullmatch(target.locator.strip())
    if not target.locator:
        return Untranslated(f"{field}.locator", "is the whole HTML of the page")
    if found is None:
        return Untranslated(f"{field}.locator", "is a script, no lone selector")
    locate: Written = {"selector": closed(found["selector"])}
    attribute = "value" if found["value"] else found["name"]
    if attribute:
        locate["attribute"] = attribute
    return locate


def _match(field: str, target: HtmlTarget) -> list[list[Written]] | Untranslated:
    """Return what must match: of each entry, any of its alternatives."""
    wanted = target.required_contents
    if "exact_match" in wanted:
        return [[{"how": "exact", "value": str(wanted["exact_match"])}]]
    listed = wanted.get("must_include")
    if set(wanted) != {"must_include"} or not isinstance(listed, list):
        return Untranslated(field, f"asks in a way that is not known: {', '.join(sorted(wanted))}")
    if not listed:
        return Untranslated(field, "asks for nothing: the published code accepts every page")
    texts = [str(one) for one in listed]
    if not any(_OR in one for one in texts):
        return [[{"how": "include", "value": texts[0] if len(texts) == 1 else texts}]]
    return [[{"how": "include", "value": one} for one in text.split(_OR)] for text in texts]


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
