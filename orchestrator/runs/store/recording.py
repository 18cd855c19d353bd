"""The replies of a run's model, for a replay: looked up by what is asked, never by its order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final, Self

from pydantic import JsonValue

from arena_core.errors import ReplayMissError, StoreError
from orchestrator.agents.model_exchange import ModelExchange
from orchestrator.episode.jsonl_files import KeptExchange, read_exchanges
from orchestrator.runs.store.digests import has_digest
from orchestrator.runs.store.lock import RunLock
from orchestrator.runs.store.run_folder import RunFolder

_SHOWN: Final = 60  # letters around the first difference


class Recording:
    """What a run asked its model, and what came back.

    A question of an episode is answered as the same episode (task, world, repeat) of the run was,
    and one that it asked several times as it was answered each time. What only other episodes
    asked is answered as they were, if all of them got the same answer.

    Args:
        run: its id.
        exchanges: by episode, as `offline-TASK-r0`.
        lock: of that run.
    """

    def __init__(
        self,
        run: str,
        exchanges: Mapping[str, Iterable[KeptExchange]],
        lock: RunLock | None = None,
    ) -> None:
        self.run, self.lock = run, lock
        self._of_episode = {episode: tuple(kept) for episode, kept in exchanges.items()}
        self._exact: dict[tuple[str, str, int], ModelExchange] = {}
        self._anywhere: defaultdict[str, list[ModelExchange]] = defaultdict(list)
        self._ambiguous: set[tuple[str, str, int]] = set()
        for episode, kept in self._of_episode.items():
            for one in kept:
                asked = (episode, one.sha256, one.exchange.occurrence)
                before = self._exact.setdefault(asked, one.exchange)
                if _said(before) != _said(one.exchange):
                    self._ambiguous.add(asked)
                self._anywhere[one.sha256].append(one.exchange)

    @classmethod
    def load(cls, folder: RunFolder) -> Self:
        """Read the exchanges of a run's finished episodes."""
        with folder.reading() as ledger:
            finished, digests = ledger.finished(), ledger.evidence_digests()
        for one in finished:
            saved = digests.get(one.folder)
            path = folder.evidence_folder(one.folder)
            if saved is not None and not has_digest(path, saved):
                message = f"{path}: was changed since it was saved, so nothing can be replayed"
                raise StoreError(message, hint="replay a run as it was saved")
        exchanges = {
            one.key.name: read_exchanges(folder.evidence_folder(one.folder)) for one in finished
        }
        if not any(exchanges.values()):
            message = f"{folder.path}: keeps no exchanges with a model, so nothing can be replayed"
            raise StoreError(message, hint="replay a run of a model agent")
        lock = folder.lock()
        return cls(lock.run, exchanges, lock)

    def answer(
        self, episode: str, sha256: str, occurrence: int, request: Mapping[str, JsonValue]
    ) -> ModelExchange:
        """Return the exchange that answers a question."""
        if (episode, sha256, occurrence) in self._ambiguous:
            raise self._miss(episode, "it holds two answers to this question")
        exact = self._exact.get((episode, sha256, occurrence))
        if exact is not None:
            return exact
        known = self._anywhere.get(sha256, [])
        if any((episode, sha256, earlier) in self._exact for earlier in range(occurrence)):
            raise self._miss(episode, f"it asked this only {occurrence} times, and now once more")
        if known and len({_said(one) for one in known}) == 1:
            return known[0]
        if known:
            raise self._miss(episode, "other episodes asked this, and were answered differently")
        raise self._miss(episode, self._difference(episode, request))

    def _miss(self, episode: str, why: str) -> ReplayMissError:
        message = f"the replayed run {self.run} has no answer for {episode}: {why}"
        hint = "a replay needs the same agent, options, suite and pages as the run it repeats"
        return ReplayMissError(message, hint=hint)

    def _difference(self, episode: str, request: Mapping[str, JsonValue]) -> str:
        """Say where a request parts from the one of the run that it has most in common with."""
        own = self._of_episode.get(episode, ())
        rest = [one for kept in self._of_episode.values() for one in kept[:1]]
        nearest: tuple[float, str] = (-1.0, "it asked nothing")
        for one in own or rest:
            common, words = _first_difference(one.exchange.request, request)
            nearest = max(nearest, (common, words), key=lambda found: found[0])
        return nearest[1]


def _said(exchange: ModelExchange) -> tuple[str | None, str | None]:
    return exchange.reply, exchange.error


def _first_difference(
    recorded: Mapping[str, JsonValue], asked: Mapping[str, JsonValue]
) -> tuple[float, str]:
    """Return how many letters two requests have in common before they part, and where."""
    before = 0
    flat, other = dict(_flat(recorded)), dict(_flat(asked))
    for name in dict.fromkeys([*flat, *other]):
        old, new = flat.get(name), other.get(name)
        if old == new:
            before += len(old or "")
            continue
        if old is None or new is None:
            return before, f"{name}: {_words(old)} in the run, {_words(new)} now"
        at = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), None)
        at = min(len(old), len(new)) if at is None else at
        if max(len(old), len(new)) <= _SHOWN:
            return before + at, f"{name}: {old!r} in the run, {new!r} now"
        start = max(0, at - _SHOWN // 3)
        cut = slice(start, start + _SHOWN)
        where = f"{name}, letter {at + 1}"
        return before + at, f"{where}: {old[cut]!r} in the run, {new[cut]!r} now"
    return before, "nothing that is kept differs"


def _flat(value: JsonValue | Mapping[str, JsonValue], path: str = "") -> Iterable[tuple[str, str]]:
    """Yield each leaf with its path, `messages[1].content`."""
    if isinstance(value, Mapping):
        for name, one in value.items():
            yield from _flat(one, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for index, one in enumerate(value):
            yield from _flat(one, f"{path}[{index}]")
    else:
        yield path, value if isinstance(value, str) else repr(value)


def _words(leaf: str | None) -> str:
    return "nothing" if leaf is None else repr(leaf[:_SHOWN])
