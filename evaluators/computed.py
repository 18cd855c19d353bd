"""Where the expected value of a check comes from, so that a wrong key cannot hide."""

from __future__ import annotations

import re
from typing import Self

from pydantic import BaseModel, ConfigDict, model_validator

from sites.fields import SitePath


class Computed(BaseModel):
    """Asks an untouched replica for the value that a check expects in the offline world.

    One of `sql`, `page` and `path` says how; each yields values as the locator of that kind does.

    Attributes:
        sql: one SELECT on the site's database.
        page: a logical path, opened with the task's logins; `selector` says what of it.
        attribute: of the elements found, in place of their visible text.
        path: path and query of a JSON answer, fetched with the task's logins.
        role: asks with this role's API login instead of the logins in the browser.
        json_path: what of it; the whole body as text where omitted.
        pattern: a regular expression; each value becomes what its one group finds in it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    site: str
    sql: str | None = None
    page: SitePath | None = None
    selector: str | None = None
    attribute: str | None = None
    path: SitePath | None = None
    role: str | None = None
    json_path: str | None = None
    pattern: str | None = None

    @model_validator(mode="after")
    def _asks_one_way(self) -> Self:
        if [self.sql, self.page, self.path].count(None) != 2:  # noqa: PLR2004
            message = "is computed by one of `sql`, `page` and `path`"
        elif (self.page is None) != (self.selector is None):
            message = "`page` and `selector` belong together"
        elif self.attribute is not None and self.page is None:
            message = "`attribute` is one of elements on a `page`"
        elif self.path is None and (self.json_path, self.role) != (None, None):
            message = "`json_path` and `role` go with a `path`"
        else:
            return self
        raise ValueError(message)

    @model_validator(mode="after")
    def _pattern_has_one_group(self) -> Self:
        if self.pattern is None:
            return self
        try:
            groups = re.compile(self.pattern).groups
        except re.error as cause:
            message = f"`pattern` is no regular expression: {cause}"
            raise ValueError(message) from cause
        if groups != 1:
            message = f"`pattern` needs one group: it has {groups}"
            raise ValueError(message)
        return self

    def read(self, values: tuple[str, ...]) -> tuple[str, ...]:
        """Return what the pattern's group finds in each value; the values where there is none.

        A value that the pattern does not fit yields nothing.
        """
        if self.pattern is None:
            return values
        found = (re.search(self.pattern, value) for value in values)
        return tuple(one[1] for one in found if one is not None and one[1] is not None)
