"""All experiments, by name."""

from __future__ import annotations

from kernlens.experiments.bkernn import EXPERIMENTS as BKERNN
from kernlens.experiments.contract import Experiment
from kernlens.experiments.hkrr import EXPERIMENTS as HKRR
from kernlens.experiments.regfeal import EXPERIMENTS as REGFEAL

EXPERIMENTS: dict[str, Experiment] = {one.name: one for one in (*BKERNN, *REGFEAL, *HKRR)}
