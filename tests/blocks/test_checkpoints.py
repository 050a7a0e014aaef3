"""A fit that was killed goes on where it was, and ends in the same model, to the last bit."""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

import kernlens
from kernlens import (
    MAVE,
    PHD,
    SAVE,
    SIR,
    HKRRRegressor,
    RandomKitchenSinksClassifier,
    RowBlocks,
)
from kernlens.blocks import as_blocks
from kernlens.blocks.local import LocalTable
from kernlens.blocks.moments import Moments
from kernlens.blocks.plain_pickle import NotPlain, dumped, loaded

#: Kills itself when so many blocks were read, if ever; else says how many were, and the result.
SCRIPT = """
import os, signal, sys
import numpy as np
import kernlens
from kernlens import PHD, SAVE, SIR, RowBlocks
from kernlens.blocks import as_blocks

method, folder, deadly = sys.argv[1], sys.argv[2], int(sys.argv[3])
rng = np.random.default_rng(0)
X = rng.standard_normal((600, 4)) + 7.0
y = X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.standard_normal(600)
n_read = 0

def parts():
    global n_read
    for rows in np.array_split(np.arange(600), 11):
        n_read += 1
        if n_read == deadly:
            os.kill(os.getpid(), signal.SIGKILL)
        yield X[rows], y[rows]

def steepest(block, coef):
    rest = block.y - block.X @ coef
    return block.X.T @ rest, np.sum(rest**2)

def descent(table):
    coef = np.zeros(4)
    for _ in range(12):
        slope, _ = table.sum(steepest, coef)
        coef = coef + slope / 60000.0
    return coef

blocks = RowBlocks.from_iterable(parts)
n_read = 0
with kernlens.checkpoint(folder):
    if method == "descent":
        coef = descent(as_blocks(blocks))
    else:
        estimator = getattr(kernlens, method)
        estimator._sample_rows = 100
        coef = estimator(n_directions=2, random_state=0).fit(blocks).components_
print(n_read)
print(coef.tobytes().hex())
"""


def run(method, folder, deadly=0):
    """Return code, blocks that were read, and the result."""
    command = [sys.executable, "-c", SCRIPT, method, str(folder), str(deadly)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode:
        return done.returncode, 0, done.stderr
    n_read, result = done.stdout.split()
    return 0, int(n_read), result


# Of 11 blocks in every pass, and the first pass reads them for their hash. The last number is how
# many passes were completed, those of all runs together.
@pytest.mark.parametrize(
    ("method", "moments", "n_passes"),
    [("SIR", (14, 28), 1), ("PHD", (30, 25), 2), ("descent", (23, 61), 5)],
)
def test_a_killed_fit_goes_on_to_the_same_bits(method, moments, n_passes, tmp_path):
    _, n_read, expected = run(method, tmp_path / "whole")
    folder = tmp_path / "killed"
    for deadly in moments:
        assert run(method, folder, deadly)[0] == -signal.SIGKILL
    assert len(list(folder.glob("pass-*"))) == n_passes
    code, n_read_in_the_end, result = run(method, folder)
    assert code == 0 and result == expected
    assert n_read_in_the_end == n_read - 11 * n_passes


def data(n=600, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4)) * np.logspace(-2, 2, 4) + 7.0
    return X, X[:, 0] * 100.0 + rng.standard_normal(n)


def blocks(X, y, weights=None, block_rows=77):
    return RowBlocks.from_arrays(X, y, weights, block_rows=block_rows, n_jobs=1)


def fitted(estimator, table, folder):
    with kernlens.checkpoint(folder):
        return estimator.fit(table)


@pytest.mark.parametrize("estimator", [SIR, SAVE, PHD, MAVE])
def test_the_model_is_that_without_a_checkpoint(monkeypatch, tmp_path, estimator):
    monkeypatch.setattr(estimator, "_sample_rows", 150)
    X, y = data()
    settings = {"n_directions": 2}
    if "random_state" in estimator().get_params():
        settings["random_state"] = 0
    model = fitted(estimator(**settings), blocks(X, y), tmp_path)
    plain = estimator(**settings).fit(blocks(X, y))
    again = fitted(estimator(**settings), blocks(X, y), tmp_path)
    np.testing.assert_allclose(model.components_, plain.components_, rtol=1e-10)
    np.testing.assert_array_equal(model.components_, again.components_)


@pytest.mark.parametrize(
    ("estimator", "settings"),
    [
        (RandomKitchenSinksClassifier, {"n_random_features": 30}),
        (HKRRRegressor, {"centers": 20, "refit": 30, "n_components": 2, "max_iter": 5}),
    ],
)
def test_every_pass_of_a_family_that_predicts_is_kept(monkeypatch, tmp_path, estimator, settings):
    monkeypatch.setattr(estimator, "_sample_rows", 150)
    X, y = data()
    if estimator is RandomKitchenSinksClassifier:
        y = np.where(y > y.mean(), "high", "low")
    model = estimator(**settings, n_directions=2, n_jobs=1, random_state=0)
    first = fitted(clone(model), blocks(X, y), tmp_path)
    monkeypatch.setattr(LocalTable, "_fold", None)
    again = fitted(clone(model), blocks(X, y), tmp_path)
    np.testing.assert_array_equal(first.predict(X), again.predict(X))
    np.testing.assert_array_equal(first.components_, again.components_)


def test_a_checkpoint_of_another_fit_is_refused_by_name(tmp_path):
    X, y = data()
    weights = np.ones(len(X))
    weights[5] = 2.0
    other = X.copy()
    other[599, 3] = np.nextafter(other[599, 3], 0.0)
    fitted(SIR(n_slices=5, random_state=0), blocks(X, y), tmp_path)
    # Threads do not matter.
    more = RowBlocks.from_arrays(X, y, block_rows=77, n_jobs=2)
    fitted(SIR(n_slices=5, random_state=0), more, tmp_path)
    five = SIR(n_slices=5, random_state=0)
    for estimator, table, words in [
        (SIR(n_slices=7, random_state=0), blocks(X, y), "n_slices=5, and this one has n_slices=7"),
        (SAVE(n_slices=5, random_state=0), blocks(X, y), "a fit of SIR, and this is one of SAVE"),
        (five, blocks(X[:-1], y[:-1]), "600 rows, and this one has 599"),
        (five, blocks(X, y, block_rows=100), "8 blocks, and this table has 6"),
        (five, blocks(X, y, block_rows=78), "same rows in other blocks"),
        (five, blocks(X, -y), "other rows"),
        (five, blocks(X, y, weights), "other rows"),
        (five, blocks(other, y), "other rows"),
    ]:
        with pytest.raises(ValueError, match=words):
            fitted(estimator, table, tmp_path)


def test_labels_are_part_of_the_rows(tmp_path):
    X, y = data()
    labels = np.where(y > y.mean(), "high", "low").astype(object)
    model = SIR(categorical=True, random_state=0)
    fitted(model, blocks(X, labels), tmp_path)
    labels[3] = "low" if labels[3] == "high" else "high"
    with pytest.raises(ValueError, match="other rows"):
        fitted(model, blocks(X, labels), tmp_path)


def test_a_folder_of_something_else_is_refused(tmp_path):
    (tmp_path / "fit.json").write_text("[]")
    with pytest.raises(ValueError, match="of something else"):
        fitted(SIR(random_state=0), blocks(*data()), tmp_path)


def test_a_fit_that_draws_anew_has_none(tmp_path):
    with pytest.raises(ValueError, match="a whole number as random_state of SIR"):
        fitted(SIR(), blocks(*data()), tmp_path)


def test_fits_in_memory_say_that_they_have_none(tmp_path):
    with (
        pytest.warns(UserWarning, match="fits of rows in memory have none"),
        kernlens.checkpoint(tmp_path),
    ):
        SIR().fit(*data())


@pytest.mark.parametrize("damage", [lambda content: b"", lambda content: content[:-1] + b"\0"])
def test_a_damaged_file_is_made_again(monkeypatch, tmp_path, damage):
    monkeypatch.setattr(SIR, "_sample_rows", 150)
    X, y = data()
    first = fitted(SIR(random_state=0), blocks(X, y), tmp_path)
    files = sorted(tmp_path.glob("pass-*"))
    assert len(files) >= 2
    for file in files:
        file.write_bytes(damage(file.read_bytes()))
    again = fitted(SIR(random_state=0), blocks(X, y), tmp_path)
    np.testing.assert_array_equal(first.components_, again.components_)


def test_a_pass_that_is_another_one_is_made_again(tmp_path):
    X, y = data()
    with kernlens.checkpoint(tmp_path):
        as_blocks(blocks(X, y)).sum(scaled, 2.0)
    with kernlens.checkpoint(tmp_path):
        (total,) = as_blocks(blocks(X, y)).sum(scaled, 3.0)
    np.testing.assert_allclose(total, 3.0 * X.sum(axis=0))


def scaled(block, factor):
    return (factor * block.X.sum(axis=0),)


def test_plain_results_come_back_as_they_were():
    moments = Moments.of(np.arange(6.0).reshape(3, 2), np.ones(3))
    value = (moments, [np.array(["a", None], dtype=object), np.float64(0.1), {"b": {1, 2}}])
    found = loaded(dumped(value))
    np.testing.assert_array_equal(found[0].mean, moments.mean)
    assert found[1][1] == 0.1 and found[1][2] == {"b": {1, 2}} and found[1][0][0] == "a"


class Trap:
    def __reduce__(self):
        return (Path.touch, (Path("trap"),))


@pytest.mark.parametrize("value", [Trap(), print, Path("x"), kernlens.load])
def test_nothing_but_plain_results_is_read(value, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NotPlain):
        loaded(pickle.dumps(value))
    assert not list(tmp_path.iterdir())
