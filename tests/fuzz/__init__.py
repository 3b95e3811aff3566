"""Fuzzing of what reads files and messages of others: one target for each parser, with a corpus."""
