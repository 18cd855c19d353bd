"""Large replies of the browser are read into what is needed of them."""

from __future__ import annotations

import msgspec
import pytest

from arena_core.errors import BrowserError
from orchestrator.browser.tabs.cdp_channel import decode


class Said(msgspec.Struct):
    """A shape."""

    text: str


def test_half_a_surrogate_pair_is_read_as_it_is() -> None:
    assert decode('{"text": "a\\ud800b", "more": 1}', Said).text == "a\ud800b"


@pytest.mark.parametrize("text", ['{"text": 1}', "{}", "{", "[]"])
def test_what_has_another_shape_is_an_error_of_the_browser(text: str) -> None:
    with pytest.raises(BrowserError, match="an invalid reply"):
        decode(text, Said)
