"""scikit-learn's callbacks follow a fit: where its version has them, and only then."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import sklearn
from sklearn.base import clone, is_classifier
from sklearn.model_selection import GridSearchCV
from sklearn.utils.fixes import parse_version

from families import ESTIMATORS, decision, light
from kernlens import BKerNNClassifier, BKerNNRegressor, RegFeaLRegressor
from kernlens._result import Status
from kernlens.base import callbacks

HAS_CALLBACKS = parse_version(sklearn.__version__) >= parse_version("1.9")
every = pytest.mark.parametrize("estimator", ESTIMATORS)


def sample(estimator, n=40):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 3))
    y = np.abs(X[:, 0] + X[:, 1]) + 0.1 * rng.standard_normal(n)
    return X, ((y > 1).astype(int) if is_classifier(estimator()) else y)


def test_the_protocol_is_supported_where_there_is_one():
    assert hasattr(BKerNNRegressor(), "set_callbacks") == HAS_CALLBACKS


def test_without_the_protocol_nothing_is_missing():
    """As with scikit-learn before 1.9, which has no module of callbacks."""
    script = (
        "import sys; sys.modules['sklearn.callback'] = None\n"
        "import sklearn.base\n"
        "import kernlens, numpy as np\n"
        "X = np.random.default_rng(0).standard_normal((20, 2))\n"
        "model = kernlens.RandomKitchenSinksRegressor(n_directions=1).fit(X, X[:, 0])\n"
        "assert not hasattr(model, 'set_callbacks')\n"
    )
    blocked = (
        "from kernlens.base import callbacks; print(callbacks.CallbackSupportMixin.__module__)"
    )
    # What scikit-learn has imported itself stays; only our own import finds nothing.
    script = "import sklearn.linear_model, sklearn.pipeline, sklearn.model_selection\n" + script
    done = subprocess.run(
        [sys.executable, "-c", script + blocked], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "kernlens.base.callbacks"


class Follower:
    """A callback that keeps what it is told, and asks to stop at a given iteration."""

    def __init__(self, stop_at=None):
        self.calls = []
        self.models = []
        self.stop_at = stop_at

    def setup(self, estimator, context):
        self.calls.append("setup")

    def teardown(self, estimator, context):
        self.calls.append("teardown")

    def on_fit_task_begin(self, estimator, context, *, X=None, y=None):
        self.calls.append(("begin", context.task_name))
        assert X is not None or estimator.__class__ is GridSearchCV
        assert y is not None or estimator.__class__ is GridSearchCV

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, fitted_estimator=None):
        self.calls.append(("end", context.task_name))
        if fitted_estimator is not None and X is not None:
            fitted_estimator.score(X, y)
            self.models.append(fitted_estimator)
        return context.parent is not None and context.task_id == self.stop_at


@pytest.fixture(autouse=True)
def protocol():
    """These tests speak to the protocol; the two above say where it is."""
    assert callbacks.CallbackSupportMixin.__module__.startswith(
        "sklearn.callback" if HAS_CALLBACKS else "kernlens"
    )


@every
def test_a_callback_follows_a_fit_and_changes_nothing(estimator):
    X, y = sample(estimator)
    follower = Follower()
    model = light(estimator).set_callbacks(follower).fit(X, y)
    plain = light(estimator).fit(X, y)
    np.testing.assert_array_equal(decision(model, X), decision(plain, X))
    assert follower.calls[:2] == ["setup", ("begin", "fit")]
    assert follower.calls[-2:] == [("end", "fit"), "teardown"]
    begun = [call[1] for call in follower.calls[1:-1] if call[0] == "begin"]
    ended = [call[1] for call in follower.calls[1:-1] if call[0] == "end"]
    assert sorted(begun) == sorted(ended)
    assert "fitted" in ended
    np.testing.assert_array_equal(decision(follower.models[-1], X), decision(plain, X))
    # Nothing of the fit stays behind.
    assert set(vars(model)) - set(vars(plain)) == {"_skl_callbacks"}


def test_a_callback_can_stop_a_fit():
    X, y = sample(BKerNNRegressor)
    model = light(BKerNNRegressor).set_callbacks(Follower(stop_at=3)).fit(X, y)
    assert model.status_ == Status.STOPPED.value


def test_a_failing_callback_is_torn_down_and_leaves_the_old_model():
    class Failing(Follower):
        def on_fit_task_end(self, estimator, context):
            raise OSError("mine")

    X, y = sample(BKerNNRegressor)
    model = light(BKerNNRegressor).fit(X, y)
    before = decision(model, X)
    failing = Failing()
    with pytest.raises(OSError, match="mine"):
        model.set_callbacks(failing).fit(-X, y)
    assert failing.calls[-1] == "teardown"
    np.testing.assert_array_equal(decision(model, X), before)
    assert "_fit_tasks" not in vars(model)


@pytest.mark.parametrize("estimator", [BKerNNClassifier, RegFeaLRegressor])
def test_scores_along_the_iterations(estimator):
    from sklearn.callback import ScoringMonitor

    X, y = sample(estimator)
    monitor = ScoringMonitor(scoring="neg_log_loss" if is_classifier(estimator()) else "r2")
    weights = np.linspace(0.5, 1.5, len(X))
    model = light(estimator).set_callbacks(monitor).fit(X, y, sample_weight=weights)
    rows = monitor.get_logs().data
    name = "neg_log_loss" if is_classifier(estimator()) else "r2"
    assert len(rows) > 3
    assert all(np.isfinite(row[name]) for row in rows)
    assert {row["task_name"] for row in rows} >= {"fit", "fitted", "learning directions"}
    assert clone(model)._skl_callbacks == [monitor]


def test_a_search_hands_its_callbacks_down():
    class Everywhere(Follower):
        max_propagation_depth = None

    X, y = sample(BKerNNRegressor)
    follower = Everywhere()
    search = GridSearchCV(light(BKerNNRegressor), {"alpha": [0.02, 0.1]}, cv=2)
    search.set_callbacks(follower).fit(X, y)
    assert follower.calls.count(("end", "fitted")) == 5
