from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from arena_core.actions import Back, Click, Goto, NewTab
from arena_core.errors import BrowserError
from evaluators.evidence import Ended, MiniWobRecord
from orchestrator.episode.protocol import MiniwobProtocol
from tasks.schema import MiniWobStart

if TYPE_CHECKING:
    from browser.session.conftest import Drive

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

# The protocol of `core.js` in as few lines as it takes; the reward decays by time as there.
PAGE = """
<title>Small</title>
<script>
var WOB_DONE_GLOBAL = false, WOB_RAW_REWARD_GLOBAL = 0, WOB_REWARD_GLOBAL = 0;
var WOB_REWARD_REASON = null, WOB_TASK_READY = %(ready)s;
Math.seedrandom = (seed) => { window.seeded = [typeof seed, seed]; };
const core = {
  EPISODE_MAX_TIME: 10000,
  setDataMode(mode) { window.mode = mode; },
  getUtterance() { return %(utterance)s; },
  startEpisode() {
    for (const id of ["reward-display", "click-canvas", "sync-task-cover"]) {
      const part = document.body.appendChild(document.createElement("div"));
      part.id = id; part.textContent = "part " + id; part.style.display = "block";
    }
  },
  startEpisodeReal() {
    if (!document.getElementById("sync-task-cover")) throw new Error("started too early");
    document.getElementById("area").textContent = [...window.seeded, window.mode].join(" ");
    this.timer = setTimeout(() => this.endEpisode(-1, "timed out"), this.EPISODE_MAX_TIME);
    setTimeout(() => { WOB_TASK_READY = true; }, 30);
  },
  endEpisode(raw, reason) {
    if (WOB_DONE_GLOBAL) return;
    [WOB_RAW_REWARD_GLOBAL, WOB_REWARD_GLOBAL] = [raw, raw / 2];
    [WOB_DONE_GLOBAL, WOB_REWARD_REASON] = [true, reason];
    this.startEpisode();
  },
};
window.onload = () => core.startEpisode();
</script>
<p id="area"></p>
<button onclick="core.endEpisode(1, 'well done')">Win</button>
<button onclick="core.endEpisode(-1)">Lose</button>
<a href="#here">Here</a>
"""
ASKED = '"Press Win."'


async def begin(
    drive: Drive, mode: str | None = None, *, utterance: str = ASKED, ready: str = "true"
) -> MiniwobProtocol:
    page = PAGE % {"utterance": utterance, "ready": ready}
    await drive.session.open([drive.site.page(page)])
    start = MiniWobStart.model_validate({"page": "small", "seed": 7, "mode": mode})
    episode = MiniwobProtocol(start, "Do what the page asks for.")
    assert episode.page_end is None
    await episode.start(drive.session)
    await drive.rest()
    await drive.see()
    return episode


def told(episode: MiniwobProtocol) -> MiniWobRecord:
    assert episode.record is not None
    return episode.record


async def press(drive: Drive, name: str) -> None:
    await drive.do(Click(element=drive.id("button", name)))


async def test_a_page_is_started_from_a_number_and_tells_what_it_asks(drive: Drive) -> None:
    episode = await begin(drive, "test", ready="false")
    assert episode.intent == "Press Win."
    assert await drive.text("#area") == "number 7 test"
    await episode.look()
    assert episode.page_end is None


async def test_rewards_clock_and_start_are_hidden_from_the_agent_and_still_there(
    drive: Drive,
) -> None:
    await begin(drive)
    assert "part " not in drive.seen.text
    await press(drive, "Win")
    assert "part " not in drive.seen.text
    assert await drive.session.read_own("#sync-task-cover", "id") != ()


async def test_the_parts_of_a_problem_are_kept_from_the_agent_but_in_the_record(
    drive: Drive,
) -> None:
    asked = '({utterance: "Press it.", fields: {what: "Win"}})'
    episode = await begin(drive, utterance=asked)
    assert (told(episode).utterance, told(episode).fields) == ("Press it.", '{"what": "Win"}')


async def test_the_first_end_counts(drive: Drive) -> None:
    episode = await begin(drive)
    await press(drive, "Win")
    await press(drive, "Lose")
    await episode.look()
    record = told(episode)
    assert (record.raw, record.reward, record.reason) == (1.0, 0.5, "well done")
    assert episode.page_end is not None
    assert episode.page_end.ended is Ended.PAGE_ENDED
    why = "the page ended the episode with a raw reward of 1: well done"
    assert episode.page_end.because == why


async def test_the_pages_own_clock_does_not_end_an_episode(drive: Drive) -> None:
    """More than 2**31 ms would: a browser's timer overflows and rings at once."""
    episode = await begin(drive)
    await press(drive, "Win")
    await episode.look()
    assert told(episode).reason != "timed out"


async def test_a_page_that_is_loaded_again_is_not_the_one_that_was_started(drive: Drive) -> None:
    episode = await begin(drive)
    await drive.do(Goto(url=drive.site.base + "/"))
    await press(drive, "Win")
    await episode.look()
    assert episode.page_end is not None
    assert episode.page_end.ended is Ended.PAGE_LEFT
    assert told(episode).was_left
    assert await episode.reward() is None


async def test_a_page_that_was_left_does_not_count_when_one_goes_back_to_it(drive: Drive) -> None:
    episode = await begin(drive)
    drive.site.page("<title>Other</title>", "/other")
    await drive.do(Goto(url=drive.site.base + "/other"))
    await drive.do(Back())
    await press(drive, "Win")
    await episode.look()
    assert told(episode).was_left


async def test_another_tab_with_the_same_page_neither_helps_nor_harms(drive: Drive) -> None:
    episode = await begin(drive)
    await drive.do(NewTab(url=drive.site.base + "/"))
    await press(drive, "Win")
    await episode.look()
    assert episode.page_end is None


async def test_a_jump_inside_the_page_leaves_it_not(drive: Drive) -> None:
    episode = await begin(drive)
    await drive.do(Click(element=drive.id("link", "Here")))
    await press(drive, "Win")
    await episode.look()
    assert told(episode).raw == 1.0


@pytest.mark.parametrize(
    "url", ["javascript:core.endEpisode(1)", "JavaScript:core.endEpisode(1)", "data:text/html,x"]
)
async def test_an_address_runs_no_script_on_the_page(drive: Drive, url: str) -> None:
    episode = await begin(drive)
    for action in (Goto(url=url), NewTab(url=url)):
        assert "is not a web address" in (await drive.do(action) or "")
    await episode.look()
    assert episode.page_end is None


async def test_a_page_that_cannot_start_is_a_fault_not_a_failure(drive: Drive) -> None:
    await drive.session.open([drive.site.page("<title>Nothing of the kind</title>")])
    with pytest.raises(BrowserError):
        await MiniwobProtocol(MiniWobStart(page="small", seed=1), "").start(drive.session)
