"""Benchmarks that a user can run on their own machine and data: `palazzo bench NAME`.

A data set becomes `cases`; these are filed through the real mining path into a scratch palace and asked through the
real search operation; `measures` compares what came back with what should have.
"""
