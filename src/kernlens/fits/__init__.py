"""Coefficients when the kernel or the features are fixed, and how they are tuned."""
