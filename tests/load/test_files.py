"""Damaged, foreign and tampered model files: finite numbers or an ordinary exception, no crash."""

from __future__ import annotations

import io
import json
import os
import pickle
import resource
import signal
import traceback
import warnings
import zipfile

import numpy as np
import pytest
import skops.io
from sklearn.base import is_classifier

from families import PUBLIC, UNSUPERVISED, family_of, light
from kernlens import KernelLaplacianRegressor, RegFeaLRegressor, RKHSWeightingRegressor
from kernlens.base.saved import CHECK_SUMS, SavedMixin, check_sum

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")

N_FLIPS = 60
#: CPU seconds for a file: the limit is one second, and the machine may be slow.
LONGEST = 3.0
#: Address space that a file may add.
MOST_BYTES = 2**31
PNG = b"\x89PNG\r\n\x1a\n" + bytes(200)


def rows():
    return np.random.default_rng(1).standard_normal((30, 4))


def fitted(estimator, **options):
    X = np.random.default_rng(0).standard_normal((40, 4))
    y = X[:, 0] + np.abs(X[:, 1])
    model = estimator(random_state=0) if estimator in UNSUPERVISED else light(estimator, **options)
    return model.fit(X, (y > 0.5).astype(int) if is_classifier(model) else y)


def use(model):
    """Everything that a fitted model computes from rows."""
    X = rows()
    found = []
    for name in ("predict", "decision_function", "predict_proba", "transform", "gradient"):
        if hasattr(model, name):
            found.append(getattr(model, name)(X))
    return found


def load(content, trusted):
    return skops.io.loads(content, trusted=trusted)


def outcome(step):
    """Say how a step ends; what is not an exception ends the process."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            finite = all(np.isfinite(np.asarray(value, dtype=float)).all() for value in step())
    except Exception as error:
        return f"refused: {type(error).__name__}"
    return "finite" if finite else "not finite"


def work(steps, writing):
    """Write the outcome of every step, with little time and memory for each."""
    with open("/proc/self/statm") as sizes:
        used = int(sizes.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MOST_BYTES,) * 2)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    with open(writing, "w") as pipe:
        for name, step in steps:
            signal.setitimer(signal.ITIMER_PROF, LONGEST)
            pipe.write(name)
            pipe.flush()
            pipe.write(f"\t{outcome(step)}\n")


def in_a_child(steps):
    """Outcomes of some steps in a process that may crash."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            work(steps, writing)
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    os.close(writing)
    with open(reading) as pipe:
        lines = pipe.read().splitlines()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code == 0, f"exit code {code} at {lines[-1]}"
    return dict(line.split("\t") for line in lines)


def steps_of(contents, trusted):
    for name, content in contents.items():
        yield name, lambda content=content: use(load(content, trusted))


@pytest.mark.parametrize("estimator", PUBLIC)
def test_truncated_and_flipped_files(estimator):
    content = skops.io.dumps(fitted(estimator))
    trusted = skops.io.get_untrusted_types(data=content)
    cut = {f"{share:.2f}": content[: int(share * len(content))] for share in (0, 0.01, 0.5, 0.99)}
    rng = np.random.default_rng(0)
    flipped = {}
    for k in range(N_FLIPS):
        damaged = bytearray(content)
        damaged[rng.integers(len(content))] ^= 1 << int(rng.integers(8))
        flipped[f"flip {k}"] = bytes(damaged)
    found = in_a_child(steps_of({"whole": content, **cut, **flipped}, trusted))
    assert found["whole"] == "finite"
    assert all(found[name].startswith("refused") for name in cut)
    assert "not finite" not in found.values(), found


def zipped(files):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()


def test_foreign_files_are_refused():
    foreign = {
        "nothing": b"",
        "picture": PNG,
        "pickle": pickle.dumps({"a": 1}),
        "another zip": zipped({"hello.txt": b"hello"}),
        "no schema": zipped({"schema.json": b"{}"}),
        "a list": zipped({"schema.json": json.dumps([1, 2]).encode()}),
    }
    found = in_a_child(steps_of(foreign, []))
    assert all(text.startswith("refused") for text in found.values()), found


def files_of(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def npy(array):
    packed = io.BytesIO()
    np.save(packed, array)
    return packed.getvalue()


def test_another_array_in_a_file_is_refused():
    model = fitted(RegFeaLRegressor)
    content = skops.io.dumps(model)
    trusted = skops.io.get_untrusted_types(data=content)
    files = files_of(content)
    name = next(name for name in files if files[name] == npy(model.mean_))
    with pytest.raises(ValueError, match="The model is damaged: mean_ is not what was saved"):
        load(zipped({**files, name: npy(model.mean_[:2])}), trusted)


@pytest.mark.parametrize("estimator", PUBLIC)
def test_other_arrays_are_refused(estimator):
    state, rng, n_tried = fitted(estimator).__getstate__(), np.random.default_rng(0), 0
    for name, array in state.items():
        if not isinstance(array, np.ndarray) or array.size == 0:
            continue
        for _, other in tampered(array, rng):
            if check_sum(other) == check_sum(array):
                continue
            n_tried += 1
            with pytest.raises(ValueError, match=f"The model is damaged: {name} is not what was"):
                estimator.__new__(estimator).__setstate__({**state, name: other})
    assert n_tried > 50


class Holder(SavedMixin):
    """A model with arrays in lists and dictionaries, and with a list that holds itself."""

    def fit(self):
        self.maps_ = [np.eye(2), {"deep": (np.zeros(3), "text")}]
        self.maps_.append(self.maps_)
        return self


def test_arrays_inside_lists_and_dictionaries_have_check_sums():
    state = Holder().fit().__getstate__()
    assert sorted(state[CHECK_SUMS]) == ["maps_[0]", "maps_[1]['deep'][0]"]
    read = Holder()
    read.__setstate__(state)
    assert read.maps_ is state["maps_"]
    assert CHECK_SUMS not in vars(read)
    for other in ([np.ones((2, 2)), state["maps_"][1]], [np.eye(2)], [], None):
        with pytest.raises(ValueError, match=r"The model is damaged: maps_\[.*is not what was"):
            Holder().__setstate__({**state, "maps_": other})


def test_a_model_of_a_version_without_check_sums_is_read():
    model = fitted(RegFeaLRegressor)
    state = {name: value for name, value in model.__getstate__().items() if name != CHECK_SUMS}
    read = RegFeaLRegressor.__new__(RegFeaLRegressor)
    read.__setstate__(state)
    np.testing.assert_array_equal(read.predict(rows()), model.predict(rows()))
    assert CHECK_SUMS not in vars(model)
    assert CHECK_SUMS not in vars(pickle.loads(pickle.dumps(model)))


def header(shape):
    """Header of an array that claims a shape, and has no more than 80 bytes of data."""
    packed = io.BytesIO()
    described = {"descr": "<f8", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(packed, described)
    return packed.getvalue() + bytes(80)


@pytest.mark.parametrize("estimator", PUBLIC)
def test_arrays_that_claim_to_be_huge_are_refused(estimator):
    content = skops.io.dumps(fitted(estimator))
    trusted = skops.io.get_untrusted_types(data=content)
    files = files_of(content)
    arrays = [name for name in files if name.endswith(".npy")]
    assert arrays
    claimed = {
        f"{shape} in {name}": zipped({**files, name: header(shape)})
        for name in arrays[:6]
        for shape in ((10**15,), (10**9, 10**9), (10**9,), (-3, 4))
    }
    found = in_a_child(steps_of(claimed, trusted))
    assert all(text.startswith("refused") for text in found.values()), found


def tampered(array, rng):
    """Other arrays in the place of one: other shapes, kinds and values."""
    yield "empty", array[:0]
    yield "halved", array[: len(array) // 2]
    yield "doubled", np.concatenate([array, array])
    yield "transposed", np.ascontiguousarray(array.T)
    yield "flat", array.ravel()
    yield "one axis more", array[None]
    yield "a number", array.ravel()[:1].reshape(())
    yield "cut at its last axis", array[..., : array.shape[-1] // 2]
    yield "longer at its last axis", np.concatenate([array, array], axis=-1)
    yield "by columns", np.asfortranarray(array)
    yield "complex", array.astype(complex)
    yield "objects", array.astype(object)
    if array.dtype.kind == "f":
        for value in (np.nan, np.inf, -1e308, 5e-324):
            yield f"all {value}", np.full_like(array, value)
        yield "single precision", array.astype(np.float32)
        yield "integers", array.astype(np.int64)
    else:
        yield "negative", -array if array.dtype.kind == "i" else array
        yield "large", (array.astype(np.int64) + 10**9)
    for k in range(3):
        raw = bytearray(array.tobytes())
        for _ in range(8):
            raw[rng.integers(len(raw))] ^= 1 << int(rng.integers(8))
        yield f"flipped {k}", np.frombuffer(bytes(raw), dtype=array.dtype).reshape(array.shape)


def tampered_models(model, seed):
    rng = np.random.default_rng(seed)
    arrays = {
        name: value
        for name, value in vars(model).items()
        if isinstance(value, np.ndarray) and value.ndim and value.size
    }
    for name, array in arrays.items():
        for kind, other in tampered(array, rng):

            def step(name=name, other=other):
                vars(model)[name] = other
                try:
                    return use(model)
                finally:
                    vars(model)[name] = arrays[name]

            yield f"{name} {kind}", step


@pytest.mark.parametrize("estimator", PUBLIC)
def test_tampered_arrays_do_not_end_the_process(estimator):
    assert in_a_child(tampered_models(fitted(estimator), 0))


@pytest.mark.parametrize(
    "estimator", [RegFeaLRegressor, RKHSWeightingRegressor, KernelLaplacianRegressor]
)
def test_tampered_arrays_of_every_kind_of_function(estimator):
    for settings in family_of(estimator).settings(estimator):
        assert in_a_child(tampered_models(fitted(estimator, **settings), 0))
