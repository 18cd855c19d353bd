from __future__ import annotations

import json

import pytest
from support.studies.make_findings import AGENTS, LONG_AGENTS, make_findings

from arena_core.worlds import World


@pytest.mark.parametrize("agents", [AGENTS[:1], AGENTS[:2], LONG_AGENTS])
@pytest.mark.parametrize("worlds", [(World.OFFLINE,), tuple(World)])
def test_findings_are_one_json_document_with_every_figure(
    agents: tuple[str, ...], worlds: tuple[World, ...]
) -> None:
    document = json.loads(json.dumps(make_findings(agents, worlds).document(), allow_nan=False))

    assert [cell["cell"]["agent"] for cell in document["cells"]] == [
        agent for agent in agents for _ in worlds
    ]
    assert {tuple(cell["cell"]) for cell in document["cells"]} == {("agent", "suite", "world")}
    assert all(cell["wilson"].keys() == {"low", "high"} for cell in document["cells"])
    assert len(document["agreement"]) == (len(agents) if len(worlds) > 1 else 0)
