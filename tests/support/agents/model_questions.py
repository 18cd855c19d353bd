"""Questions to a scripted model, as the tests of the model client ask them."""

from __future__ import annotations

from collections.abc import Coroutine

import pytest
from pydantic import SecretStr

from arena_core.errors import ModelError
from orchestrator.agents.model.client import ModelClient
from orchestrator.agents.model.completion import Completion
from orchestrator.agents.model.messages import ChatRole, Message
from orchestrator.agents.model.options import ModelOptions

KEY = "sk-arena-secret-0123456789"
HELLO = (Message(ChatRole.SYSTEM, "be brief"), Message(ChatRole.USER, "hello"))


def options(url: str, **changed: float) -> ModelOptions:
    return ModelOptions(
        name="scripted",
        url=url,
        key=SecretStr(KEY),
        temperature=changed.get("temperature", 0.0),
        attempt_s=changed.get("attempt_s", 5.0),
        deadline_s=changed.get("deadline_s", 10.0),
        retries=int(changed.get("retries", 2)),
    )


async def ask(model_options: ModelOptions, seed: int | None = None) -> Completion:
    client = ModelClient(model_options)
    try:
        return await client.ask(HELLO, seed=seed)
    finally:
        await client.close()


async def error_of(asking: Coroutine[None, None, Completion]) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await asking
    return caught.value
