"""Palazzo: a persistent memory for coding agents, on the developer's own machine."""

__version__ = "0.1.0.dev0"
