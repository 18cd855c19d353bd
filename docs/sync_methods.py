"""An extension of griffe: methods of `SyncArena` that are made of `Arena`'s are shown as such."""

from __future__ import annotations

from typing import Any

import griffe

_MADE_BY = ("_same", "_blocking")


class SyncMethods(griffe.Extension):
    """Puts functions with the signatures and docstrings of `Arena`'s in place of attributes."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Look at the whole package, once it is read."""
        if pkg.name != "orchestrator":
            return
        ours, theirs = pkg["api.sync.SyncArena"], pkg["api.arena.Arena"].all_members
        for name, member in list(ours.members.items()):
            if not isinstance(member, griffe.Attribute):
                continue
            method = theirs.get(name)
            if method and str(member.value).partition("(")[0] in _MADE_BY:
                ours.set_member(name, _function(method, member))


def _function(method: Any, made: griffe.Attribute) -> griffe.Function:
    return griffe.Function(
        made.name,
        lineno=made.lineno,
        endlineno=made.endlineno,
        parameters=method.parameters,
        returns=method.returns,
        docstring=griffe.Docstring(method.docstring.value, parser="google")
        if method.docstring
        else None,
    )
