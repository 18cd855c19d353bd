"""The kinds of values that a site.yaml holds."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]{0,30}$")]
Host = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$")]
SitePath = Annotated[str, StringConstraints(pattern=r"^/")]
Port = Annotated[int, Field(ge=1, le=65535)]
Tag = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._/-]*:[A-Za-z0-9._-]+$")]


class Strict(BaseModel):
    """A frozen model that refuses fields it does not know."""

    model_config = ConfigDict(extra="forbid", frozen=True)
