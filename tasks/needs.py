"""What a task is said to ask of whoever does it: its tier, what makes it long, and how long."""

from __future__ import annotations

from enum import StrEnum
from typing import Self

from pydantic import Field, model_validator

from evaluators.checks import Computed
from sites.fields import Strict


class Tier(StrEnum):
    """How much work the tasks of a suite are: the hard ones prove that they are."""

    CORE = "core"
    BROAD = "broad"
    HARD = "hard"


class Dimension(StrEnum):
    """What makes a task difficult."""

    LENGTH = "length"
    MEMORY = "memory"
    ARITHMETIC = "arithmetic"
    SEARCH = "search"
    CONDITIONS = "conditions"
    SITES = "sites"
    EXCEPTIONS = "exceptions"
    IRREVERSIBILITY = "irreversibility"


class Work(StrEnum):
    """What is counted: rows to see, pages to open, look-ups that follow from others, rows to write.

    One form may write several rows, each after a look of its own.
    """

    ROWS = "rows"
    PAGES = "pages"
    LOOKUPS = "lookups"
    WRITES = "writes"


class Need(Strict):
    """A lower bound of the work that every right way of doing a task takes.

    Several of one kind are added up.

    Attributes:
        count: how much, where the task's own words say it.
        site, sql: or one SELECT that an untouched replica is asked, which finds one number.
    """

    what: Work
    count: int | None = Field(default=None, ge=1, exclude_if=lambda value: value is None)
    site: str | None = Field(default=None, exclude_if=lambda value: value is None)
    sql: str | None = Field(default=None, exclude_if=lambda value: value is None)

    @model_validator(mode="after")
    def _says_how_much_once(self) -> Self:
        if (self.site is None) != (self.sql is None):
            raise ValueError("`site` and `sql` belong together")
        if (self.count is None) == (self.sql is None):
            raise ValueError("how much is said by `count`, or asked by `sql`")
        return self

    @property
    def asked(self) -> Computed | None:
        """What a replica is asked for it; None where the number is written down."""
        if self.site is None or self.sql is None:
            return None
        return Computed(site=self.site, sql=self.sql)
