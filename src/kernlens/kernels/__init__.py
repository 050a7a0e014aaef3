"""Kernels, as values and derivatives; nothing here knows about losses or solvers."""
