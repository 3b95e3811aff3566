"""Recall: from a question to the few drawers that answer it.

understand ──> candidates ──> fuse ──> score ──> fold ──> present
query.py       keywords.py    fuse.py  score.py  fold.py  present.py
               vectors.py
               search.py runs the stages
"""
