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
    # Of the three problems the one with ties and repeated rows; the command tries all.
    _, lattice, _ = problems(estimator)
    (model,) = models(estimator, all_variants=False)
    assert difference(relation, model, lattice) <= relation.tolerance
