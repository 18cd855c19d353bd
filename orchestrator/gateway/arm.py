"""The arm of one episode: its variations as its gateway does them, and how often each did a thing.

Only replicas are varied, only for the agent. While a check reads, the arm rests: what it gets is
byte for byte what the site sent.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Final

from orchestrator.gateway.documents import AlteredDocument, with_script
from orchestrator.gateway.heads import ResponseHead
from orchestrator.gateway.policy import Route
from orchestrator.gateway.scripts import drawn, page_script_of, script_of
from orchestrator.gateway.variations import Variation, VariationKind

# Of a phone, in CSS pixels. Nothing else of it: a mouse stays a mouse, and a page that names no
# viewport is not laid out wide and shrunk, which would part places on the page from the picture.
_PHONE: Final = (390, 844)
_FLAKY: Final = VariationKind.NETWORK_FLAKY
# What these do is done in the agent's pages: what the site sent arrives byte for byte.
_IN_PAGES: Final = frozenset({VariationKind.LABELS, VariationKind.PAGE_MOVED})
_LEAVE_ANSWERS: Final = _IN_PAGES | {
    *(VariationKind.CONTENT, VariationKind.LOOK_MOBILE, VariationKind.NETWORK_SLOW)
}
_LEAVE_DOCUMENTS: Final = _IN_PAGES | {
    *(VariationKind.CONTENT, VariationKind.NETWORK_FLAKY, VariationKind.NETWORK_SLOW)
}
_NO_LABELS: Final[Mapping[str, str]] = {}


class Arm:
    """Varies what goes through one gateway.

    Args:
        variations: of different names.
        repeat: of the episode: what is drawn differs from repeat to repeat, and is the same for
            each agent.
        changed: how many sites begin otherwise than in the clean arm.
        labels: what it calls controls of pages: a new name by the site's own.
    """

    def __init__(
        self,
        variations: Sequence[Variation],
        *,
        repeat: int = 0,
        changed: int = 0,
        labels: Mapping[str, str] = _NO_LABELS,
    ) -> None:
        self._effects = {
            one: changed if one.kind is VariationKind.CONTENT else 0 for one in variations
        }
        self._repeat = repeat
        self._labels = labels
        self._asked: Counter[str] = Counter()
        self._refused: set[str] = set()  # what was refused when it was asked for last
        self._is_opening = False
        self._documents = 0
        self._readers = 0
        self._rest = asyncio.Event()

    @property
    def effects(self) -> Mapping[Variation, int]:
        """How often each did something: to documents, to requests, to the sites' data."""
        return self._effects

    def varies(self, route: Route) -> bool:
        """Whether a request to a route is varied now; to a live origin or a tape none is."""
        return not route.live and route.taped is None and not self._readers

    @contextlib.contextmanager
    def at_rest(self) -> Iterator[None]:
        """Vary nothing within the block; what was held up goes on at once."""
        self._readers += 1
        self._rest.set()
        try:
            yield
        finally:
            self._readers -= 1
            if not self._readers:
                self._rest.clear()

    @contextlib.contextmanager
    def opening(self) -> Iterator[None]:
        """Refuse nothing within the block: without its start pages there is no episode."""
        self._is_opening = True
        try:
            yield
        finally:
            self._is_opening = False

    def refuses(self, route: Route, path: str) -> bool:
        """Whether a GET for a document is refused; never a login, never twice in a row.

        The first one behind the start pages is, and the others as drawn. Were all drawn, the arm
        would have an effect on long episodes above all, and those fail more often by themselves.

        Nothing else is ever refused: a write may be half done, and a page that lacks a part of its
        own cannot be told from one that is so.
        """
        flaky = next((one for one in self._effects if one.kind is _FLAKY), None)
        if flaky is None or self._is_opening or route.is_login(path):
            return False
        asked = f"GET {route.origin}{path}"
        number = self._asked[asked]
        self._asked[asked] += 1
        if asked in self._refused:
            self._refused.remove(asked)
            return False
        share = (flaky.parameter or 0) / 100
        if self._effects[flaky] and drawn(flaky, self._repeat, asked, number) >= share:
            return False
        self._refused.add(asked)
        self._effects[flaky] += 1
        return True

    @property
    def is_flaky(self) -> bool:
        """Whether documents are refused now and then."""
        return any(one.kind is _FLAKY for one in self._effects)

    def may_be_refusal(self, status: int | None) -> bool:
        """Whether a page of this status may be a refusal of the arm's, and so none of a site's."""
        return self.is_flaky and status == HTTPStatus.SERVICE_UNAVAILABLE

    async def hold_up(self, route: Route, method: str, path: str) -> None:
        """Wait as a slow network would; a login is never held up.

        How long is drawn from seed, repeat, request and its number among equal ones: the order in
        which a browser sends the requests of a page is no matter.
        """
        if route.is_login(path):
            return
        for variation in self._effects:
            if variation.kind is not VariationKind.NETWORK_SLOW:
                continue
            asked = f"{method} {route.origin}{path}"
            number = self._asked[asked]
            self._asked[asked] += 1
            self._effects[variation] += 1
            seconds = wait_s(variation, self._repeat, asked, number)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._rest.wait()

    @property
    def meets_documents(self) -> bool:
        """Whether any variation is one of documents, or counts them."""
        return any(one.kind not in _LEAVE_DOCUMENTS for one in self._effects)

    @property
    def page_scripts(self) -> Mapping[Variation, str]:
        """What runs in the agent's pages beside their own scripts, see `page_script_of`."""
        found = {one: page_script_of(one, self._repeat, self._labels) for one in self._effects}
        return {one: script for one, script in found.items() if script is not None}

    def altered_page(self, variation: Variation) -> None:
        """Count a document that a script of `page_scripts` altered."""
        self._effects[variation] += 1

    @property
    def alters_answers(self) -> bool:
        """Whether the agent's browser gets anything else than what a site answered."""
        return any(one.kind not in _LEAVE_ANSWERS for one in self._effects)

    @property
    def window(self) -> tuple[int, int] | None:
        """The size of the agent's window; None where the arm does not say."""
        is_phone = any(one.kind is VariationKind.LOOK_MOBILE for one in self._effects)
        return _PHONE if is_phone else None

    def altered(self, response: ResponseHead, body: bytes) -> AlteredDocument | None:
        """Return a document as the agent gets it; None where it passes untouched."""
        number = self._documents + 1
        parts = {one: script_of(one, number) for one in self._effects}
        # An empty script tells whether this document counts, where none of it is altered.
        script = f"(()=>{{{''.join(parts.values())}document.currentScript.remove()}})()"
        found = with_script(response, body, script)
        if found is None:
            return None
        self._documents = number
        for one, part in parts.items():
            if part or one.kind is VariationKind.LOOK_MOBILE:
                self._effects[one] += 1
        return found if any(parts.values()) else None


def wait_s(variation: Variation, repeat: int, asked: str, number: int) -> float:
    """Return how long a request waits: from half the longest wait to all of it."""
    share = drawn(variation, repeat, asked, number)
    return (variation.parameter or 0) / 1000 * (0.5 + share / 2)
