"""What `--vary` takes, what it refuses, and what a lock keeps of it."""

from __future__ import annotations

import pytest

from arena_core.errors import UsageError
from orchestrator.gateway.variations import (
    Variation,
    arm_label,
    content_in,
    labels_in,
    variations_of,
)


@pytest.mark.parametrize(
    ("text", "canonical", "label"),
    [
        ("look=dark", "look=dark@v1", "look=dark"),
        (" LOOK=dark ", "look=dark@v1", "look=dark"),
        ("look=large", "look=large@150,v1", "look=large@150"),
        ("look=large@200", "look=large@200,v1", "look=large@200"),
        ("look=mobile", "look=mobile@v1", "look=mobile"),
        ("network=slow", "network=slow@400,seed=0,v1", "network=slow@400"),
        ("network=slow@800, seed=7", "network=slow@800,seed=7,v1", "network=slow@800,seed=7"),
        ("network=flaky", "network=flaky@10,seed=0,v1", "network=flaky@10"),
        ("network=flaky@50,seed=3", "network=flaky@50,seed=3,v1", "network=flaky@50,seed=3"),
        ("page=notice@3", "page=notice@3,v1", "page=notice@3"),
        ("content=long-names", "content=long-names@v1", "content=long-names"),
        ("page=wall", "page=wall@1,v1", "page=wall@1"),
        ("page=moved", "page=moved@seed=0,v1", "page=moved"),
        ("page=moved@seed=4", "page=moved@seed=4,v1", "page=moved@seed=4"),
        ("labels=german", "labels=german@v1", "labels=german"),
    ],
)
def test_a_variation_is_read_and_its_canonical_text_says_all_of_it(
    text: str, canonical: str, label: str
) -> None:
    read = Variation.parse(text)
    assert str(read) == canonical
    assert read.label == label
    assert Variation.parse(canonical) == read
    assert arm_label((canonical,)) == label


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "there is no such variation"),
        ("look", "there is no such variation"),
        ("content", "there is no such variation"),
        ("content=", "there is no such variation"),
        ("content=a b", "there is no such variation"),
        ("content=../x", "there is no such variation"),
        ("content=long@3", "takes no parameter, so 3 has no effect"),
        ("labels", "there is no such variation"),
        ("labels=a b", "there is no such variation"),
        ("labels=german@seed=3", "its seed has no effect"),
        ("page=moved@3", "takes no parameter, so 3 has no effect"),
        ("network=dead", "there is no such variation"),
        ("network=flaky@0", "0 is not from 1 to 100 (the share that is refused in percent)"),
        ("network=flaky@101", "101 is not from 1 to 100"),
        ("look=dark@3", "takes no parameter, so 3 has no effect"),
        ("look=mobile@390", "takes no parameter, so 390 has no effect"),
        ("look=dark@seed=3", "its seed has no effect"),
        ("look=large@1000", "1000 is not from 110 to 300 (the size in percent)"),
        ("page=notice@0", "0 is not from 1 to 1000"),
        ("page=notice@", "'' is no number"),
        ("page=notice@-1", "'-1' is no number"),
        ("page=notice@1,2", "'2' says a second time"),
        ("page=notice@9999999999999999999", "is no number"),
        ("network=slow@400,seed=1,seed=2", "'seed=2' says a second time"),
        ("look=dark@v2", "version 2 is not this Arena's, which has version 1"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(text: str, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        Variation.parse(text)
    assert says in caught.value.message
    assert "\n" not in caught.value.message


def test_a_slip_of_the_hand_is_told_what_it_meant() -> None:
    with pytest.raises(UsageError) as caught:
        Variation.parse("look=drak")
    assert caught.value.hint is not None
    assert caught.value.hint.startswith("did you mean 'look=dark'? ")


def test_two_values_of_one_name_exclude_each_other() -> None:
    assert len(variations_of(("look=dark", "page=notice", "network=slow"))) == 3
    for pair in (
        ("look=dark", "look=large"),
        ("page=wall", "page=notice@2"),
        ("page=moved", "page=notice"),
        ("labels=german", "labels=mine"),
        ("network=slow", "network=flaky"),
    ):
        with pytest.raises(UsageError, match="exclude each other"):
            variations_of(pair)


def test_two_contents_exclude_each_other_and_one_is_found() -> None:
    with pytest.raises(UsageError, match="exclude each other"):
        variations_of(("content=long", "content=short"))
    assert content_in(variations_of(("look=dark", "content=long"))) == "long"
    assert content_in(variations_of(("look=dark",))) is None


def test_a_content_and_a_table_of_labels_go_together_and_each_is_found() -> None:
    both = variations_of(("content=long", "labels=german"))
    assert (content_in(both), labels_in(both)) == ("long", "german")
    assert labels_in(variations_of(("content=german",))) is None
    assert content_in(variations_of(("labels=long",))) is None


def test_the_arm_of_another_version_has_a_label_of_its_own() -> None:
    assert arm_label(()) is None
    assert arm_label(("look=dark@v1", "page=notice@2,v1")) == "look=dark page=notice@2"
    assert arm_label(("look=dark@v2", "sound=off@v1")) == "look=dark@v2 sound=off"
