"""Format `webharbor`: WebHarbor's rows, each with a mirror and the live site that it stands for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Final
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field

from tasks.imports.formats import Entry, Translation, Untranslated, Written, end_check, written_out
from tasks.imports.site_map import Hosts, NoHostError, SiteMap

_STEPS: Final = 30
_SECONDS: Final = 1800
_NO_HOST: Final = re.compile(r"[^a-z0-9]+")

_Text = Annotated[str, Field(min_length=1)]


class WebHarborRecord(BaseModel):
    """A row of `sites/NAME/tasks.jsonl`: WebVoyager's fields, the live twin, and how it is graded.

    Attributes:
        web: where the mirror is served.
        upstream_url: the site that it mirrors.
        verifier_path: a program that reads the databases and steps which its own runner keeps.
        judge_rubric: what a model is told that judges those.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    web_name: _Text
    id: _Text
    ques: _Text
    web: _Text
    upstream_url: _Text
    verifier_path: str | None = None
    judge_rubric: str | None = None


class WebHarbor:
    """Reads `tasks.jsonl` of one site or of several: one task a row, in both worlds.

    The site that stands for a row is the one whose live origin is the row's `upstream_url`; the
    mirror is its replica. A row's grading is a program and a rubric on what WebHarbor's own runner
    keeps: no check says it, so no episode is a success by Arena's own score.
    """

    name = "webharbor"
    title = "WebHarbor's tasks"

    def translate(self, entries: Sequence[Entry], sites: SiteMap) -> Iterator[Translation]:
        """Yield what the entries become, in their order."""
        sites.refuse_unknown({})
        hosts = Hosts(sites)
        for entry in entries:
            record = entry.read_as(WebHarborRecord)
            try:
                site = hosts.site(record.upstream_url)
            except NoHostError as unknown:
                raise entry.fault(str(unknown), field="upstream_url") from unknown
            yield _translated(entry, record, site, hosts, sites)


def _translated(
    entry: Entry, record: WebHarborRecord, site: str, hosts: Hosts, sites: SiteMap
) -> Translation:
    parts = list(_parts(record))
    mirror = urlsplit(record.web)
    query = f"?{mirror.query}" if mirror.query else ""
    named = _NO_HOST.sub("-", record.id.lower()).strip("-")
    task: Written = {
        "id": f"webharbor-{named}",
        "family": "information",
        "intent": record.ques,
        "sites": [site],
        "start": [f"{site}:{mirror.path or '/'}{query}"],
        "worlds": ["offline", "online"],
        "limits": {"steps": _STEPS, "seconds": _SECONDS},
        "checks": list(written_out(parts)),
    }
    return Translation(
        entry=entry,
        published_id=record.id,
        task=task,
        new_sites={site: hosts.new[site]} if site in hosts.new else {},
        bases={f"{mirror.scheme}://{mirror.netloc}": sites.origin(site)},
        untranslated=tuple(str(one) for one in parts if isinstance(one, Untranslated)),
        template=record.web_name,
    )


def _parts(record: WebHarborRecord) -> Iterator[Written | Untranslated]:
    yield end_check("answer", {"by": "answer"}, {"how": "found"})
    if record.verifier_path:
        why = "is a program on databases and steps that its own runner keeps: export the run to it"
        yield Untranslated("verifier_path", why)
    if record.judge_rubric:
        yield Untranslated("judge_rubric", "is for a judge of screenshots, steps and databases")
    if not record.verifier_path and not record.judge_rubric:
        yield Untranslated("ques", "comes without anything that says what is right")


WEBHARBOR: Final = WebHarbor()
