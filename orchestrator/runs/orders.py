"""What each order to a run that is played does, and how it is written down."""

from __future__ import annotations

import base64
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import assert_never

from arena_core.errors import UsageError
from orchestrator.runs.control import Order, PlayingEpisode, RunState, Shown
from orchestrator.runs.film import Film
from orchestrator.runs.jobs import PlayedRun
from orchestrator.runs.steering import Steering
from orchestrator.runs.store.lock import Steered, user
from orchestrator.runs.store.secrets import without_secrets


@dataclass(frozen=True, slots=True)
class Orders:
    """Obeys orders, and notes each in the log and in the lock of every run that is played.

    Attributes:
        runs: which share `steering`, progress and budget.
        note: tells the user and the log.
    """

    steering: Steering
    runs: Sequence[PlayedRun]
    note: Callable[[str], None]

    def obey(self, order: Order) -> RunState:
        """Do what is asked, and return how the run stands then.

        Raises:
            UsageError: it cannot be done; nothing was changed then.
        """
        said = self._done(order)
        if order.do != "status":
            one = Steered(
                order=str(order), by=user(), at=datetime.now(UTC).isoformat(timespec="seconds")
            )
            self.note(f"steered by {one.by}: {one.order}: {said}")
            for run in self.runs:
                folder = run.attempt_runner.folder
                folder.rewrite_lock(lambda lock: lock.steered_by(one))
        return self._state(said)

    def show(self, order: Order) -> Shown:
        """Return an episode that is played now, with its evidence where it has a new step.

        Raises:
            UsageError: it is not played now.
        """
        episode = self.steering.named(order.episode or "").episode
        if episode is None:
            return Shown()
        evidence = episode.evidence()
        if len(evidence.steps) <= order.seen:
            return Shown(steps=len(evidence.steps))
        name = evidence.steps[-1].screenshot
        image = episode.files.get(name, b"") if name else b""
        return Shown(
            steps=len(evidence.steps),
            evidence=without_secrets(evidence).model_dump_json(),
            picture=base64.b64encode(image).decode(),
        )

    def film(self) -> AsyncGenerator[tuple[str, str], None]:
        """Yield names and pictures of the episodes that are played; see `Film.pictures`."""
        return Film(self.steering).pictures()

    def _done(self, order: Order) -> str:
        steering = self.steering
        match order.do:
            case "status" | "show" | "film":
                said = ""
            case "pause":
                steering.pause()
                said = "no further episode begins; those under way play to their end"
            case "go":
                steering.go()
                said = "episodes begin again"
            case "stop":
                name = steering.stop(order.episode or "")
                said = f"{name} stops after the step under way, and stays open"
            case "requeue":
                said = f"{steering.requeue()} in the queue again"
            case "workers":
                steering.set_workers(order.workers or 1)
                was_auto, steering.on_end = steering.on_end is not None, None
                said = f"at most {order.workers} side by side in each world"
                said += "; the number no longer follows the machine" if was_auto else ""
            case "limit":
                said = self._limited(order)
            case _:
                assert_never(order.do)
        return said

    def _limited(self, order: Order) -> str:
        if len(self.runs) > 1:
            hint = "end it, then arena study add STUDY --max-usd … (or --max-tokens), and study run"
            raise UsageError("a study's budget is registered", hint=hint)
        [run] = self.runs
        budget = run.attempt_runner.budget
        limits = budget.limits.changed(order.max_usd, order.max_tokens)
        run.attempt_runner.folder.rewrite_lock(lambda lock: lock.with_limits(limits))
        budget.limits = limits
        return budget.exhausted or "the budget is another one"

    def _state(self, said: str) -> RunState:
        first = self.runs[0].attempt_runner
        now = time.monotonic()
        return RunState(
            is_paused=self.steering.is_paused,
            workers=self.steering.workers,
            done=first.progress.done,
            total=first.progress.total,
            usd=first.budget.spent.usd,
            tokens=first.budget.spent.tokens,
            playing=tuple(
                PlayingEpisode(
                    episode=one.job.key.name,
                    run=one.job.run.name,
                    seconds=round(now - one.began, 1),
                    is_stopping=one.stop.is_own,
                )
                for one in self.steering.under_way
            ),
            said=said,
        )
