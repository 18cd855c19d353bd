"""A running replica of a site."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.engine import Container, Endpoint
from sites.manifest import Site


@dataclass(frozen=True, slots=True, kw_only=True)
class Replica:
    """One healthy container of a site's sealed image.

    Attributes:
        endpoint: where its HTTP port is published.
        database: where its database port is published; None where the site has none.
        golden: digest of the image's state; empty for a site whose image was never sealed.
    """

    site: Site
    container: Container
    endpoint: Endpoint
    database: Endpoint | None
    golden: str
