"""What an agent names to say what it needs to see."""

from __future__ import annotations

import pytest

from arena_core.errors import UnknownNameError
from orchestrator.browser.observation import (
    ARIA,
    AXTREE,
    BOXES,
    HTML,
    IN_VIEWPORT,
    PRUNED_HTML,
    PRUNED_HTML_XML,
    SCREENSHOT,
    SOM,
)
from orchestrator.browser.observations.forms import (
    OBSERVATIONS,
    ObservationForm,
    load_form,
    require_form,
)

OWN = (AXTREE, ARIA, HTML, PRUNED_HTML, PRUNED_HTML_XML, SCREENSHOT, SOM, BOXES)


@pytest.mark.parametrize("name", [*OWN, *(name + IN_VIEWPORT for name in OWN)])
def test_each_form_of_arenas_is_there_for_the_page_and_for_the_viewport(name: str) -> None:
    require_form(name)
    assert isinstance(load_form(name), ObservationForm)


@pytest.mark.parametrize("name", ["x-ray", "x-ray@viewport", "axtree@page", "@viewport", ""])
def test_an_unknown_form_is_refused_up_front(name: str) -> None:
    with pytest.raises(UnknownNameError, match="there is no form of observation"):
        require_form(name)


def test_a_form_that_knows_no_viewport_is_refused_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    class Whole:
        async def observe(self, page: object) -> object:
            return page

    monkeypatch.setattr(type(OBSERVATIONS), "load", lambda *_: Whole())
    with pytest.raises(UnknownNameError, match="'lines' shows the whole page only"):
        require_form("lines@viewport")
