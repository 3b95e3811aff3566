"""Benchmarks of search: what they read, how they measure, what they ask."""
