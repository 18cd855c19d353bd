"""Every mutation of every stateful site."""

from __future__ import annotations

from typing import Final

from mutations.cms import CMS
from mutations.files import FILES
from mutations.forum import FORUM
from mutations.kiosk import KIOSK
from mutations.shop import SHOP
from mutations.tables import ROWS, SCHEMA

MUTATIONS: Final = {
    "shop": (*SHOP, *FILES, *ROWS, *SCHEMA),
    "forum": (*FORUM, *FILES, *ROWS, *SCHEMA),
    "cms": (*CMS, *FILES, *ROWS, *SCHEMA),
    "kiosk": (*KIOSK, *FILES, *ROWS, *SCHEMA),
}
