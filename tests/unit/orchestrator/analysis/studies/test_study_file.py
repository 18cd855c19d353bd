"""A study's file is read whole, or refused in one line that says where."""

from pathlib import Path

import jsonschema
import pytest
import yaml

from arena_core.errors import InputError
from arena_core.worlds import World
from orchestrator.analysis.stats.results import Compared
from orchestrator.analysis.studies.study_file import StudyFile, parse_study_file
from orchestrator.authoring.schemas.documents import make_schema
from orchestrator.authoring.schemas.kinds import SchemaKind

WHOLE = """\
name: planted
agents:
  steady: {agent: oracle}
  shaky: {agent: oracle, options: {error_rate: 0.25, seed: 7}}
worlds: [offline, online]
staged: true
suites:
  - {suite: demo, sites: [shop]}
  - {suite: mine/more.yaml}
repeats: 5
questions:
  - {id: better, kind: difference, of: agents, first: steady, second: shaky}
  - id: carries-over
    kind: equivalence
    of: worlds
    first: offline
    second: online
    within: {agent: steady, suite: more}
    margin: 0.05
"""


def read(text: str) -> StudyFile:
    return parse_study_file(text, Path("study.yaml"))


def refused(text: str) -> str:
    with pytest.raises(InputError) as caught:
        read(text)
    assert "\n" not in caught.value.message
    return caught.value.message


def test_a_study_is_agents_worlds_suites_repeats_and_questions() -> None:
    study = read(WHOLE)
    assert list(study.agents) == ["steady", "shaky"]
    assert study.worlds == (World.OFFLINE, World.ONLINE)
    assert study.suite_labels == ("demo", "more")
    assert [one.of for one in study.questions] == [Compared.AGENTS, Compared.WORLDS]
    assert study.alpha == 0.05


def with_arms(lines: str, text: str = WHOLE) -> str:
    return text.replace("questions:", f"variations:\n{lines}\nquestions:", 1)


def test_a_study_names_its_arms_and_plays_them_offline() -> None:
    study = read(with_arms("  dark: [look=dark]\n  slow: [network=slow@800, page=notice]"))
    assert study.in_arm("") == ((), (World.OFFLINE, World.ONLINE))
    slow = ("network=slow@800,seed=0,v1", "page=notice@1,v1")
    assert study.in_arm("slow") == (slow, (World.OFFLINE,))


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ("  dark: [look=drak]", "did you mean 'look=dark'?"),
        ("  dark: [look=dark, look=large]", "exclude each other"),
        ("  dark: []", "variations.dark: varies nothing"),
        ("  clean: [look=dark]", "variations.clean: is what the arm without any variation"),
        ("  Dark: [look=dark]", "variations.Dark"),
        (
            "  one: [look=dark, page=notice]\n  two: [page=notice@1, look=dark]",
            "variations.two: is the same arm as `one`",
        ),
    ],
)
def test_an_arm_that_makes_no_sense_is_refused(lines: str, says: str) -> None:
    assert says in refused(with_arms(lines))


def test_arms_are_named_and_never_of_live_sites() -> None:
    live = WHOLE.partition("questions:")[0].replace("[offline, online]", "[online]")
    varied = f"{live}variations: {{dark: [look=dark]}}\n"
    assert "arms are played offline, and the study is not" in refused(varied)
    offline = live.replace("[online]\nstaged: true", "[offline]")
    assert "a study names its arms: `variations:" in refused(f"{offline}vary: [look=dark]\n")


def test_a_study_has_no_canary_of_its_own() -> None:
    assert "arena canary" in refused(f"{WHOLE.partition('questions:')[0]}canary: true\n")


OF_ARMS = "  - {id: q, kind: difference, of: arms, first: dark, second: clean}"
IN_ARM = (
    "  - {id: q, kind: difference, of: agents, first: steady, second: shaky, within: {arm: dark}}"
)

TURNED = "  - {id: q, kind: non_inferiority, of: arms, first: clean, second: dark, margin: 0.1}"


def asking(line: str, arms: str = "  dark: [look=dark]\n  large: [look=large]") -> str:
    return f"{with_arms(arms) if arms else WHOLE}{line}\n"


def test_a_question_may_compare_arms_or_agents_in_one_and_is_then_of_the_offline_world() -> None:
    margin = OF_ARMS.replace("difference", "non_inferiority").replace(
        "clean}", "clean, margin: 0.05}"
    )
    for line in (OF_ARMS, IN_ARM, margin, OF_ARMS.replace("clean", "large")):
        asked = read(asking(line)).questions[-1].asked(registered=True)
        assert (asked.world, asked.margin) == (World.OFFLINE, 0.05 if line is margin else None)
    assert read(asking(IN_ARM)).questions[-1].asked(registered=True).arm == "dark"
    assert read(asking(OF_ARMS)).questions[-1].asked(registered=True).of is Compared.ARMS
    assert read(WHOLE).questions[0].asked(registered=True).arm is None


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (
            OF_ARMS.replace("dark", "drak"),
            "questions.2.first: the study has no 'drak'; did you mean 'dark'?",
        ),
        (
            OF_ARMS.replace("clean", "claen"),
            "questions.2.second: the study has no 'claen'; did you mean 'clean'?",
        ),
        (
            IN_ARM.replace("dark", "drak"),
            "questions.2.within.arm: the study has no 'drak'; did you mean 'dark'?",
        ),
        (
            IN_ARM.replace("dark", "clean"),
            "within.arm: omit it: a question that names no arm is of the clean one",
        ),
        (OF_ARMS.replace("clean}", "dark}"), "must differ from `first`"),
        (
            OF_ARMS.replace("clean}", "clean, within: {arm: large}}"),
            "has no effect where arms are compared",
        ),
        (
            OF_ARMS.replace("clean}", "clean, within: {world: online}}"),
            "within.world: must be offline",
        ),
        (IN_ARM.replace("{arm", "{world: online, arm"), "within.world: must be offline"),
        (
            IN_ARM.replace("agents", "worlds")
            .replace("steady", "offline")
            .replace("shaky", "online"),
            "arms are played offline: no worlds can be compared in one",
        ),
        (
            TURNED,
            "hardly worse than `dark`: name `dark` first, and clean second",
        ),
    ],
)
def test_a_question_of_arms_that_makes_no_sense_is_refused(line: str, says: str) -> None:
    assert says in refused(asking(line))


def test_the_questions_of_the_page_on_arms_are_read() -> None:
    page = (Path(__file__).parents[5] / "docs" / "vary-the-world.md").read_text(encoding="utf-8")
    blocks = [one.partition("```")[0] for one in page.split("```yaml\n")[1:]]
    variations, asked = (
        next(one for one in blocks if one.startswith(first))
        for first in ("variations", "questions")
    )
    study = read(WHOLE.partition("questions:")[0] + variations + asked)
    assert [one.id for one in study.questions] == ["cost", "robust", "in-dark"]
    assert all(one.is_about_arms for one in study.questions)


def test_without_arms_there_is_no_question_of_one() -> None:
    for line in (OF_ARMS, IN_ARM):
        assert "the study has no arms: name them in `variations`" in refused(asking(line, arms=""))


def test_seeds_of_pages_choose_them_as_after_the_suites_name() -> None:
    study = read(WHOLE.replace("suite: mine/more.yaml", "suite: miniwob, name: more, seeds: 1-3"))
    assert study.suites[1].source == "miniwob@1-3"


def test_seeds_that_are_no_text_are_refused_with_the_form_to_write() -> None:
    said = refused(WHOLE.replace("suite: mine/more.yaml", "suite: miniwob, seeds: [1, 2]"))
    assert "seeds: must be text, such as `1-10`" in said


@pytest.mark.parametrize(
    ("was", "becomes", "says"),
    [
        ("name: planted", "name: [", "not valid"),
        ("repeats: 5", "repeats: 0", "study.yaml:10: repeats: must be at least 1"),
        ("shaky: {agent", "steady: {agent", "study.yaml:4: steady: stands twice"),
        ("second: shaky}", "second: absent}", "12: questions.0.second: the study has no 'absent'"),
        ("    margin: 0.05\n", "", "13: questions.1: a `margin` is needed for equivalence"),
        ("second: shaky}", "second: shaky, margin: 0.1}", "has no effect on a difference"),
        ("margin: 0.05", "margin: 5", "questions.1.margin: must be less than 1"),
        ("id: carries-over", "id: better", "13: questions.1: a second question is called 'better'"),
        ("mine/more.yaml", "demo", "9: suites.1: a second suite is called 'demo'"),
        ("{agent: oracle}", "{}", "3: agents.steady: needs `agent` or `command`"),
        ("first: steady", "first: shaky", "questions.0.second: must differ from `first`"),
        ("within: {agent: steady", "within: {agent: nobody", "within.agent: the study has no"),
        ("of: worlds", "of: agents", "within.agent: has no effect where agents are compared"),
        ("[offline, online]", "[offline]", "the study has no 'online'; did you mean"),
        ("[offline, online]", "[offline, offline]", "must name no world twice"),
        ("name: planted", "name: planted\nrepeat: 3", "repeat: unknown field"),
    ],
)
def test_a_mistake_is_refused_in_one_line_with_its_place(was: str, becomes: str, says: str) -> None:
    assert was in WHOLE
    assert says in refused(WHOLE.replace(was, becomes, 1))


def test_editors_know_a_studys_fields() -> None:
    schema = jsonschema.Draft202012Validator(make_schema(SchemaKind.STUDY))
    for text in (WHOLE, asking(OF_ARMS), asking(IN_ARM)):
        assert list(schema.iter_errors(yaml.safe_load(text))) == []
    assert list(schema.iter_errors({"name": "x"}))


def test_a_share_is_asked_for_on_the_command_line() -> None:
    assert "arena study run --shard I/N" in refused(
        f"{WHOLE.partition('questions:')[0]}shard: 1/2\n"
    )
