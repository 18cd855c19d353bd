"""Format `mind2web-live`: the published files, and the raw export of the recording platform."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

from sites.upstreams import BLANK
from tasks.imports.formats import Entry, Translation, Untranslated, Written, written_out
from tasks.imports.mind2web.node_checks import node_checks
from tasks.imports.mind2web.records import Mind2WebRecord, RawExport
from tasks.imports.site_map import Hosts, NoHostError, SiteMap

# The published runner's limits: 1.5 times the recorded steps, between 10 and 25.
_FEWEST: Final = 10
_MOST: Final = 25
_SLACK: Final = 1.5
_SECONDS_A_STEP: Final = 60


class Mind2WebLive:
    """Reads the test file of 104 tasks, the 130 that came before it, and raw exports.

    The record of a task from a raw export is what the publisher's own processor makes of it, with
    the entry as it was exported under `raw_export`.
    """

    name = "mind2web-live"
    title = "Mind2Web-Live's tasks"

    def translate(self, entries: Sequence[Entry], sites: SiteMap) -> Iterator[Translation]:
        """Yield what the entries become, in their order."""
        sites.refuse_unknown({})
        hosts = Hosts(sites)
        for number, entry in enumerate(entries):
            if "steps" in entry.record and "evaluation" not in entry.record:
                published = entry.read_as(RawExport).published(number)
                whole = replace(entry, record={**published, "raw_export": entry.record})
            else:
                whole = entry
            yield self._translated(whole, whole.read_as(Mind2WebRecord), hosts)

    def _translated(self, entry: Entry, record: Mind2WebRecord, hosts: Hosts) -> Translation:
        parts = list(_parts(record, hosts))
        names = tuple(dict.fromkeys(_sites(record, hosts)))
        if not names:
            message = "no node is on a host of the web: nobody could visit it"
            raise entry.fault(message, field="evaluation")
        published = str(record.index)
        task: Written = {
            "id": f"mind2web-{re.sub('[^a-z0-9]+', '-', published.lower()).strip('-')}",
            "family": "navigation",
            "intent": record.task,
            "sites": list(names),
            "start": [BLANK],
            "worlds": ["online"],
            "limits": _limits(record),
            "checks": list(written_out(parts)),
        }
        return Translation(
            entry=entry,
            published_id=published,
            task=task,
            new_sites={name: hosts.new[name] for name in names if name in hosts.new},
            bases=hosts.bases(node.content.url for node in record.evaluation),
            untranslated=tuple(str(one) for one in parts if isinstance(one, Untranslated)),
        )


def _parts(record: Mind2WebRecord, hosts: Hosts) -> Iterator[Written | Untranslated]:
    """Yield each node once: one that stands twice would be met twice by one event."""
    seen: set[str] = set()
    for number, node in enumerate(record.evaluation):
        for part in node_checks(number, node, hosts):
            if isinstance(part, Untranslated):
                yield part
                continue
            same = json.dumps(part, sort_keys=True)
            if same not in seen:
                seen.add(same)
                yield {"name": f"node-{number}", "when": "step", **part, "required": True}


def _sites(record: Mind2WebRecord, hosts: Hosts) -> Iterator[str]:
    for node in record.evaluation:
        with suppress(NoHostError):
            yield hosts.site(node.content.url)


def _limits(record: Mind2WebRecord) -> Written:
    steps = min(_MOST, max(_FEWEST, round(_SLACK * record.reference_task_length)))
    return {"steps": steps, "seconds": steps * _SECONDS_A_STEP}


MIND2WEB_LIVE: Final = Mind2WebLive()
