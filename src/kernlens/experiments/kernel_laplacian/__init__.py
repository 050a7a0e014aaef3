"""The claims of the kernel Laplacian paper, which has no figures, as experiments."""

from kernlens.experiments.kernel_laplacian import graphs, moons, population, rates

EXPERIMENTS = tuple(module.EXPERIMENT for module in (rates, graphs, moons, population))
