"""Figures of the guard benchmark: secrets found, poison injected automatically, recorded text that escapes its
fence.
"""

from __future__ import annotations

from palazzo.bench import Progress, Result
from palazzo.bench.fence_texts import COUNT


def run(report: Progress, texts: int = COUNT) -> tuple[Result, ...]:
    """Measure all three; `texts` are those that try to escape the fence. Takes some minutes."""
    from palazzo.bench import fence_trial, injection_trial, redaction_figures

    return (
        Result("Secrets found and ordinary lines marked, in percent", redaction_figures.rows(report)),
        Result(
            "Poisoned sessions: injected automatically (goal: 0), and honest ones found (goal: all)",
            injection_trial.rows(report),
        ),
        Result(f"{texts:,} texts with fence tags: what escaped the fence (goal: 0)", fence_trial.rows(report, texts)),
    )
