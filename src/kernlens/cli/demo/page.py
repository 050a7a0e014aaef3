"""The last part of the demonstration: a CSV file, and `fit` on it."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable
from pathlib import Path

from sklearn.datasets import load_diabetes

from kernlens.cli import fit
from kernlens.cli._csv import write_csv
from kernlens.cli._output import writing_to
from kernlens.cli._talk import Talk

#: Seconds of the fit.
SECONDS = 20.0
#: What the columns of scikit-learn's data stand for.
NAMES = {
    "age": "age",
    "sex": "sex",
    "bmi": "body mass index",
    "bp": "blood pressure",
    "s1": "total cholesterol",
    "s2": "low-density lipoproteins",
    "s3": "high-density lipoproteins",
    "s4": "cholesterol ratio",
    "s5": "log triglycerides",
    "s6": "blood sugar",
}
TARGET = "progression"


def fit_patients(folder: Path, seed: int, say: Callable[[str], None], quiet: bool) -> fit.Done:
    """Write the patients to a CSV file, and a page about them."""
    path = folder / "patients.csv"
    data = load_diabetes(scaled=False)
    columns = {
        NAMES[name]: values for name, values in zip(data.feature_names, data.data.T, strict=True)
    }
    with writing_to(folder):
        write_csv(path, {**columns, TARGET: data.target})
    words = ["fit", str(path), "--target", TARGET, "--time-budget", f"{SECONDS:g}"]
    words += ["--out", str(folder / "patients"), "--seed", str(seed), "--force"]
    say(f"\n3. From a CSV file to a page\n\n    {shlex.join(['kernlens', *words])}")
    parser = argparse.ArgumentParser()
    fit.add_parser(parser.add_subparsers())
    arguments = parser.parse_args(words)
    arguments.words, arguments.quiet = words, quiet
    return fit.fit(arguments, Talk(quiet=True))
