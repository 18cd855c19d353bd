"""The replies of a run's model, for a replay: looked up by what is asked, never by its order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final, Self

from pydantic import JsonValue

from arena_core.errors import ReplayMissError, StoreError
from orchestrator.model_exchange import ModelExchange
from orchestrator.store.exchange_lines import KeptExchange, read_exchanges
from orchestrator.store.run_folder import RunFolder

_SHOWN: Final = 60  # letters around the first difference


class Recording:
    """What a run asked its model, and what came back.

    A question of an episode is answered as the same episode (task, world, repeat) of the run was,
    and one that it asked several times as it was answered each time. What only other episodes
    asked is answered as they were, if all of them got the same answer.

    Args:
        run: its id.
        exchanges: by episode, as `offline-TASK-r0`.
    """

    def __init__(self, run: str, exchanges: Mapping[str, Iterable[KeptExchange]]) -> None:
        self.run = run
        self._of_trial = {trial: tuple(kept) for trial, kept in exchanges.items()}
        self._exact: dict[tuple[str, str, int], ModelExchange] = {}
        self._anywhere: defaultdict[str, list[ModelExchange]] = defaultdict(list)
        for trial, kept in self._of_trial.items():
            for one in kept:
                self._exact[trial, one.sha256, one.exchange.occurrence] = one.exchange
                self._anywhere[one.sha256].append(one.exchange)

    @classmethod
    def load(cls, folder: RunFolder) -> Self:
        """Read the exchanges of a run's finished episodes.

        Raises:
            StoreError: the run cannot be read, or keeps no exchanges: it asked no model, or an
                earlier Arena made it.
        """
        with folder.reading() as ledger:
            finished = ledger.finished()
        exchanges = {
            one.trial.name: read_exchanges(folder.evidence_folder(one.folder)) for one in finished
        }
        if not any(exchanges.values()):
            message = f"{folder.path}: keeps no exchanges with a model, so nothing can be replayed"
            raise StoreError(message, hint="replay a run of a model agent")
        return cls(folder.lock().run, exchanges)

    def answer(
        self, trial: str, sha256: str, occurrence: int, request: Mapping[str, JsonValue]
    ) -> ModelExchange:
        """Return the exchange that answers a question.

        Args:
            trial: of which episode it is, as `offline-TASK-r0`.
            sha256: the hash of the request.
            occurrence: how often the episode asked the same before.
            request: its body, to say what differs.

        Raises:
            ReplayMissError: the run never asked this, or not so often; says what differs first.
        """
        exact = self._exact.get((trial, sha256, occurrence))
        if exact is not None:
            return exact
        known = self._anywhere.get(sha256, [])
        if any((trial, sha256, earlier) in self._exact for earlier in range(occurrence)):
            raise self._miss(trial, f"it asked this only {occurrence} times, and now once more")
        if known and len({(one.reply, one.error) for one in known}) == 1:
            return known[0]
        if known:
            raise self._miss(trial, "other episodes asked this, and were answered differently")
        raise self._miss(trial, self._difference(trial, request))

    def _miss(self, trial: str, why: str) -> ReplayMissError:
        message = f"the replayed run {self.run} has no answer for {trial}: {why}"
        hint = "a replay needs the same agent, options, suite and pages as the run it repeats"
        return ReplayMissError(message, hint=hint)

    def _difference(self, trial: str, request: Mapping[str, JsonValue]) -> str:
        """Say where a request parts from the one of the run that it has most in common with."""
        own = self._of_trial.get(trial, ())
        rest = [one for kept in self._of_trial.values() for one in kept[:1]]
        nearest: tuple[float, str] = (-1.0, "it asked nothing")
        for one in own or rest:
            common, words = _first_difference(one.exchange.request, request)
            nearest = max(nearest, (common, words), key=lambda found: found[0])
        return nearest[1]


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
