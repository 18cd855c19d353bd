"""Formats `webarena` and `visualwebarena`: WebArena's tasks, and VisualWebArena's copy of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from arena_core.names import offered
from tasks.imports.formats import Entry, Translation, Untranslated, Written, written_out
from tasks.imports.site_map import SiteMap
from tasks.imports.webarena.answer_checks import answer_checks, is_unachievable
from tasks.imports.webarena.page_checks import page_checks, page_looks, url_checks
from tasks.imports.webarena.records import SITES, Addresses, UnknownAddressError, WebArenaRecord

# run.py's own limit, and a minute for each step.
STEPS: Final = 30
SECONDS: Final = 1800
_TABS: Final = " |AND| "
_STATE: Final = "_state.json"


@dataclass(frozen=True, slots=True)
class WebArenaTasks:
    """Reads `config_files/test.raw.json`, the expanded `test.json`, and files of single tasks."""

    name: str
    title: str

    def translate(self, entries: Sequence[Entry], sites: SiteMap) -> Iterator[Translation]:
        """Yield what the entries become, in their order."""
        read = [(entry, entry.read_as(WebArenaRecord)) for entry in entries]
        addresses = Addresses.of(sites, ((one.sites, one.start_url or "") for _, one in read))
        for entry, record in read:
            yield self._translated(entry, record, sites, addresses)

    def _translated(
        self, entry: Entry, record: WebArenaRecord, sites: SiteMap, addresses: Addresses
    ) -> Translation:
        bases = addresses.in_replicas()
        parts = list(_parts(record, addresses, bases))
        family = family_of(record)
        names = [mapped_site(entry, name, sites) for name in record.sites]
        task: Written = {
            "id": f"{self.name}-{record.task_id}",
            "family": family,
            "intent": record.intent,
            "sites": list(dict.fromkeys(one for one, _ in names)),
            "roles": _roles(record, sites),
            "start": _start(entry, record, addresses),
            "worlds": ["offline"],
            "limits": {"steps": STEPS, "seconds": SECONDS},
            "checks": list(written_out(parts)),
        }
        looks = list(page_looks(record.evaluation, addresses, bases))
        if looks:
            task["looks"] = looks
        if family == "unachievable":
            task["why"] = record.evaluation.string_note or "the published gold is N/A"
        if record.intent_template_id is not None:
            task["template"] = f"{self.name}-t{record.intent_template_id}"
        return Translation(
            entry=entry,
            published_id=str(record.task_id),
            task=task,
            bases=bases,
            untranslated=tuple(str(one) for one in parts if isinstance(one, Untranslated)),
            template=None if record.intent_template_id is None else str(record.intent_template_id),
        )


def _parts(
    record: WebArenaRecord, addresses: Addresses, bases: dict[str, str]
) -> Iterator[Written | Untranslated]:
    for kind in record.evaluation.eval_types:
        match kind:
            case "string_match":
                yield from answer_checks(record, bases)
            case "url_match":
                yield from url_checks(record.evaluation, addresses)
            case "program_html":
                yield from page_checks(record.evaluation, addresses, bases)
            case _:
                yield Untranslated("eval.eval_types", f"holds '{kind}', which WebArena has not")
    if not record.evaluation.eval_types:
        yield Untranslated("eval.eval_types", "is empty: the published code accepts everything")


def family_of(record: WebArenaRecord) -> str:
    """Return the family of a task: by what its evaluation looks at."""
    kinds = record.evaluation.eval_types
    if is_unachievable(record.evaluation):
        return "unachievable"
    if "program_html" in kinds:
        return "content"
    return "information" if "string_match" in kinds else "navigation"


def mapped_site(entry: Entry, name: str, sites: SiteMap) -> tuple[str, str | None]:
    """Return the site here and its role."""
    found = sites.site(name, SITES)
    if found is None:
        message = f"'{name}' is no site of WebArena; {offered(name, SITES, intro='it has')}"
        raise entry.fault(message, field="sites")
    return found.site, found.role


def _roles(record: WebArenaRecord, sites: SiteMap) -> dict[str, str]:
    """Return who is logged in: on the sites that the file of cookies is called after."""
    if record.storage_state is None:
        return {}
    file = PurePosixPath(record.storage_state).name
    found: dict[str, str] = {}
    for name in file.removesuffix(_STATE).split("."):
        mapped = sites.site(name, SITES)
        if mapped is not None and mapped.role is not None and name in record.sites:
            found[mapped.site] = mapped.role
    return found


def _start(entry: Entry, record: WebArenaRecord, addresses: Addresses) -> list[str]:
    if record.start_url is None:
        raise entry.fault("must be a URL: the task starts nowhere", field="start_url")
    try:
        return [addresses.logical(one) for one in record.start_url.split(_TABS)]
    except UnknownAddressError as unknown:
        raise entry.fault(str(unknown), field="start_url") from unknown


WEBARENA: Final = WebArenaTasks("webarena", "WebArena's tasks")
VISUALWEBARENA: Final = WebArenaTasks("visualwebarena", "WebArena's tasks in VisualWebArena")
