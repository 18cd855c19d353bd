"""`arena` with the shop alone, under another owner than `up`: a person's own sites are left alone.

python3 apart.py OWNER WORDS…
"""

from __future__ import annotations

import sys

import sites.registry
from orchestrator.cli.entry import main
from orchestrator.sandbox.pool import slot_pool as pool

if __name__ == "__main__":
    pool.UP = sys.argv.pop(1)  # before any command imports it
    only = sites.registry.SiteRegistry({"shop": sites.registry.load_registry().site("shop")})
    sites.registry.load_registry = lambda extra=(): only
    main()
