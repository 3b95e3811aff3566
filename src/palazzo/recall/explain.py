"""Why a hit is where it is: what each stage found of it, in the stages' order."""

from __future__ import annotations

from palazzo.recall.present import Reason
from palazzo.recall.rank import Ranked, Signals


def reasons(one: Ranked, ceiling: float) -> tuple[Reason, ...]:
    """Return the values that are not nothing: the cosine, the BM25 and its `ceiling`, each signal with its weight.

    Last comes the sum of the weighted signals, by which hits are ordered.
    """
    candidate = one.candidate
    found = []
    if candidate.cosine is not None:
        found.append(Reason("vector", candidate.cosine))
    if candidate.bm25 is not None:
        found.append(Reason("bm25", candidate.bm25, most=ceiling))
    for name, value, weight in zip(Signals._fields, one.signals, one.weights, strict=True):
        if value and weight:
            found.append(Reason(f"{name} signal" if name == "vector" else name, value, weight=weight))
    return (*found, Reason("rank", one.rank))
