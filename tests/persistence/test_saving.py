"""Models saved and loaded: the same to the last bit, in small files, whole or not there."""

from __future__ import annotations

import errno
import os
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.base import is_classifier
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.ensemble import BaggingRegressor
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    PowerTransformer,
    StandardScaler,
)

import kernlens
from families import ESTIMATORS, PUBLIC, UNSUPERVISED, family_of, light
from kernlens import (
    AutoLensClassifier,
    AutoLensRegressor,
    HKRRRegressor,
    RFMRegressor,
    RKHSWeightingRegressor,
)
from kernlens.kernels import RadialKernel
from kernlens.model_selection.auto.transforms import LogTarget
from kernlens.persistence.archive import MANIFEST, SCHEMA, unpack

#: Bytes of a file that do not grow with the rows: text, names and headers of arrays.
FIXED_BYTES = 8000
NAMES = ("predict", "predict_proba", "decision_function", "transform", "gradient")


def sample(n=40, d=4):
    X = np.random.default_rng(0).standard_normal((n, d))
    return X, X[:, 0] + np.abs(X[:, 1])


def fitted(estimator, **options):
    X, y = sample()
    model = estimator(random_state=0) if estimator in UNSUPERVISED else light(estimator, **options)
    return model.fit(X, np.where(y > 0.5, "yes", "no") if is_classifier(model) else y)


def again(model, folder):
    path = folder / "model.skops"
    kernlens.save(model, path)
    return kernlens.load(path)


def check_same(loaded, model, X):
    assert type(loaded) is type(model)
    tried = [name for name in NAMES if hasattr(model, name)]
    assert tried
    for name in tried:
        one, other = getattr(loaded, name)(X), getattr(model, name)(X)
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("estimator", PUBLIC)
def test_every_estimator_is_the_same_to_the_last_bit(estimator, tmp_path):
    model = fitted(estimator)
    loaded = again(model, tmp_path)
    X = np.random.default_rng(1).standard_normal((30, 4))
    check_same(loaded, model, X)
    assert sorted(vars(loaded)) == sorted(vars(model))
    for name, value in vars(model).items():
        if isinstance(value, np.ndarray):
            assert getattr(loaded, name).tobytes() == value.tobytes() or value.dtype == object
    assert repr(loaded) == repr(model)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_objects_as_parameters(estimator, tmp_path):
    model = fitted(estimator, **family_of(estimator).objects)
    check_same(again(model, tmp_path), model, sample()[0])


def test_the_same_model_gives_the_same_file(tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    kernlens.save(fitted(RFMRegressor), one)
    kernlens.save(fitted(RFMRegressor), other)
    assert one.read_bytes() == other.read_bytes()


def scikit_learn_around():
    X, y = sample()
    model = light(RKHSWeightingRegressor)
    mixed = ColumnTransformer(
        [("n", StandardScaler(), slice(0, 3)), ("c", OneHotEncoder(sparse_output=False), [3])]
    )
    yield make_pipeline(StandardScaler(), model), X, y
    yield make_pipeline(light(kernlens.SIR), Ridge()), X, y
    yield TransformedTargetRegressor(model, transformer=StandardScaler()), X, y
    yield BaggingRegressor(model, n_estimators=2, random_state=0), X, y
    yield make_pipeline(mixed, model), np.column_stack([X[:, :3], X[:, 3] > 0.0]), y


@pytest.mark.parametrize("case", range(5))
def test_estimators_of_scikit_learn_around_ours(case, tmp_path):
    model, X, y = list(scikit_learn_around())[case]
    model.fit(X, y)
    loaded = again(model, tmp_path)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_names_of_columns_are_kept(tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y = sample()
    table = pandas.DataFrame(X, columns=["a", "b", "c", "d"])
    model = light(RKHSWeightingRegressor).fit(table, y)
    loaded = again(model, tmp_path)
    assert list(loaded.feature_names_in_) == ["a", "b", "c", "d"]
    np.testing.assert_array_equal(loaded.predict(table), model.predict(table))


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_file_is_hardly_larger_than_its_arrays(estimator, tmp_path):
    path = tmp_path / "model.skops"
    kernlens.save(fitted(estimator), path)
    arrays = sum(len(c) for name, c in unpack(path.read_bytes()).items() if name != SCHEMA)
    assert path.stat().st_size <= arrays + FIXED_BYTES


@pytest.mark.parametrize("estimator", [kernlens.BKerNNRegressor, RFMRegressor])
def test_a_file_is_at_most_twice_its_arrays(estimator, tmp_path):
    X, y = sample(400, 5)
    path = tmp_path / "model.skops"
    model = light(estimator).fit(X, y)
    kernlens.save(model, path)
    arrays = sum(value.nbytes for value in vars(model).values() if isinstance(value, np.ndarray))
    assert path.stat().st_size <= 2 * arrays


def table(n=150):
    """Numbers with gaps, words, and many words."""
    random = np.random.default_rng(0)
    numbers = random.standard_normal((n, 2))
    gapped = np.where(random.random(n) < 0.2, np.nan, numbers[:, 1])
    towns = random.choice(["Bern", "Basel"], n)
    many = random.choice([f"street {k}" for k in range(50)], n)
    days = pd.date_range("2020-01-01", periods=n).astype(str)
    columns = {"age": numbers[:, 0], "gaps": gapped, "town": towns, "street": many, "day": days}
    return pd.DataFrame(columns), np.exp(2.0 * numbers[:, 0] + (towns == "Bern"))


@pytest.mark.parametrize("estimator", [AutoLensRegressor, AutoLensClassifier])
@pytest.mark.parametrize("inside", [False, True])
def test_automatic_estimators_of_tables(estimator, inside, tmp_path):
    X, y = table()
    model = estimator(time_budget=0.5, random_state=0)
    model = make_pipeline(kernlens.TablePreprocessor(), model) if inside else model
    model.fit(X, np.where(y > 1.0, "yes", "no") if is_classifier(model) else y)
    loaded = again(model, tmp_path)
    check_same(loaded, model, X)
    inner, other = (one[-1] if inside else one for one in (loaded, model))
    assert inner.explanation_ == other.explanation_
    pd.testing.assert_frame_equal(inner.leaderboard_, other.leaderboard_)
    content = (tmp_path / "model.skops").read_bytes()
    arrays = sum(len(part) for name, part in unpack(content).items() if name != SCHEMA)
    # A leaderboard is text.
    assert len(content) <= arrays + 3 * FIXED_BYTES


def test_every_candidate_of_ours_can_be_saved(tmp_path):
    random = np.random.default_rng(0)
    X = random.standard_normal((60, 3))
    y = np.exp(X[:, 0])
    for transformer in (LogTarget(), PowerTransformer()):
        machine = TransformedTargetRegressor(light(RFMRegressor), transformer=transformer)
        check_same(again(machine.fit(X, y), tmp_path), machine, X)


def test_skops_reads_the_file_too(tmp_path):
    model, path = fitted(RFMRegressor), tmp_path / "model.skops"
    kernlens.save(model, path)
    check_same(skops.io.load(path, trusted=["kernlens.RFMRegressor"]), model, sample()[0])


# What is no part of such a file


class OwnKernel(RadialKernel):
    """A kernel of a user."""

    def profile(self, s):
        return np.exp(-s)

    def derivative(self, s):
        return -np.exp(-s)


@pytest.mark.parametrize(
    ("model", "held"),
    [
        (HKRRRegressor(kernel=OwnKernel()), "OwnKernel"),
        (RFMRegressor(callback=print), "builtins.print"),
        (RFMRegressor(random_state=np.random.RandomState(0)), "RandomState"),
        (make_pipeline(FunctionTransformer(np.log1p), RFMRegressor()), "log1p"),
    ],
)
def test_what_is_not_our_own_is_refused_in_one_sentence(model, held, tmp_path):
    path = tmp_path / "model.skops"
    with pytest.raises(ValueError, match=f"This model holds .*{held}.*: use skops.io.dump direct"):
        kernlens.save(model, path)
    assert list(tmp_path.iterdir()) == []


def test_something_else_than_a_model_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"kernlens.save takes an estimator, and got dict\."):
        kernlens.save({"a": 1}, tmp_path / "model.skops")


def test_a_model_that_holds_itself_is_refused(tmp_path):
    model = fitted(RFMRegressor)
    model.itself_ = [model]
    with pytest.raises(ValueError, match="holds itself"):
        kernlens.save(model, tmp_path / "model.skops")


def plain_skops(path):
    skops.io.dump(fitted(RFMRegressor), path)


def newer(path):
    kernlens.save(fitted(RFMRegressor), path)
    with zipfile.ZipFile(path) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    contents[MANIFEST] = contents[MANIFEST].replace(b'"format": 1', b'"format": 2')
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in contents.items():
            archive.writestr(name, content)


@pytest.mark.parametrize(
    ("write", "sentence"),
    [
        (lambda path: path.write_bytes(b""), "is not a model file of kernlens"),
        (lambda path: path.write_bytes(pickle.dumps([1])), "is not a model file of kernlens"),
        (plain_skops, "it has no kernlens.json"),
        (newer, "was written by a newer version"),
    ],
)
def test_foreign_and_newer_files(write, sentence, tmp_path):
    path = tmp_path / "model.skops"
    write(path)
    with pytest.raises(kernlens.ModelFileError, match=sentence) as caught:
        kernlens.load(path)
    assert str(path) in str(caught.value) and str(caught.value).endswith(".")


def test_no_file():
    with pytest.raises(FileNotFoundError):
        kernlens.load("no such file.skops")


# Whole or not there

OLD = b"what was here before"


@pytest.fixture
def earlier(tmp_path):
    path = tmp_path / "model.skops"
    path.write_bytes(OLD)
    return path


def check_untouched(path):
    assert [found.name for found in path.parent.iterdir()] == [path.name]
    assert path.read_bytes() == OLD


@pytest.mark.parametrize("fault", [OSError(errno.ENOSPC, "full"), KeyboardInterrupt()])
@pytest.mark.parametrize("step", ["write_bytes", "fsync", "replace"])
def test_a_failure_leaves_what_was_there(fault, step, earlier, monkeypatch):
    model = fitted(RFMRegressor)

    def fail(*arguments):
        if step == "write_bytes":
            with open(arguments[0], "wb") as file:
                file.write(arguments[1][:100])
        raise fault

    monkeypatch.setattr(Path if step == "write_bytes" else os, step, fail)
    with pytest.raises(type(fault)):
        kernlens.save(model, earlier)
    monkeypatch.undo()
    check_untouched(earlier)


def test_a_folder_of_that_name(tmp_path):
    (tmp_path / "model.skops").mkdir()
    with pytest.raises(IsADirectoryError):
        kernlens.save(fitted(RFMRegressor), tmp_path / "model.skops")
    assert [path.name for path in tmp_path.iterdir()] == ["model.skops"]


KILLED = """
import os, pathlib, signal, sys
import kernlens
write = pathlib.Path.write_bytes
def half(path, content):
    write(path, content[: len(content) // 2])
    os.kill(os.getpid(), signal.SIGKILL)
pathlib.Path.write_bytes = half
kernlens.save(kernlens.RFMRegressor(), sys.argv[1])
"""


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL is of POSIX systems")
def test_a_process_that_is_killed_leaves_what_was_there(earlier):
    ran = subprocess.run([sys.executable, "-c", KILLED, str(earlier)], capture_output=True)
    assert ran.returncode < 0
    assert earlier.read_bytes() == OLD
