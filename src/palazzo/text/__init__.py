"""Rules about text, as pure functions: times, words, tokens, sections, pieces, similarity.

Nothing here reads a file, opens a palace or knows where a text came from. Positions in a text are code points,
half-open.
"""
