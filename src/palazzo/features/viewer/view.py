"""Terminal output of the viewer's command."""

from __future__ import annotations

from palazzo.features.screen import Screen
from palazzo.features.viewer.contract import ViewResult
from palazzo.text.count_phrases import count_noun


def show_link(screen: Screen, result: ViewResult) -> None:
    """Show the link, or what was exported."""
    if result.files:
        screen.say(f"Exported {count_noun(len(result.files), 'file')}; open {result.files[-1]}.")
        if result.redacted:
            screen.say(
                f"{count_noun(result.redacted, 'secret')} redacted that the palace still has: 'palazzo doctor "
                "--secrets' lists them."
            )
        return
    if result.notice:
        screen.say(result.notice)
    screen.say("The viewer opens in your browser." if result.browser else "Open this link in a browser:")
    if result.browser:
        screen.say("If it does not, open this link:")
    screen.exact(f"{result.link}\n")
    screen.say("The link can be used once, within five minutes. The pages are served while one of them is open.")
