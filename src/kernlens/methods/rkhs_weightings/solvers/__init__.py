"""The ways to learn the coefficients of random features."""
