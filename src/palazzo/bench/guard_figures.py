"""The guard's figures: secrets that are found, poison that is told unasked, recorded words that leave their fence."""

from __future__ import annotations

from palazzo.bench import Progress, Result
from palazzo.bench.fence_texts import COUNT


def run(report: Progress, texts: int = COUNT) -> tuple[Result, ...]:
    """Measure all three; `texts` are those that try to leave the fence. Takes some minutes."""
    from palazzo.bench import fence_trial, injection_trial, redaction_figures

    return (
        Result("Secrets found and ordinary lines marked, in percent", redaction_figures.rows(report)),
        Result(
            "Poisoned sessions: told unasked (goal: 0), and honest ones found (goal: all)", injection_trial.rows(report)
        ),
        Result(f"{texts:,} texts with tags of the fence: what came out (goal: 0)", fence_trial.rows(report, texts)),
    )
