"""What must change nothing changes nothing, for every estimator; see `relations.py`."""

from __future__ import annotations

import pytest

from families import PUBLIC
from relations import RELATIONS, difference, models, problems


@pytest.mark.parametrize("estimator", PUBLIC)
@pytest.mark.parametrize("relation", RELATIONS, ids=lambda relation: relation.name)
def test_relation(relation, estimator):
    if not relation.applies(estimator):
        return
    for problem in problems(estimator):
        for model in models(estimator, all_variants=False):
            assert difference(relation, model, problem) <= relation.tolerance
