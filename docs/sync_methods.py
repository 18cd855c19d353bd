"""An extension of griffe: methods of `SyncArena` that are made of `Arena`'s are shown as such."""

from __future__ import annotations

import re
from typing import Any

import griffe

_MADE = re.compile(r"_(?:same|blocking|opening)\((\w+)\.(\w+)\)")


class SyncMethods(griffe.Extension):
    """Puts functions with the signatures and docstrings of `Arena`'s in place of attributes."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Look at the whole package, once it is read."""
        if pkg.name != "orchestrator":
            return
        module = pkg["api.sync"]
        for ours in module.classes.values():
            for name, member in list(ours.members.items()):
                made = isinstance(member, griffe.Attribute) and _MADE.fullmatch(str(member.value))
                if made:
                    theirs = pkg[module[made[1]].target_path.removeprefix("orchestrator.")]
                    ours.set_member(name, _function(theirs.all_members[made[2]], member))


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
