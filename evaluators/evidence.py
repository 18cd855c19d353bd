"""Everything an episode leaves behind that scoring may read, as it stands in evidence.json."""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from arena_core.actions import Action, AnswerStatus
from arena_core.foreign_fields import Kept, KeptParts, Text
from arena_core.worlds import World
from evaluators.barred_sites import BarredSite
from evaluators.judgements import Judgement
from evaluators.network import RequestRecord
from evaluators.tape_misses import MissedRequest
from evaluators.user import UserReply

SCHEMA_VERSION = 2


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ElementEvent(StrEnum):
    """An event that the page watcher reports.

    A double click is two clicks, and the middle button clicks as the left one does; what the right
    button does is `context_menu`. `drag` and `drop` are the two ends of a drag.
    """

    CLICK = "click"
    CONTEXT_MENU = "context_menu"
    DRAG = "drag"
    DROP = "drop"
    INPUT = "input"
    CHANGE = "change"
    SUBMIT = "submit"


class UrlVisit(_Record):
    """A URL that a tab committed to, history entries by script included.

    `logical` is `site:/path?query#fragment`, None for a page of no site. `status` is the HTTP
    status that the document came with, that of a history entry its document's; None where it is
    not known, as in evidence of earlier versions. A visit that a script of the agent's made, by
    `history.pushState` and the like, is not `trusted`; it is `confirmed` where the site was asked
    for that address as well.
    """

    tab: int
    url: Text
    logical: Text | None
    same_document: bool = False
    status: int | None = None
    trusted: bool = Field(default=True, exclude_if=lambda value: value)
    confirmed: bool = Field(default=False, exclude_if=lambda value: not value)

    @property
    def counts(self) -> bool:
        """Whether it is a visit, and not an address that a script of the agent's made up."""
        return self.trusted or self.confirmed


class SelectorFit(_Record):
    """How far an element acted on is from those that a selector finds in its document.

    Attributes:
        distance: 0 where it is one of them, n where it is the n-th ancestor of one (the nearest
            counts); None where it is neither.
        first: the same of the first element alone that the selector finds.
    """

    selector: Text
    distance: int | None
    first: int | None


class ActedElement(_Record):
    """An event on an element, reported by the page watcher before the page handled it.

    Attributes:
        path: a CSS path that was unique in its document at that moment.
        value: the element's live value; the chosen option's label for a select; never a password.
        logical: the page's logical URL.
        trusted: the browser made the event, from an input; a script of the agent's did otherwise.
        fits: for each selector of the task's checks, in any order; see `SelectorFit`.
        confirmed: of an event that a script made, whether the page bore it out when it had settled:
            the field still had the value, or something changed after the click.
    """

    event: ElementEvent
    path: Text
    tag: Text
    role: Text
    name: Text
    text: Text
    value: Text | None
    logical: Text | None
    trusted: bool = True
    confirmed: bool = False
    fits: tuple[SelectorFit, ...] = ()


class RequestNote(_Record):
    """A request that the gateway or the browser session refused, or that may have written."""

    method: Text
    url: Text
    site: Text | None
    may_write: bool
    refused: Text | None = None


class Timings(_Record):
    """Milliseconds of each phase of a step."""

    decide_ms: float = 0.0
    act_ms: float = 0.0
    settle_ms: float = 0.0
    locate_ms: float = 0.0
    observe_ms: float = 0.0


class Located(_Record):
    """What a locator found for one check: its values, or why it could not look.

    An empty tuple means it looked and found nothing. `error` means it could not look: the check
    then has no verdict, which is never a failure of the agent. `data` is what else the locator
    kept; matchers do not see it.
    """

    check: Text
    values: tuple[Text, ...] = ()
    error: Text | None = None
    data: KeptParts = Field(default_factory=dict)


class StepEvidence(_Record):
    """One action and what it changed; step 0 is the opening of the start pages, with no action.

    Attributes:
        error: why the action could not be done, as the agent saw it.
        url: the current tab's URL after the page settled; `logical` its logical form.
        status: the HTTP status of the current tab's document, see `UrlVisit`.
        requests: count of the requests the gateway saw in this step; `notes` the special ones.
        located: what `page` key nodes found on the agent's own page after this step.
        thought: what the agent gave as its reason, if it gave one.
        screenshot: file name beside the evidence.
        login: site and role that the current tab is logged in as, `shop: merchant`, where the task
            has several roles of a site.
        is_forged: the current tab's address is the doing of a script of the agent's, as a visit
            that is neither trusted nor confirmed.
        reply: what the user answered, where the action asked them.
        retry_after: the header of that name of a document with status 429 or 503, as it was sent,
            at most 100 characters of it.
    """

    index: int
    action: Action | None
    error: Text | None = None
    url: Text
    logical: Text | None
    title: Text
    visits: tuple[UrlVisit, ...] = ()
    acted: tuple[ActedElement, ...] = ()
    requests: int = 0
    notes: tuple[RequestNote, ...] = ()
    located: tuple[Located, ...] = ()
    timings: Timings = Timings()
    settled: bool = True
    thought: Text | None = None
    screenshot: Text | None = None
    login: Text | None = None
    status: int | None = None
    is_forged: bool = Field(default=False, exclude_if=lambda value: not value)
    retry_after: Text | None = Field(default=None, exclude_if=lambda value: value is None)
    reply: UserReply | None = Field(default=None, exclude_if=lambda value: value is None)


class MiniWobRecord(_Record):
    """One episode of a MiniWoB++ page: what it asked for, and how it ended it.

    Attributes:
        utterance: what the page asked for, in its words: the agent's intent.
        fields: what the page gave beside it as the parts of its problem, JSON; kept from agents.
        raw: the reward as the page gave it; `reward` the same after the page's decay by time. None
            where the page had not ended the episode.
        reason: what the page gave as its reason.
        was_left: the page was left, reloaded or closed before it ended the episode.
    """

    page: Text
    seed: int
    mode: Text | None = None
    utterance: Text
    fields: Text | None = None
    raw: float | None = None
    reward: float | None = None
    reason: Text | None = None
    was_left: bool = False


class Ended(StrEnum):
    """How an episode came to its end.

    `not_started`: what the task requires did not hold. `infeasible`: the agent said that the task
    cannot be done, and why; it gave no answer. `agent_crashed`: an agent that is not
    Arena's own raised an exception of no known kind, or its program ended with an error, or a page
    that it drives over CDP crashed or hangs; it is the agent's doing, like giving up.
    `page_ended`, `page_left`: of a MiniWoB++ page, which ends its episode itself, or is gone
    before.
    """

    NOT_STARTED = "not_started"
    STOPPED = "stopped"
    INFEASIBLE = "infeasible"
    STEP_LIMIT = "step_limit"
    DEADLINE = "deadline"
    AGENT_GAVE_UP = "agent_gave_up"
    AGENT_CRASHED = "agent_crashed"
    PAGE_ENDED = "page_ended"
    PAGE_LEFT = "page_left"


class UnscoredReason(StrEnum):
    """Why an episode has no score.

    `blocked`: a live site let nobody in, or no longer, by its last answers.
    `not_found_at_start`: a start page answered with an error, so the agent was never started.
    `budget`: what the run may spend on models was spent before it was over.
    `replay_miss`: it asked its model what the run that is replayed never asked.
    `judge_unavailable`: no judge has said whether a text is right; `arena judge run` asks one.
    `internal`: a bug of Arena's, an exception that no code expected.
    `tape_miss`: it failed, and was led to what its site's tape does not hold.
    `void_arm`: a variation of the run's arm had no effect on the task, so it measured nothing.
    `unreadable`: it was played, and its evidence on disk cannot be read any more.
    `fork`: a branch could not be proven equal to the checkpoint that it goes on from.
    """

    INFRA = "infra"
    BLOCKED = "blocked"
    DRIFTED = "drifted"
    NOT_FOUND_AT_START = "not_found_at_start"
    CHECK_ERROR = "check_error"
    BUDGET = "budget"
    REPLAY_MISS = "replay_miss"
    JUDGE_UNAVAILABLE = "judge_unavailable"
    INTERNAL = "internal"
    UNREADABLE = "unreadable"
    FORK = "fork"
    VOID_ARM = "void_arm"
    TAPE_MISS = "tape_miss"


class EpisodeFault(_Record):
    """Why an episode broke off before it could be scored.

    `place` is where a bug lies, as `file:line function`; None for what is no bug. `unreachable` is
    the site whose live origin did not answer; None for every other fault.
    """

    reason: UnscoredReason
    message: Text
    place: Text | None = None
    unreachable: Text | None = Field(default=None, exclude_if=lambda value: value is None)

    @property
    def because(self) -> str:
        """The message, with the place of a bug."""
        return self.message if self.place is None else f"{self.message} at {self.place}"


class Verification(StrEnum):
    """How a receipt knows that the state is golden.

    `fingerprint`: the whole state was read. `counters`: it was read before, and since then neither
    the database's counters nor a stateful file moved. `image`: the replica is a new container of
    the sealed image, and its manifest names nothing of its state that could be read.
    """

    FINGERPRINT = "fingerprint"
    COUNTERS = "counters"
    IMAGE = "image"


class Receipt(_Record):
    """The proof of one reset.

    Attributes:
        strategy: how it was reset to golden.
        seconds: the whole reset, its proof included.
        before, after: fingerprints; `before` is None where it was not taken.
        golden: what `after` must equal.
        differences: what differed from golden before the reset, one line each.
        proof: how `after` is known.
        fallbacks: strategies that were tried before and why each was not enough, one line each.
        swapped: the episode got this replica at once, instead of the one used before it.
        waited: seconds that the episode waited for the replica.
        is_start: `golden` is not the image's own state, but another one that the episode began in.
    """

    site: Text
    strategy: Text
    seconds: float
    before: Text | None
    after: Text
    golden: Text
    differences: tuple[Text, ...] = ()
    proof: Verification = Verification.FINGERPRINT
    fallbacks: tuple[Text, ...] = ()
    swapped: bool = False
    waited: float = 0.0
    is_start: bool = Field(default=False, exclude_if=lambda value: not value)

    @property
    def proven(self) -> bool:
        """Whether the state after the reset is golden."""
        return self.after == self.golden


class AgentResponse(_Record):
    """A structured ending: how the agent says that the task ended, and what it found.

    Attributes:
        data: what it found, as JSON; None for nothing.
        reason: why the task cannot be done, as the agent says.
    """

    status: AnswerStatus = AnswerStatus.DONE
    data: Kept = None
    reason: Text | None = None


class TriedWay(_Record):
    """A way in which the pages of a branch did not come back equal, and what differed first."""

    pages: Text
    because: Text


class Branch(_Record):
    """The checkpoint that an episode goes on from, and how its pages came back.

    Attributes:
        root: the id of the episode whose steps it shares, `RUN/EPISODE` where a run recorded it;
            branches of one root depend on each other, and are one cluster in every statistic.
        checkpoint: its name.
        step: the last step that is shared.
        pages: `document`, `actions` or `start`, see `orchestrator.episode.checkpoint.PageWay`;
            empty where the episode broke off before it came back.
        replayed: how many actions were done again for the pages.
        states: by site, the digest of the fingerprint that its replica was proven to have.
        tried: the ways that did not lead to an equal page, in their order; all where the branch is
            `unscored: fork`. Empty in evidence of earlier versions.
        told: its agent was told what was done before the checkpoint, as a past of its own.
    """

    root: Text
    checkpoint: Text
    step: int
    pages: Text
    replayed: int = 0
    states: dict[Text, Text] = Field(default_factory=dict)
    tried: tuple[TriedWay, ...] = ()
    told: bool = False


class PersonTimes(_Record):
    """How long a person took, from Start until they said that they were done or time was up.

    Attributes:
        seconds: without the pauses that they took.
        paused: seconds of these.
        pauses: how many they were.
    """

    seconds: float
    paused: float = 0.0
    pauses: int = 0


class Varied(_Record):
    """What one variation of the run's arm did in this attempt.

    Attributes:
        variation: with its parameter, seed and version, such as `page=notice@3,v1`.
        count: documents that were altered for the agent or shown in a small window; of `network`,
            requests that were held up or refused; of `content`, sites that begin otherwise.
    """

    variation: Text
    count: int


class ConsentGiven(_Record):
    """What Arena clicked on a live site before the agent began, as its manifest says."""

    site: Text
    role: Text
    name: Text


class HostUse(_Record):
    """What a live host got from one episode, as its browser reports it.

    Attributes:
        requests: those that were sent, and answered from the browser's cache.
        bytes: of the answers, with their heads, as they came.
        writes_stopped: requests that were not sent, because the site is read-only.
        client_errors, server_errors: answers 4xx and 5xx.
        rate_limited: answers 429.
    """

    host: Text
    requests: int = 0
    bytes: int = 0
    writes_stopped: int = 0
    client_errors: int = 0
    server_errors: int = 0
    rate_limited: int = 0


class Evidence(_Record):
    """One attempt at one task in one world.

    Attributes:
        run: the id of the run; None in evidence of earlier versions, and until it is saved.
        answer: what the agent said, as text; data without words as JSON.
        response: the same where it was structured; None where it was plain text.
        required: what the task's `requires` checks found before the agent started.
        located: what end checks found.
        fault: set where the attempt broke off; such evidence is never a failure.
        receipts: of the resets that made this slot ready for the attempt.
        staged: sites whose live origin was a staged stand-in.
        input_tokens, output_tokens: what the agent's model reported, 0 for agents without one.
        usd: what they cost; None for an agent without a model, and where a price is unknown.
        replayed_from: the run whose replies answered the agent: tokens and cost are that run's, and
            were not spent again.
        miniwob: the episode of the MiniWoB++ page, where the task is one.
        network: the requests of the browser, where the task asks for them; None where they were not
            recorded. They are kept in a file of their own beside evidence.json.
        network_fault: why they are not all there.
        judgements: what judges replied; a run keeps them in a file of their own.
        branch: where it goes on from a checkpoint; None for an episode from its start.
        varied: how the world differed that the agent met; empty in the clean arm.
        consent: questions about consent that were answered before the agent began.
        hosts: what each live host got; empty offline, and in evidence of earlier versions.
        person: how long it took the person who played it; None where an agent did.
        tape_misses: what tapes had no answer to; empty where no tape answered for a site.
        tape_answers: how many requests tapes answered, by how exactly those matched.
        barred: live sites that no longer let the agent in; see `evaluators.barred_sites`.
    """

    model_config = ConfigDict(populate_by_name=True, serialize_by_alias=True)

    version: int = SCHEMA_VERSION
    suite: Text
    task: Text
    world: World
    agent: Text
    repeat: int
    attempt: int
    run: Text | None = None
    started_at: Text
    seconds: float
    answer: Text | None = None
    response: AgentResponse | None = None
    ended: Ended | None = None
    ended_because: Text | None = None
    steps: tuple[StepEvidence, ...] = ()
    required: tuple[Located, ...] = ()
    located: tuple[Located, ...] = ()
    fault: EpisodeFault | None = None
    receipts: tuple[Receipt, ...] = ()
    staged: tuple[Text, ...] = ()
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = None
    replayed_from: Text | None = None
    miniwob: MiniWobRecord | None = Field(default=None, alias="wob")
    network: tuple[RequestRecord, ...] | None = None
    network_fault: Text | None = None
    judgements: tuple[Judgement, ...] = ()
    branch: Branch | None = Field(default=None, exclude_if=lambda branch: branch is None)
    varied: tuple[Varied, ...] = Field(default=(), exclude_if=lambda value: not value)
    tape_misses: tuple[MissedRequest, ...] = Field(default=(), exclude_if=lambda value: not value)
    tape_answers: dict[Text, int] = Field(default_factory=dict, exclude_if=lambda value: not value)
    consent: tuple[ConsentGiven, ...] = Field(default=(), exclude_if=lambda value: not value)
    hosts: tuple[HostUse, ...] = Field(default=(), exclude_if=lambda value: not value)
    barred: tuple[BarredSite, ...] = Field(default=(), exclude_if=lambda value: not value)
    person: PersonTimes | None = Field(default=None, exclude_if=lambda value: value is None)

    @property
    def played_seconds(self) -> float:
        """How long it was played: a person's own time, else the whole attempt."""
        return self.seconds if self.person is None else self.person.seconds
