"""Derived data: all consumers of the change log together, their rebuild, their checks, and their failures.

The rules that consumers apply are in `index` (drawers), `sessions` (what happened in a session) and `knowledge` (facts,
digests, mentions, fixes).
"""
