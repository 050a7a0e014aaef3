"""The experiments of the papers: settings, runs, tables, figures, published numbers and claims.

An experiment is a small file that lists its settings as data; `registry.py` lists the experiments,
`runner.py` runs their cells, and `results.py` writes what came of them.
"""
