from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from orchestrator.stats.multiplicity import holm


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_it_gives_what_statsmodels_gives(values: list[float]) -> None:
    assert list(holm(values)) == pytest.approx(list(multipletests(values, method="holm")[1]))


def test_a_question_without_a_p_value_still_counts_in_its_family() -> None:
    low, none, high = holm([0.01, None, 0.04])
    assert none is None
    assert [low, high] == pytest.approx([0.03, 0.08])
    assert holm([None]) == (None,)
    assert holm([]) == ()


def test_what_is_no_probability_is_refused() -> None:
    with pytest.raises(ValueError, match="not all are p-values"):
        holm([float("nan")])
