"""Format `webarena-verified`: ServiceNow's audit of WebArena's tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from tasks.imports.formats import Entry, Translation, Untranslated, Written, written_out
from tasks.imports.site_map import SiteMap
from tasks.imports.verified.records import (
    AnswerEvaluator,
    EventSpec,
    NetworkEvaluator,
    VerifiedRecord,
)
from tasks.imports.verified.request_checks import Requests
from tasks.imports.verified.response_checks import STATUSES, response_checks
from tasks.imports.webarena.records import Addresses, UnknownAddressError
from tasks.imports.webarena.tasks import SECONDS, STEPS, mapped_site

_FAMILIES: Final = {"retrieve": "information", "mutate": "content", "navigate": "navigation"}


class WebArenaVerified:
    """Reads `webarena-verified.json`, and subsets of it."""

    name = "webarena-verified"
    title = "WebArena-Verified's tasks"

    def translate(self, entries: Sequence[Entry], sites: SiteMap) -> Iterator[Translation]:
        """Yield what the entries become, in their order."""
        read = [(entry, entry.read_as(VerifiedRecord)) for entry in entries]
        addresses = Addresses.of(sites, ((one.sites, one.start_urls[0]) for _, one in read))
        for entry, record in read:
            yield self._translated(entry, record, sites, addresses)

    def _translated(
        self, entry: Entry, record: VerifiedRecord, sites: SiteMap, addresses: Addresses
    ) -> Translation:
        answers = [one for one in record.evaluators if isinstance(one, AnswerEvaluator)]
        if not answers:
            raise entry.fault("holds no AgentResponseEvaluator, which every task has", field="eval")
        expected = answers[0].expected
        bases = addresses.in_replicas()
        names = [mapped_site(entry, name, sites) for name in record.sites]
        requests = Requests(
            addresses,
            bases,
            tuple(dict.fromkeys(site for site, _ in names)),
            is_navigation=expected.task_type == "navigate",
        )
        parts = list(_parts(record, requests))
        is_possible = STATUSES.get(expected.status) == "done"
        task: Written = {
            "id": f"verified-{record.task_id}",
            "family": _FAMILIES[expected.task_type] if is_possible else "unachievable",
            "intent": record.intent,
            "sites": list(dict.fromkeys(one for one, _ in names)),
            "roles": {site: role for site, role in names if role is not None},
            "start": _start(entry, record, addresses),
            "worlds": ["offline"],
            "limits": {"steps": STEPS, "seconds": SECONDS},
            "checks": list(written_out(parts)),
            "template": f"verified-t{record.intent_template_id}",
        }
        if not is_possible:
            task["why"] = f"the published gold is {expected.status}"
        return Translation(
            entry=entry,
            published_id=str(record.task_id),
            task=task,
            bases=bases,
            untranslated=tuple(str(one) for one in parts if isinstance(one, Untranslated)),
            template=str(record.intent_template_id),
            revision=str(record.revision),
        )


def _parts(record: VerifiedRecord, requests: Requests) -> Iterator[Written | Untranslated]:
    asked = Counter(
        _address(one)
        for one in record.evaluators
        if isinstance(one, NetworkEvaluator) and not one.should_not_exist
    )
    for number, one in enumerate(record.evaluators):
        if isinstance(one, AnswerEvaluator):
            yield from response_checks(number, one)
        else:
            yield from requests.checks(number, one, is_one_of_several=asked[_address(one)] > 1)

    if _asks_for_nothing(record):
        yield Untranslated("eval", "asks for no more than the page that the task starts on")


def _asks_for_nothing(record: VerifiedRecord) -> bool:
    """Whether an agent that does nothing and says that it is done would be right."""
    answers = [one.expected for one in record.evaluators if isinstance(one, AnswerEvaluator)]
    if any(one.task_type == "retrieve" or one.status != "SUCCESS" for one in answers):
        return False
    starts = {one.rstrip("/") for one in record.start_urls}
    return all(
        one.should_not_exist or _is_start(one.expected, starts)
        for one in record.evaluators
        if isinstance(one, NetworkEvaluator)
    )


def _is_start(spec: EventSpec, starts: set[str]) -> bool:
    urls = [spec.url] if isinstance(spec.url, str) else spec.url
    is_plain = not (spec.query_params or spec.headers or spec.post_data)
    return (
        is_plain
        and spec.http_method == "GET"
        and starts.issuperset(one.rstrip("/") for one in urls)
    )


def _address(asked: NetworkEvaluator) -> tuple[object, str]:
    return asked.expected.url, asked.expected.http_method.upper()


def _start(entry: Entry, record: VerifiedRecord, addresses: Addresses) -> list[str]:
    try:
        return [addresses.logical(one) for one in record.start_urls]
    except UnknownAddressError as unknown:
        raise entry.fault(str(unknown), field="start_urls") from unknown


VERIFIED: Final = WebArenaVerified()
