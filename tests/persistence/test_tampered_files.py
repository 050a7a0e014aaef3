"""A thousand changed files: each is refused in one sentence, or is the model that it was."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import kernlens
from families import light
from kernlens import AutoLensRegressor, BKerNNRegressor, KernelLaplacianClassifier
from kernlens.persistence.archive import SCHEMA, pack, unpack
from kernlens.persistence.schema import nodes
from persistence.tampered import KINDS, tampered_files

READER = Path(__file__).with_name("read_files.py")
X = np.random.default_rng(0).standard_normal((40, 4))
Y = X[:, 0] + np.abs(X[:, 1])
MODELS = {
    "regressor": lambda: light(BKerNNRegressor).fit(X, Y),
    "classifier": lambda: light(KernelLaplacianClassifier).fit(X, np.where(Y > 0.5, "b", "a")),
    "automatic": lambda: make_pipeline(
        StandardScaler(), AutoLensRegressor(time_budget=0.3, random_state=0)
    ).fit(X, Y),
}
#: Kinds whose every file is refused; a flipped bit may be one that nothing depends on.
ALWAYS = {kind.__name__ for kind in KINDS} - {"flips", "swapped_members", "broken_nodes"}


@pytest.mark.skipif(sys.platform != "linux", reason="limits and sizes are those of Linux")
@pytest.mark.parametrize("seed", range(3))
def test_five_hundred_changed_files(seed, tmp_path):
    name = list(MODELS)[seed]
    whole = tmp_path / "whole.skops"
    kernlens.save(MODELS[name](), whole)
    np.save(tmp_path / "rows.npy", X)
    n_files = 0
    for title, content in tampered_files(whole.read_bytes(), seed):
        (tmp_path / f"{title}.tampered").write_bytes(content)
        n_files += 1
    assert n_files == 500
    ran = subprocess.run(
        [sys.executable, str(READER), str(tmp_path)], capture_output=True, text=True, timeout=200
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    found = json.loads(ran.stdout)
    assert found["happened"] == []
    assert len(found["outcomes"]) == 500
    wrong = {k: v for k, v in found["outcomes"].items() if v not in ("refused", "equal")}
    assert wrong == {}
    counts = Counter((title.split()[0], how) for title, how in found["outcomes"].items())
    assert not [kind for kind, how in counts if how == "equal" and kind in ALWAYS]
    # The test would see a reader that refuses nothing, and one that refuses all.
    assert counts["flips", "refused"] > 100 and counts["flips", "equal"] > 0


def forge(path, old, new):
    members = unpack(path.read_bytes())
    assert old in members[SCHEMA]
    path.write_bytes(pack({**members, SCHEMA: members[SCHEMA].replace(old, new)}))


def test_attributes_under_the_name_of_another_class_are_refused(tmp_path):
    path = tmp_path / "model.skops"
    kernlens.save(MODELS["regressor"](), path)
    forge(path, b'"BKerNNRegressor"', b'"HKRRRegressor"')
    with pytest.raises(kernlens.ModelFileError, match="its parts are not those of a model"):
        kernlens.load(path)


def test_attributes_under_the_name_of_another_class_are_refused_where_nothing_uses_them(tmp_path):
    path = tmp_path / "model.skops"
    kernlens.save(AutoLensRegressor(time_budget=0.3, random_state=0).fit(X, Y), path)
    members = unpack(path.read_bytes())
    schema = json.loads(members[SCHEMA])
    for name in ("Row", "Leaderboard"):
        changed = copy.deepcopy(schema)
        node = next(node for node in nodes(changed) if node["__class__"] == name)
        node.update(__class__="LinearRegression", __module__="sklearn.linear_model._base")
        path.write_bytes(pack({**members, SCHEMA: json.dumps(changed).encode()}))
        with pytest.raises(kernlens.ModelFileError, match="its parts are not those of a model"):
            kernlens.load(path)


def test_a_forged_text_makes_another_model_at_most(tmp_path):
    """Who knows the format can write a file of any model, and of nothing else."""
    path = tmp_path / "model.skops"
    kernlens.save(light(BKerNNRegressor, alpha=0.0625).fit(X, Y), path)
    forge(path, b'"0.0625"', b'"0.125"')
    assert kernlens.load(path).alpha == 0.125


def test_a_forged_part_of_a_pipeline_is_still_looked_at(tmp_path):
    path = tmp_path / "model.skops"
    kernlens.save(make_pipeline(StandardScaler(), MODELS["regressor"]()), path)
    forge(path, b'"StandardScaler"', b'"FunctionTransformer2"')
    with pytest.raises(kernlens.ModelFileError, match=r"asks for .*FunctionTransformer2, which"):
        kernlens.load(path)
