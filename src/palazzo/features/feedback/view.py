"""Terminal output of feedback."""

from __future__ import annotations

from palazzo.features.feedback.contract import FeedbackResult
from palazzo.features.screen import Screen
from palazzo.text.count_phrases import count_noun


def feedback(screen: Screen, result: FeedbackResult) -> None:
    """Show how many drawers were judged."""
    verdict = "no longer judged" if result.verdict == "neutral" else f"judged {result.verdict}"
    screen.say((f"{count_noun(len(result.drawers), 'drawer')} {verdict}", "bold"))
