"""Minimisers: the kernel fit for fixed particles, and proximal steps on the particles."""
