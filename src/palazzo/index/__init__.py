"""Recall: from a question to the few drawers that answer it.

understand ──> candidates ──> fuse ──> look around, rank ──> score ──> fold, cut ──> widen
query.py       keywords.py    fuse.py  around.py, rank.py    score.py  present.py    window.py
               vectors.py
               search.py runs the stages; explain.py says what each found
"""
