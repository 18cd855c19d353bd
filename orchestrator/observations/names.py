"""What an agent names when it says what it needs to see: `axtree`, `html@viewport`."""

from __future__ import annotations

from dataclasses import dataclass

from arena_core.errors import UnknownNameError
from orchestrator.observation import IN_VIEWPORT
from orchestrator.observation_forms import OBSERVATIONS, ObservationForm, ObservedPage, ViewportForm


@dataclass(frozen=True, slots=True)
class _InViewport:
    """Fills `ObservationForm` with what another shows of the viewport alone."""

    form: ViewportForm

    async def observe(self, page: ObservedPage) -> object:
        return await self.form.observe_viewport(page)


def require_form(name: str) -> None:
    """Refuse a form of observation that there is not; what is plain is not imported for that.

    Raises:
        UnknownNameError: nothing of the name is registered, or it has no `@viewport`.
        PluginError: two distributions registered it, or it cannot be imported.
    """
    if name.endswith(IN_VIEWPORT):
        load_form(name)
    else:
        OBSERVATIONS.find(name)


def load_form(name: str) -> ObservationForm:
    """Return the form of observation of a name, with or without `@viewport`.

    Raises:
        UnknownNameError, PluginError: as `require_form`.
    """
    if not name.endswith(IN_VIEWPORT):
        return OBSERVATIONS.load(name)
    plain = name.removesuffix(IN_VIEWPORT)
    form = OBSERVATIONS.load(plain)
    if not isinstance(form, ViewportForm):
        message = f"the observation '{plain}' shows the whole page only: there is no '{name}'"
        raise UnknownNameError(message, hint=f"ask for '{plain}'")
    return _InViewport(form)
