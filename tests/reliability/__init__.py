"""Reliability: what benchmarks/README.md promises of it, tried on real files and real processes.

PYTHONPATH=src pytest -m slow tests/reliability                          CI size: a twentieth
PALAZZO_RELIABILITY=1 PYTHONPATH=src pytest -m slow tests/reliability    the figures of the table
PALAZZO_RELIABILITY=5 … -k kill                                          10,000 kills, by hand per release
PALAZZO_SEED=7 …                                                         the same chances again
"""
