"""Hostile parameters and data for every public estimator, each case in a subprocess.

``python -m fuzz`` draws cases, runs them, and prints what is neither a model with finite results
nor a refusal in one sentence. It is a tool for developers and not part of the package.
"""
