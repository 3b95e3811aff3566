"""Derived data and recall: consumers of the change log, and the way from a question to the drawers that answer it.

understand ──> candidates ──────> fuse ──> look around, rank ──────> score ──> fold, cut ──> widen
query          keyword_candidates fusion   neighbour_search, ranking score     presentation  hit_window
               vector_index
               search_pipeline runs the stages; explanation says what each found

`consumer` and `async_consumer` are the contracts of consumers. `cutter` makes drawers of items; `consumers` lists the
asynchronous ones.
"""
