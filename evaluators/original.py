"""Where a task came from: the record of the published set that it was imported from."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, JsonValue

from evaluators.fields import Slug
from sites.fields import Strict, written

Sha256 = Annotated[str, written(r"[0-9a-f]{64}", "a SHA-256 in 64 hexadecimal digits")]


class OriginalTask(Strict):
    """One task as its publisher wrote it, unchanged: all that a compatible reading scores by.

    Attributes:
        format: of the published set, as `arena tasks import` names it: `webarena`.
        id: the task's own id, as text.
        file_sha256: of the file that it was read from.
        revision: the publisher's version or commit, where the file says one.
        template: the publisher's id of the template that it is an instance of.
        record: the whole entry.
        bases: what a placeholder or host of the record stands for in the URLs of the replicas, as a
            browser shows them and without a slash at the end: `__SHOPPING_ADMIN__` is
            `http://shop.arena.test/admin`.
        untranslated: what of it Arena's own checks do not say, and why, one line each.
    """

    format: Slug
    id: str
    file_sha256: Sha256
    revision: str | None = None
    template: str | None = None
    record: dict[str, JsonValue]
    bases: dict[str, str] = Field(default_factory=dict)
    untranslated: tuple[str, ...] = Field(default=())
