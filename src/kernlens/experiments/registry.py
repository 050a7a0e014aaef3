"""All experiments, by name."""

from __future__ import annotations

from kernlens.experiments.bkernn import EXPERIMENTS as BKERNN
from kernlens.experiments.contract import Experiment
from kernlens.experiments.hkrr import EXPERIMENTS as HKRR
from kernlens.experiments.kernel_laplacian import EXPERIMENTS as KERNEL_LAPLACIAN
from kernlens.experiments.regfeal import EXPERIMENTS as REGFEAL
from kernlens.experiments.rkhs_weightings import EXPERIMENTS as RKHS_WEIGHTINGS

EXPERIMENTS: dict[str, Experiment] = {
    one.name: one for one in (*BKERNN, *RKHS_WEIGHTINGS, *KERNEL_LAPLACIAN, *REGFEAL, *HKRR)
}
